"""The likeliest next word at each blank: what was read for it is what is said to have been read."""

import pytest

from explorer.analysis import fill_spans
from explorer.analysis.spans_from_left import next_words
from tests.analysis.tiny_models import gpt2

TEXT = "the cat ___ in the ___ and ___ home"


def test_the_choices_of_each_blank_were_read_behind_what_it_says_it_saw():
    model = gpt2()
    found = fill_spans(model, TEXT, count=4)
    assert found.saw[0] == "the cat" and len(found.saw) == 3
    for span, saw in zip(found.spans, found.saw, strict=True):
        (alone,) = next_words(model, [saw], [4])
        assert [choice.text for choice in span.choices] == [word.text for word in alone.words[:4]]
        likely = [word.log_probability for word in alone.words[:4]]
        assert [choice.log_probability for choice in span.choices] == pytest.approx(likely, abs=1e-4)


def test_a_blank_at_the_very_beginning_saw_nothing():
    assert fill_spans(gpt2(), "___ cat", count=2).saw == ("",)
