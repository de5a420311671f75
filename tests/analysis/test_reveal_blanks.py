import math
from functools import partial

import pytest

from explorer.analysis.blanks import UNDERSCORES
from explorer.analysis.fill_blanks import fill_blanks
from explorer.analysis.reveal_blanks import reveal_blanks
from explorer.errors import UnsuitableText

TEXT = "The ___ is (___) in ___, ___ly."


@pytest.mark.parametrize("strategy", ["left_to_right", "most_confident_first"])
def test_each_step_shows_what_is_expected_at_the_blanks_still_open(family, strategy):
    reveal = reveal_blanks(family, TEXT, strategy=strategy, top_k=3)
    assert sorted(step.filled_blank for step in reveal.steps) == [0, 1, 2, 3]
    filled = set()
    for step in reveal.steps:
        assert {index for index, blank in enumerate(step.blanks) if blank is None} == filled
        assert all(len(blank.choices) == 3 for blank in step.blanks if blank)
        assert len(UNDERSCORES.findall(step.text)) == 4 - len(filled)
        assert step.filled_blank not in filled
        filled.add(step.filled_blank)
    assert reveal.steps[0].text == TEXT
    assert not UNDERSCORES.search(reveal.completion.text)
    assert reveal.model == family.card.name
    assert reveal.text == TEXT
    assert reveal.strategy == strategy


def test_first_step_shows_the_marginals(bert):
    first = reveal_blanks(bert, TEXT).steps[0]
    for blank, other in zip(first.blanks, fill_blanks(bert, TEXT).blanks, strict=True):
        assert blank.token_index == other.token_index
        assert [choice.token_id for choice in blank.choices] == [choice.token_id for choice in other.choices]


def test_left_to_right_goes_from_left_to_right(family):
    reveal = reveal_blanks(family, TEXT, strategy="left_to_right")
    assert [step.filled_blank for step in reveal.steps] == [0, 1, 2, 3]


def test_most_confident_first_takes_the_most_probable_choice(bert):
    for step in reveal_blanks(bert, TEXT, top_k=50).steps:
        special = set(bert.tokenizer.all_special_ids)
        offers = [
            choice.probability
            for blank in step.blanks
            if blank
            for choice in blank.choices
            if choice.token_id not in special
        ]
        assert step.choice.probability == max(offers)
        assert step.choice in step.blanks[step.filled_blank].choices


def test_completion_is_what_was_chosen_and_its_score_the_chain_rule(family):
    reveal = reveal_blanks(family, TEXT)
    chosen = sorted(reveal.steps, key=lambda step: step.filled_blank)
    assert reveal.completion.fills == tuple(step.choice.text for step in chosen)
    expected = sum(math.log(step.choice.probability) for step in reveal.steps)
    assert reveal.completion.log_probability == pytest.approx(expected, abs=1e-4)


def test_each_fill_changes_what_is_expected_at_the_rest(bert):
    first, second, *_ = reveal_blanks(bert, TEXT, strategy="left_to_right", top_k=1).steps
    assert first.blanks[1].choices[0].probability != second.blanks[1].choices[0].probability


@pytest.mark.parametrize("strategy", ["joint", "independent", "backwards"])
def test_only_strategies_with_an_order_can_be_watched(bert, strategy):
    with pytest.raises(UnsuitableText, match="Choose one of: left_to_right, most_confident_first"):
        reveal_blanks(bert, TEXT, strategy=strategy)


def test_byte_pieces_are_told_from_words_while_watching(shipped_registry):
    reveal = shipped_registry.run("BERT mini", lambda model: reveal_blanks(model, "My grandmother ___ every ___."))
    for step in reveal.steps:
        shown = [choice.text for choice in step.blanks[1].choices] if step.blanks[1] else []
        assert len(set(shown)) == len(shown)
    first = {choice.token: choice.text for choice in reveal.steps[0].blanks[1].choices}
    assert first["day"] == "##day"


def test_where_a_text_begins_no_two_words_read_alike_while_watching(shipped_registry):
    ask = partial(reveal_blanks, text="___ lives in Warsaw.", top_k=10)
    [step] = shipped_registry.run("BERT mini", ask).steps
    shown = [choice.text for choice in step.blanks[0].choices]
    assert len(set(shown)) == len(shown) and "␣The" in shown and step.choice in step.blanks[0].choices
