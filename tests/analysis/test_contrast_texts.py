from functools import partial

import numpy as np
import pytest

from explorer.analysis.blanks import parse_blanks
from explorer.analysis.contrast_texts import NOISE, contrast_texts
from explorer.analysis.exporting import to_tables
from explorer.errors import UnsuitableText
from tests.analysis.tiny_models import log_probabilities


def distribution(model, text):
    parsed = parse_blanks(model, text)
    return log_probabilities(model, [parsed.ids], parsed.positions).exp()[0].numpy()


def test_words_are_those_whose_probabilities_differ_most(bert):
    first, other = "he is in ___", "the queen is ___ly in paris"
    contrast = contrast_texts(bert, first, other_text=other, top_k=6)
    p, q = distribution(bert, first), distribution(bert, other)
    by_difference = np.argsort(q - p)
    expected = [*by_difference[:3], *by_difference[-3:]]
    assert [word.text for word in contrast.words] == bert.tokenizer.convert_ids_to_tokens(expected)
    for word, index in zip(contrast.words, expected, strict=True):
        assert word.probability == pytest.approx(p[index], abs=1e-6)
        assert word.other_probability == pytest.approx(q[index], abs=1e-6)
        odds = p[index] / (1 - p[index]) / (q[index] / (1 - q[index]))
        assert word.log_odds_ratio == pytest.approx(np.log(odds), abs=1e-4)


def test_divergence_is_that_of_jensen_and_shannon(family):
    first, other = "The cat ___ in Paris.", "___ is happy"
    p, q = distribution(family, first), distribution(family, other)
    middle = (p + q) / 2
    expected = (p * np.log2(p / middle) + q * np.log2(q / middle)).sum() / 2
    contrast = contrast_texts(family, first, other_text=other)
    assert contrast.divergence_bits == pytest.approx(expected, abs=1e-6)
    assert contrast_texts(family, other, other_text=first).divergence_bits == pytest.approx(expected, abs=1e-6)


def test_swapping_the_texts_turns_everything_around(bert):
    there = contrast_texts(bert, "he is ___", other_text="she is ___", top_k=8).words
    back = contrast_texts(bert, "she is ___", other_text="he is ___", top_k=8).words
    assert [word.text for word in there] == [word.text for word in reversed(back)]
    for word, other in zip(there, reversed(back), strict=True):
        assert word.log_odds_ratio == pytest.approx(-other.log_odds_ratio, abs=1e-4)


def test_the_same_text_twice_differs_in_nothing(bert):
    contrast = contrast_texts(bert, "he is ___", other_text="he is ___")
    assert contrast.words == ()
    assert contrast.divergence_bits == pytest.approx(0, abs=1e-9)


def test_an_odd_number_favours_the_first_text(bert):
    words = contrast_texts(bert, "he is ___", other_text="she is ___", top_k=5).words
    assert [word.probability > word.other_probability for word in words] == [True, True, True, False, False]


def test_a_whole_small_vocabulary_may_be_asked_for(bert):
    first, other = "he is ___", "she is ___"
    difference = distribution(bert, first) - distribution(bert, other)
    words = contrast_texts(bert, first, other_text=other, top_k=50).words
    assert len(words) == np.sum(np.abs(difference) > NOISE)


def test_one_of_several_blanks_is_compared_while_the_others_stay_open(bert):
    first, other = "he ___ in ___", "she ___ in ___"
    contrast = contrast_texts(bert, first, other_text=other, top_k=4, blank=2)
    assert contrast.blank == 2 and to_tables(contrast)["words"][1][:4] == [bert.card.name, first, other, 2]
    parsed = parse_blanks(bert, first)
    p = log_probabilities(bert, [parsed.ids], parsed.positions[1:]).exp()[0].numpy()
    vocabulary = bert.tokenizer.get_vocab()
    for word in contrast.words:
        assert word.probability == pytest.approx(p[vocabulary[word.text]], abs=1e-6)


@pytest.mark.parametrize(("blank", "says"), [(2, "no blank 2"), (0, "whole number")])
def test_a_blank_that_is_not_there_is_named(bert, blank, says):
    with pytest.raises(UnsuitableText, match=says):
        contrast_texts(bert, "he is ___", other_text="she is ___", blank=blank)


@pytest.mark.parametrize("other", ["no blank here", ""])
def test_each_text_needs_the_blank(bert, other):
    with pytest.raises(UnsuitableText, match="^Text 2: "):
        contrast_texts(bert, "he is ___", other_text=other)


def test_byte_pieces_are_told_from_words(shipped_registry):
    ask = partial(contrast_texts, text="My grandmother is every ___.", other_text="My grandmother was a ___.", top_k=50)
    shown = [word.text for word in shipped_registry.run("BERT mini", ask).words]
    assert "day" in shown and "##day" in shown


def test_where_a_text_begins_no_two_words_read_alike(shipped_registry):
    ask = partial(contrast_texts, text="___ lives in Warsaw.", other_text="___ live in Warsaw.", top_k=20)
    shown = [word.text for word in shipped_registry.run("BERT mini", ask).words]
    assert len(set(shown)) == len(shown) and "␣They" in shown
