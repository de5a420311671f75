"""A sentence stands beside a chart where a reader would stumble, and nowhere else."""

from dataclasses import replace

import pytest

from explorer.analysis.results import Choice, Completion
from explorer.figures.notes import fills_note, itself_note, reveal_note, unknown_note
from tests.figures.results import BLANK, CAT, ING, fills, reveal

UNKNOWN = Choice("[UNK]", "[UNK]", 100, 0.3)


def filled(*words: str):
    return replace(fills(), completions=(Completion("The cat sat.", words, -1.0),))


def test_sentences_that_differ_from_the_bars_are_explained():
    told = fills_note(filled("cat", "<b>"))
    assert "“cat” and “##ing” are likeliest. The best sentence takes “cat” and “&lt;b&gt;”, which fit" in told
    four = replace(filled("cat", "mat", "cat", "mat"), blanks=filled("cat", "mat").blanks * 2)
    assert "need not be the top bars" in fills_note(four) and "“" not in fills_note(four)


@pytest.mark.parametrize(
    "result",
    [
        filled("cat", "##ing"),  # the same as the bars
        replace(filled("cat", "mat"), strategy="independent"),
        replace(filled("mat"), blanks=(BLANK,)),
        replace(fills(), completions=()),
    ],
)
def test_where_nothing_differs_nothing_is_said(result):
    assert fills_note(result) == ""


def test_the_token_for_unknown_words_is_explained_and_is_no_difference():
    blank = replace(BLANK, choices=(UNKNOWN, CAT))
    note = fills_note(replace(filled("cat", "##ing"), blanks=(blank, replace(BLANK, choices=(ING,)))))
    assert "[UNK] stands for" in note and "likeliest" not in note
    assert unknown_note(["cat"]) == ""
    assert "&lt;unk&gt; stands for" in unknown_note(["cat", "<unk>"])


def test_a_model_beside_itself_is_said():
    assert itself_note(["a", "b"]) == itself_note(["a"]) == ""
    assert "&lt;b&gt; stands beside itself" in itself_note(["a", "<b>", "<b>"])


def test_watching_one_blank_says_what_shows_more():
    lone = replace(reveal(), steps=reveal().steps[:1])
    assert "shows most with several" in reveal_note(lone)
    assert reveal_note(reveal()) == ""


def test_what_a_result_remarks_stands_below_it():
    assert fills_note(replace(filled("cat", "##ing"), remarks=("Not <all> was searched.",))).endswith(
        "<p class='note'>Not &lt;all&gt; was searched.</p>"
    )
