"""What is said of labelled examples before a model learns from them."""

import pytest

from explorer.errors import UnsuitableText
from explorer.training.tuning.checks import check_examples, measuring_remarks, refuse_problems
from explorer.training.tuning.examples import ExampleSet, LabelledText, PlainText, ScoredPair, TaggedWords


def labelled(*classes, prefix="sentence"):
    return tuple(LabelledText(f"{prefix} number {n}", label) for n, label in enumerate(classes))


def checked(train, held_out=(), task="classification"):
    return check_examples(ExampleSet("mine.csv", task, tuple(train), tuple(held_out), ("read as Windows-1252",)))


def test_a_balanced_set_has_nothing_to_be_told():
    found = checked(labelled(*"abab" * 4), labelled(*"ab", prefix="other"))
    assert found.problems == () and found.notes == ("read as Windows-1252",)
    assert [(one.label, one.train, one.held_out) for one in found.balance] == [("a", 8, 1), ("b", 8, 1)]
    assert (found.train, found.held_out) == (16, 2)


@pytest.mark.parametrize(
    ("train", "held_out", "task", "said"),
    [
        (labelled("a"), (), "classification", "one example"),
        (labelled(*"abab"), (), "classification", "4 examples"),
        (labelled(*"a" * 20), (), "classification", "nothing to tell apart"),
        (labelled(*"ab" * 8), labelled("a", "c"), "classification", "“c” is only among"),
        (labelled(*map(str, range(30))), (), "classification", "look like numbers of their own"),
        (labelled(*map(str, range(300)), *map(str, range(300))), (), "pairs", "at most 200"),
        ([ScoredPair(f"{n}", "two", 0.6) for n in range(9)], (), "similarity", "All 9 pairs have the same score"),
        ([TaggedWords(("Well", "then"), ("O", "O"))] * 9, (), "tagging", "No word is tagged"),
    ],
)
def test_problems_refuse_and_say_what_to_do(train, held_out, task, said):
    found = checked(train, held_out, task)
    assert len(found.problems) == 1 and said in found.problems[0]
    with pytest.raises(UnsuitableText, match=said):
        refuse_problems(ExampleSet("mine.csv", task, tuple(train), tuple(held_out)))


@pytest.mark.parametrize(
    ("train", "held_out", "said"),
    [
        (labelled(*"ab" * 8, *"cc"), (), "“c” has fewer than 4"),
        (labelled(*"a" * 50, *"bbbb"), (), "uneven: 50 of “a”, 4 of “b”"),
        (labelled(*"ab" * 8) * 2, (), "16 texts stand there more than once"),
        ((*labelled(*"ab" * 8), *labelled("a") * 5), (), "One text stands there more than once"),
        (labelled(*"ab" * 8), labelled(*"ab"), "2 of 2 held-out examples also stand"),
        (labelled(*"ab" * 8), labelled("a", prefix="new"), "No held-out example of “b”"),
        ((*labelled(*"ab" * 8), LabelledText("sentence number 0", "b")), (), "One text has two different labels"),
        ((*labelled(*"ab" * 8), LabelledText("ok", "b")), (), "One text has fewer than 3 characters"),
        ((*labelled(*"ab" * 8), LabelledText("so long " * 100, "b")), (), "longer than 600 characters"),
        (labelled(*["Good", "good", "bad", "bad"] * 4), (), "“good” is written in several ways"),
        (labelled(*map(str, range(12)), *map(str, range(12))), (), "The labels are 12 numbers"),
    ],
)
def test_notes_warn_of_what_will_mislead(train, held_out, said):
    found = checked(train, held_out)
    assert found.problems == () and [note for note in found.notes if said in note], found.notes


def test_texts_without_classes_have_no_balance():
    found = checked([PlainText(f"line {n}") for n in range(9)], task="masked")
    assert found.balance == () and found.problems == () and found.train == 9


def test_a_score_says_too_much_where_what_is_measured_was_learned():
    measured = ExampleSet("leaked", "classification", labelled(*"ab" * 20), labelled(*"ab"))
    few, leaked = measuring_remarks(measured)
    assert "On 2 held-out examples" in few
    assert leaked.startswith("2 of the 2 held-out examples were learned from")
