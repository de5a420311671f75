"""Spans of any length that a masked model fills, with one to five masks in the place of a blank."""

from functools import partial

import pytest

from explorer.analysis import fill_spans, rank_candidates
from explorer.analysis.spans_by_masks import MOST_MASKS
from tests.analysis.tiny_models import word_piece


def test_a_masked_model_is_given_one_to_five_masks(bert):
    found = fill_spans(bert, "the ___ is on the ___ .", count=6)
    lengths = {choice.length_tokens for span in found.spans for choice in span.choices}
    assert lengths <= set(range(1, MOST_MASKS + 1))
    for span in found.spans:
        scores = [choice.log_probability for choice in span.choices]
        assert scores == sorted(scores, reverse=True)
    assert found.saw[0].count("[MASK]") == sum(span.choices[0].length_tokens for span in found.spans)


def test_a_masked_model_says_that_its_lengths_are_not_compared(bert):
    several = fill_spans(bert, "the ___ is on the ___ .", count=6)
    assert any("do not add up to 100 %" in remark for remark in several.remarks)
    assert any("as many tokens as its best choice" in remark for remark in several.remarks)
    lone = fill_spans(bert, "the dog is on the ___ .", count=6)
    [span] = lone.spans
    assert [one.fills for one in lone.completions] == [(choice.text,) for choice in span.choices]
    assert {choice.length_tokens for choice in span.choices} > {1}
    for choice, one in zip(span.choices, lone.completions, strict=True):
        piece = choice.text.startswith("##")
        assert one.text == f"the dog is on the{choice.text[2:] if piece else ' ' + choice.text} ."
    alike = fill_spans(bert, "the dog is on the ___ .", count=1)
    assert alike.remarks == () and len(alike.completions) == 1


def test_a_masked_models_span_is_scored_as_a_candidate_is():
    bert = word_piece(seed=2)
    text = "the ___ is on the ___ ."
    found = fill_spans(bert, text, count=20)
    words = {word for word in bert.tokenizer.get_vocab() if word.isalpha()}
    for blank, span in enumerate(found.spans):
        named = [c.text for c in span.choices if set(c.text.split()) <= words][:8]
        candidates = [[], []]
        candidates[blank] = named
        ranking = rank_candidates(bert, text, candidates=candidates).blanks[blank]
        own = {candidate.text: candidate.log_probability for candidate in ranking if candidate.is_own}
        scores = {choice.text: choice.log_probability for choice in span.choices}
        assert named
        assert any(" " in name for name in named)
        for name in named:
            assert scores[name] == pytest.approx(own[name], abs=1e-4)


def test_a_fill_that_continues_a_word_is_marked_and_read_as_one(shipped_registry):
    text = "My grandmother is every ___."
    found = shipped_registry.run("BERT mini", lambda model: fill_spans(model, text, count=20))
    pieces = {choice.text: choice for choice in found.spans[0].choices if choice.text.startswith("##")}
    assert "##day" in pieces
    for choice, one in zip(found.spans[0].choices, found.completions, strict=True):
        assert one.text == f"My grandmother is every{choice.text[2:] if choice.text in pieces else ' ' + choice.text}."
    ask = partial(rank_candidates, text=text, candidates=[["##day", "day"]])
    ranked = shipped_registry.run("BERT mini", ask).blanks[0]
    typed = {one.text: one for one in ranked if one.is_own}
    assert typed["##day"].tokens == ("day",) and typed["day"].tokens == ("Ġday",), "typed as it is shown"
    assert typed["##day"].log_probability == pytest.approx(pieces["##day"].log_probability, abs=1e-4)
