"""A sentence stands beside a chart where a reader would stumble, and nowhere else."""

from dataclasses import replace

import pytest

from explorer.analysis.generation_results import PromptLength
from explorer.analysis.results import Choice, Completion, RankedCandidate
from explorer.figures.compared import contrast_note, models_note
from explorer.figures.notes import (
    NEVER_FILLED,
    SCORED_AS_UNKNOWN,
    WRITTEN_AS_UNKNOWN,
    candidates_note,
    fills_note,
    foreign_note,
    itself_note,
    length_note,
    reveal_note,
    step_note,
    unknown_note,
)
from tests.figures.results import BLANK, CAT, ING, contrast, fills, ranking, reveal

UNKNOWN = Choice("[UNK]", "[UNK]", 100, 0.3)
WHOLE = tuple(replace(BLANK, choices=(choice,)) for choice in (CAT, Choice("sat", "sat", 7, 0.3)))


def filled(*words: str):
    return replace(fills(), completions=(Completion("The cat sat.", words, -1.0),))


def test_sentences_that_differ_from_the_bars_are_explained():
    told = fills_note(filled("cat", "<b>"))
    assert "“cat” and “##ing” are likeliest. The best sentence takes “cat” and “&lt;b&gt;”, which fit" in told
    four = replace(filled("cat", "mat", "hat", "rat"), blanks=filled("cat", "mat").blanks * 2)
    assert "need not be the top bars" in fills_note(four) and "“" not in fills_note(four)


@pytest.mark.parametrize(
    ("result", "told"),
    [
        (replace(filled("cat", "sat"), blanks=WHOLE), "takes the top bar of each chart: here the likeliest words fit"),
        (replace(filled("cat", "cat"), blanks=WHOLE[:1] * 2), "takes the top bar of each chart.<"),
        (replace(filled("cat", "mat"), strategy="independent", blanks=WHOLE), "whether the words fit each other.<"),
        (replace(filled("cat", "Cat"), strategy="independent"), "fit each other, and so it takes “cat” twice.<"),
        (replace(filled("cat"), blanks=(replace(BLANK, choices=(CAT, ING)),)), "expects “cat” most (70 %), "),
    ],
)
def test_what_a_result_amounts_to_is_said(result, told):
    assert told in fills_note(result)


@pytest.mark.parametrize(
    "result",
    [
        replace(filled("mat"), blanks=WHOLE[:1]),  # one choice alone is compared with nothing
        replace(fills(), completions=(), blanks=WHOLE),  # the list says that there is none
    ],
)
def test_where_nothing_is_to_be_said_nothing_is(result):
    assert fills_note(result) == ""


def test_the_token_for_unknown_words_is_explained_and_is_no_difference():
    blank = replace(BLANK, choices=(UNKNOWN, CAT))
    note = fills_note(replace(filled("cat", "##ing"), blanks=(blank, replace(BLANK, choices=(ING,)))))
    assert "[UNK] stands for" in note and "likeliest" not in note
    assert unknown_note(["cat"]) == ""
    assert "␣The is The with a space before it" in unknown_note(["The", "␣The", "␣They"])
    assert unknown_note(["␣"]) == ""
    assert "walk + ##ing" in unknown_note(["cat", "##ing"]) and "stands for" not in unknown_note(["##ing"])
    assert "&lt;unk&gt; stands for" in unknown_note(["cat", "<unk>"])
    assert NEVER_FILLED in unknown_note(["[UNK]"])


@pytest.mark.parametrize("then", [SCORED_AS_UNKNOWN, WRITTEN_AS_UNKNOWN])
def test_where_the_token_for_unknown_words_is_read_or_written_it_is_not_said_never_to_be(then):
    assert then in unknown_note(["[UNK]"], then) and NEVER_FILLED not in unknown_note(["[UNK]"], then)


def test_what_several_models_expect_is_said():
    one, other = (replace(fills(), model=name, blanks=WHOLE) for name in ("<b>", "Other"))
    surer = replace(BLANK, choices=(Choice("mat", "mat", 5, 0.6),), entropy_bits=1.0)
    assert "All expect “cat” most." in models_note([one, other], 0, [9, 9])
    assert "surest" not in models_note([one, other], 0, [9, 9])
    told = models_note([one, replace(other, blanks=(surer, *WHOLE))], 0, [9, 9])
    assert "First choices: &lt;b&gt; “cat”, Other “mat”. " in told
    assert "Other is surest, as if among 2.0 words; &lt;b&gt; least, as" in told
    apart = models_note([one, replace(other, blanks=(surer, *WHOLE))], 0, [30522, 6144])
    assert "different vocabularies (&lt;b&gt; 30,522, Other 6,144 tokens)" in apart and "surest" not in apart
    spaced = replace(BLANK, choices=(Choice("␣cat", "Ġcat", 9, 0.6),))
    assert "All expect “cat” most." in models_note([one, replace(other, blanks=(spaced,))], 0, [9, 9])
    assert models_note([one], 0, [9]) == ""


