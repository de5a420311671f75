"""Which examples are learnt from, and which are measured on."""

from collections import Counter

import pytest

from explorer.errors import UnsuitableCorpus
from explorer.training.tuning.examples import ExampleSet, LabelledText, PlainText
from explorer.training.tuning.sampling import choose_examples, split_examples

MANY = ExampleSet(
    "many",
    "classification",
    tuple(LabelledText(f"text {number}", "abbc"[number % 4] if number else "rare") for number in range(200)),
)


def test_more_examples_hold_the_fewer():
    sizes = [set(choose_examples(MANY, count, seed=3).train) for count in (4, 8, 32, 128)]
    assert [len(some) for some in sizes] == [4, 8, 32, 128]
    assert sizes[0] < sizes[1] < sizes[2] < sizes[3]


def test_each_class_has_its_share():
    assert {example.label for example in choose_examples(MANY, 4, seed=0).train} == {"a", "b", "c", "rare"}
    counts = Counter(example.label for example in choose_examples(MANY, 100, seed=0).train)
    assert counts["b"] == pytest.approx(50, abs=2) and counts["a"] == pytest.approx(25, abs=2)


def test_another_seed_chooses_others():
    assert choose_examples(MANY, 8, seed=0) != choose_examples(MANY, 8, seed=1)
    assert choose_examples(MANY, 8, seed=1) == choose_examples(MANY, 8, seed=1)


@pytest.mark.parametrize("count", [0, 200, 500])
def test_all_stay_in_their_order(count):
    assert choose_examples(MANY, count, seed=0) == MANY


def test_a_part_of_each_class_is_set_aside():
    split = split_examples(MANY, 0.2, seed=0)
    assert not set(split.train) & set(split.held_out)
    assert len(split.train) + len(split.held_out) == 200
    counts = Counter(example.label for example in split.held_out)
    assert counts == {"a": 10, "b": 20, "c": 10}  # the only "rare" one is learnt from
    assert split_examples(split, 0.5, seed=9) == split


def test_copies_stay_together_whatever_their_capitals_and_labels():
    texts = [LabelledText(f"Text  {number}", "ab"[number % 2]) for number in range(30)]
    copies = [LabelledText(f"text {number}", "ab"[number % 3 == 0]) for number in range(30)]
    split = split_examples(ExampleSet("twice", "classification", (*texts, *copies, *texts[:5])), 0.2, seed=1)
    assert len(split.train) + len(split.held_out) == 65
    learned, measured = ({" ".join(one.text.lower().split()) for one in part} for part in (split.train, split.held_out))
    assert len(measured) == 6 and not learned & measured
    with pytest.raises(UnsuitableCorpus, match="the same text"):
        split_examples(ExampleSet("one", "classification", (texts[0],) * 9), 0.2, seed=0)


def test_texts_without_classes_are_split_too():
    split = split_examples(ExampleSet("texts", "masked", tuple(map(PlainText, "abcdefghij"))), 0.2, seed=0)
    assert len(split.held_out) == 2


def test_two_examples_of_two_classes_are_split():
    split = split_examples(ExampleSet("two", "classification", MANY.train[:2]), 0.5, seed=0)
    assert len(split.train) == len(split.held_out) == 1


def test_too_few_are_refused():
    with pytest.raises(UnsuitableCorpus, match="1 example "):
        split_examples(ExampleSet("one", "classification", MANY.train[:1]), 0.2, seed=0)
