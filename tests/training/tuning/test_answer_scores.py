"""Exact match and F1 as the published evaluation of SQuAD computes them."""

import pytest

from explorer.training.tuning.answer_scores import is_exact, measure_answers, normalise_answer, overlap_f1
from explorer.training.tuning.examples import AnsweredQuestion


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("The  Eiffel Tower.", "eiffel tower"),
        ("an apple, a day", "apple day"),
        ("theatre", "theatre"),
        ("U.S.", "us"),
        ("", ""),
    ],
)
def test_normalising(text, normal):
    assert normalise_answer(text) == normal


def test_scores():
    assert is_exact("the Tower!", "tower")
    assert not is_exact("tower bridge", "tower")
    assert overlap_f1("in the green house", "green house") == pytest.approx(2 * (2 / 3) * 1 / (2 / 3 + 1))
    assert overlap_f1("red red", "red") == pytest.approx(2 * 0.5 / 1.5)
    assert overlap_f1("dog", "cat") == 0.0
    assert overlap_f1("the", "a") == 1.0, "nothing is left of either"
    assert overlap_f1("", "cat") == 0.0


def test_what_is_exact_counts_as_right_and_what_has_no_answer_as_neither():
    asked = [AnsweredQuestion("Where?", "In the Tower, then.", answer, 3) for answer in ("tower", "In", "")]
    found = [((3, 12), 0.9)] * 3
    assert [one.is_right for one in measure_answers(asked[:2], found[:2]).judged] == [False, True], "wrong first"
    [own] = measure_answers(asked[2:], found[2:]).judged
    assert own.predicted == "the Tower" and own.is_right is None