def test_the_words_that_two_sentences_part_on_are_said():
    told = contrast_note(contrast())
    assert "In the first sentence “his” is 6.0 times as likely as in the second; in the second “her” is 14" in told
    assert contrast_note(replace(contrast(), words=contrast().words[1:])).startswith(
        "<p class='note'>In the second “her”"
    )
    assert contrast_note(replace(contrast(), words=())) == ""


def test_a_model_beside_itself_is_said():
    assert itself_note(["a", "b"]) == itself_note(["a"]) == ""
    assert "&lt;b&gt; stands beside itself" in itself_note(["a", "<b>", "<b>"])


def test_watching_one_blank_says_what_shows_more():
    lone = replace(reveal(), steps=reveal().steps[:1])
    assert "shows most with several" in reveal_note(lone)
    assert "shows most" not in reveal_note(reveal())


def test_each_step_says_what_the_last_fill_changed():
    watched = reveal()
    assert "as under Answer" in step_note(watched, 0)
    assert "Now that blank 2 is “cat”, blank 1 expects “cat” (70 %, before 70 %)." in step_note(watched, 1)
    first, second = watched.steps
    surer = replace(BLANK, choices=(Choice("<i>", "<i>", 4, 0.9), CAT), entropy_bits=0.3)
    changed = replace(watched, steps=(first, replace(second, blanks=(surer, None))))
    assert "blank 1 expects “&lt;i&gt;” (90 %) rather than “cat” (70 % now, 70 % before)." in step_note(changed, 1)
    gone = replace(changed, steps=(first, replace(second, blanks=(replace(surer, choices=surer.choices[:1]), None))))
    assert "rather than “cat” (not among its first 1 now, 70 % before)." in step_note(gone, 1)
    assert "All are filled. What was filled before them made the model neither surer" in step_note(watched, 2)
    for bits, sure in ((1.0, "surer"), (7.0, "less sure")):
        turned = replace(second, blanks=(replace(BLANK, entropy_bits=bits), None))
        told = step_note(replace(watched, steps=(first, turned)), 2)
        assert f"made the model {sure} of blank 1 (as if among {2**bits:,.{bits < 4:d}f} words, alone " in told
        assert "yet" not in told
    assert step_note(replace(watched, steps=watched.steps[:1]), 1) == ""


@pytest.mark.parametrize(
    ("bits", "probability", "told"),
    [
        (7.0, 0.8, "; yet “cat” rose from 70 % to 80 %)."),
        (1.0, 0.6, "; yet “cat” fell from 70 % to 60 %)."),
        (7.0, 0.6, None),
        (1.0, 0.8, None),
        (7.0, 0.7001, None),
    ],
)
def test_the_word_that_was_filled_in_may_go_the_other_way_than_the_whole_blank(bits, probability, told):
    first, second = reveal().steps
    choice = replace(CAT, probability=probability)
    turned = replace(second, blanks=(replace(BLANK, choices=(choice,), entropy_bits=bits), None), choice=choice)
    said = step_note(replace(reveal(), steps=(first, turned)), 2)
    assert told in said if told else "yet" not in said and "of blank 1" in said


def test_what_a_result_remarks_stands_below_it():
    assert "<p class='note'>Not &lt;all&gt; was searched.</p>" in fills_note(
        replace(filled("cat", "##ing"), remarks=("Not <all> was searched.",))
    )


@pytest.mark.parametrize(
    ("letters", "unknown", "told"), [(180, 1, "than 100 letters"), (100, 1, "XLM-R"), (180, 2, "XLM-R")]
)
def test_a_word_that_is_too_long_to_be_cut_is_not_said_to_be_foreign(letters, unknown, told):
    said = foreign_note(["[CLS]", *["[UNK]"] * unknown, "[MASK]", "[SEP]"], f"The {'a' * letters} 你 ___")
    assert told in said and ("letters" in said) != ("XLM-R" in said)
    signs = foreign_note(["[CLS]", *["[UNK]"] * unknown, "[MASK]", "[SEP]"], "I ___ 🙂😀")
    assert "unknown to this model" in signs and "XLM-R" not in signs, "other models lack emoji, too"


