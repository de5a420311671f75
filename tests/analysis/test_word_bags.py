"""Bags of words: cosines against plain loops, and the baseline of "how many of the nearest share the sense"."""

import math
from collections import Counter

import numpy as np
import pytest

from explorer.analysis.labelled_uses import LabelledUses, gather_uses, shipped_uses
from explorer.analysis.sense_sentences import sense_words
from explorer.analysis.shared_senses import count_by_words
from explorer.analysis.word_bags import compare_bags, weigh_words
from explorer.errors import UnsuitableText


def test_cosines_are_those_of_plain_loops():
    texts = ["a red x, a b", "Red x b c", "x green d", "the x"]
    positions = [(text.index("x"), text.index("x") + 1) for text in texts]
    bags = [Counter("a red , a b".split()), Counter("red b c".split()), Counter("green d".split()), Counter(["the"])]
    held = Counter(word for bag in bags for word in bag)
    vectors = [{word: count * math.log(4 / held[word]) for word, count in bag.items()} for bag in bags]

    def cosine(one, other):
        length = math.sqrt(sum(value**2 for value in one.values()) * sum(value**2 for value in other.values()))
        return sum(value * other.get(word, 0) for word, value in one.items()) / length

    found = weigh_words(texts, positions)
    for query in range(4):
        expected = [cosine(vectors[query], other) for other in vectors]
        np.testing.assert_allclose(compare_bags(found, query), expected, atol=1e-9)


def test_a_word_in_all_sentences_weighs_nothing():
    found = compare_bags(weigh_words(["an x", "an x"], [(3, 4), (3, 4)]), 0)
    assert found.tolist() == [0, 0]


def test_the_nearest_by_words_are_counted_and_ties_drawn_by_lot():
    uses = gather_uses(
        ["a\tred old {x}", "a\tred {x} cat", "b\told {x} dog", "a\tblue {x}", "b\tgreen {x}", "b\tpale {x}"]
    )
    assert count_by_words(uses, 0, nearest=2) == 1, "the cat shares red, the dog shares old"
    assert count_by_words(uses, 0, nearest=3) == pytest.approx(1 + 1 / 3), "of three that share nothing, one has it"
    assert count_by_words(uses, 0, nearest=9) == 2, "all others"
    assert count_by_words(uses, 3, nearest=2) == pytest.approx(2 * 2 / 5), "blue is in no other"
    for lone in (LabelledUses(("x",), ((0, 1),), ("a",)), LabelledUses(("x", "x"), ((0, 1),) * 2, ("", "a"))):
        with pytest.raises(UnsuitableText, match="senses of it and of at least one other"):
            count_by_words(lone, 0, nearest=3)


@pytest.mark.parametrize(
    "word", [*sense_words()[:2], *(pytest.param(word, marks=pytest.mark.slow) for word in sense_words()[2:])]
)
def test_the_shipped_sentences_are_not_told_apart_by_their_words(word):
    uses = shipped_uses(word)
    counts = [count_by_words(uses, use, nearest=10) for use in range(len(uses.senses))]
    others = len(uses.senses) - 1
    by_lot = [10 * (uses.senses.count(sense) - 1) / others for sense in uses.senses]
    assert np.mean(counts) < np.mean(by_lot) + 1, "of ten"