def test_the_mark_of_pieces_is_explained_wherever_it_stands():
    piece = replace(reveal().steps[0], choice=ING)
    assert "walk + ##ing" in reveal_note(replace(reveal(), steps=(piece,)))
    assert "walk + ##ing" in fills_note(replace(filled("##s", "cat"), blanks=WHOLE)), "it names the best sentence"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[CLS] the teacher opened the [MASK] . [SEP]", ""),
        ("[CLS] the un ##believ ##able [MASK] . [SEP]", ""),
        ("[CLS] [UNK] [UNK] [MASK] [SEP]", "2 of the 5 tokens, special ones included, are unknown to this model"),
        ("[CLS] der le ##hrer off ##net ##e das [MASK] . [SEP]", "3 of the 8 tokens are pieces"),
        ("[CLS] die katz ##e sit ##z ##t auf der [MASK] . [SEP]", "3 of the 9 tokens are pieces"),
        ("[CLS] die k ##at ##ze sc ##hl ##af ##t [MASK] [SEP]", "5 of the 8 tokens are pieces"),
    ],
)
def test_a_text_that_the_model_can_hardly_read_is_said_to_be_one(text, told):
    said = foreign_note(text.split())
    assert told in said and bool(told) == bool(said) == ("XLM-R" in said)


def test_a_best_sentence_that_takes_a_word_twice_is_explained():
    twice = fills_note(filled("cat", "Cat"))
    assert "takes “cat” twice" in twice and "takes “cat” and “Cat”." in twice and "which fit" not in twice
    assert "twice" not in fills_note(filled("cat", "mat")) + fills_note(filled(",", ","))
    assert "3 times" in fills_note(replace(filled("cat", "cat", "cat"), blanks=filled().blanks * 2))


@pytest.mark.parametrize(
    ("others", "told"),
    [
        ((), "falls for that.<"),
        (("cat", "CAT"), "The others repeat words, too."),
        (("cat", "mat"), "Sentence 2 is the"),
    ],
)
def test_what_repeats_points_to_the_sentence_that_does_not(others, told):
    twice = filled("cat", "Cat")
    more = (replace(twice.completions[0], fills=others),) if others else ()
    assert told in fills_note(replace(twice, completions=twice.completions + more))


def test_own_candidates_are_told_apart_in_words():
    moon, sun = (RankedCandidate(word, (word,), score, score, True) for word, score in (("moon", -1.0), ("sun", -3.0)))
    both = replace(ranking(), blanks=((), (moon, sun)))
    assert "Blank 2: of yours, “moon” is likeliest: 7.4 times as likely as “sun”." in candidates_note(both)
    assert "Of yours, “moon”" in candidates_note(replace(both, blanks=((moon, sun),)))
    three = replace(both, blanks=((moon, sun, replace(sun, text="star", log_probability=-4.0)),))
    assert ": 7.4 times as likely as “sun”, 20 times as likely as “star”." in candidates_note(three)
    assert candidates_note(ranking()) == ""


def test_a_prompt_of_what_the_vocabulary_lacks_is_said_to_be_one():
    assert "1 of the 6 tokens, special ones included, is unknown to this model" in length_note(
        PromptLength(6, 512, unknown=1)
    )
    assert "unknown" not in length_note(PromptLength(6, 512))
    german = length_note(PromptLength(12, 512, pieces=5))
    assert "5 of the 12 tokens are pieces" in german and "saw little of" in german and "XLM-R" not in german
    assert "pieces" not in length_note(PromptLength(12, 512, pieces=2))
    assert "Empty: it begins from its start token. 1 of 512" in length_note(PromptLength(1, 512, is_empty=True))


def test_bytes_are_explained_and_told_apart():
    first, second = Choice("\ufffd", "ã", 1, 0.4), Choice("\ufffd", "ł", 2, 0.2)
    told = fills_note(replace(fills(), blanks=(replace(BLANK, choices=(first, second)),)))
    assert "expects “&lt;0xE3&gt;” most (40 %), 2.0 times as likely as “&lt;0xA0&gt;”" in told
    assert "a byte, and no letter by itself" in told
    assert "byte" not in unknown_note(["a", "##e"])
