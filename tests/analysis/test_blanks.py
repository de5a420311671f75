from dataclasses import replace

import pytest

from explorer.analysis.blanks import check_tokens, find_blanks, parse_blanks, parse_texts, split_at_blanks
from explorer.errors import UnsuitableModel, UnsuitableText
from explorer.models.card import Ability


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("a ___ b", [(2, 5)]),
        ("a __ b", [(2, 4)]),
        ("a _ b", []),
        ("______", [(0, 6)]),
        ("___ ___", [(0, 3), (4, 7)]),
        ("snake__case", [(5, 7)]),
        ("(___),___!", [(1, 4), (6, 9)]),
        ("a [MASK] b", [(2, 8)]),
        ("__[MASK][MASK]", [(0, 2), (2, 8), (8, 14)]),
        ("a [mask] <mask>", []),
    ],
)
def test_finds_blanks_of_underscores_and_own_masks(text, spans):
    assert find_blanks(text, "[MASK]") == spans


def test_without_a_mask_token_only_underscores_are_blanks():
    assert find_blanks("a [MASK] ___", None) == [(9, 12)]


def test_splits_and_loses_nothing():
    assert split_at_blanks("___ is (____).", None) == ("", " is (", ").")
    assert split_at_blanks("no blank", None) == ("no blank",)


def test_ids_are_those_of_the_text_with_masks(family):
    mask = family.tokenizer.mask_token
    parsed = parse_blanks(family, "The cat __ in (___), un___ly!")
    expected = family.tokenizer(f"The cat {mask} in ({mask}), un{mask}ly!")["input_ids"]
    assert list(parsed.ids) == expected
    assert [parsed.ids[position] for position in parsed.positions] == [family.tokenizer.mask_token_id] * 3
    assert parsed.segments == ("The cat ", " in (", "), un", "ly!")
    assert parsed.tokens[parsed.positions[0]] == mask


def test_the_models_own_mask_is_a_blank(family):
    mask = family.tokenizer.mask_token
    assert parse_blanks(family, f"a {mask} b").ids == parse_blanks(family, "a ___ b").ids


def test_fills_replace_masks(bert):
    parsed = parse_blanks(bert, "the ___ is ___")
    filled = parsed.with_fills([7, None])
    assert filled[parsed.positions[0]] == 7
    assert filled[parsed.positions[1]] == bert.tokenizer.mask_token_id
    assert len(filled) == len(parsed.ids)


def test_one_token_too_many_is_one(bert):
    with pytest.raises(UnsuitableText, match=r"Leave out a token, or"):
        check_tokens(bert, 65)
    with pytest.raises(UnsuitableText, match=r"Leave out about 2 tokens, or"):
        check_tokens(bert, 66)


BAD = {
    "empty": ("", "There is no text"),
    "white space": (" \n\t ", "There is no text"),
    "no blank": ("the cat sat", "no blank"),
    "one underscore": ("the _ sat", "no blank"),
    "only blanks": ("___ ____  __", "only blanks"),
    "only blanks and invisible marks": ("___\u200b \u200f___", "only blanks"),
    "11 blanks": ("a " + "___ " * 11, "11 blanks; at most 10"),
    "too long": ("the " * 70 + "___", "tokens, and tiny bert reads at most 64"),
    "5,000 words": ("word " * 5_000 + "___", "25,003 characters; at most 20,000"),
    "NUL": ("a \0 ___", r"control characters \(U\+0000\)"),
    "escape": ("a \x1b[31m ___", r"U\+001B"),
    "half a surrogate pair": ("a \ud83d ___", r"U\+D83D"),
    "mask of RoBERTa": ("the <mask> sat", "<mask> is the mask of another model. Write ___"),
    "mask in lower case": ("the [mask] sat", "another model"),
    "sentinel of T5": ("the <extra_id_0> sat ___", "<extra_id_0> is a sentinel. Write ___"),
}


@pytest.mark.parametrize("text, message", BAD.values(), ids=BAD)
def test_bad_input_is_refused_with_what_to_do(bert, text, message):
    with pytest.raises(UnsuitableText, match=message):
        parse_blanks(bert, text)


def test_the_mask_of_bert_is_foreign_to_roberta(roberta):
    with pytest.raises(UnsuitableText, match=r"\[MASK\] is the mask of another model"):
        parse_blanks(roberta, "the [MASK] sat")


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script> ___",
        "🙂 ___ 👩‍👩‍👧",
        "החתול ___ על המחצלת",
        "القطة ___",
        "two\nlines ___\r\n",
        "___.",
        "é ___ e\u0301",
    ],
)
def test_unusual_text_is_fine(family, text):
    parsed = parse_blanks(family, text)
    assert len(parsed.positions) == 1
    assert "___".join(parsed.segments) == text


def test_a_message_about_one_of_many_texts_says_which(bert):
    with pytest.raises(UnsuitableText, match="^Text 2: The text has no blank"):
        parse_texts(bert, ["a ___", "b"])
    with pytest.raises(UnsuitableText, match=r"^Text 3: The text has \d+ tokens"):
        parse_texts(bert, ["a ___", "b ___", "the " * 70 + "___"])


def test_a_model_without_a_masked_head_is_told_apart(bert):
    card = replace(bert.card, abilities=frozenset({Ability.EMBED}))
    with pytest.raises(UnsuitableModel, match="tiny bert has no masked LM head"):
        parse_blanks(replace(bert, card=card), "a ___")


def test_a_model_that_fills_spans_says_so(gpt):
    card = replace(gpt.card, abilities=frozenset({Ability.FILL_SPANS}))
    with pytest.raises(UnsuitableModel, match="cannot fill blanks. It fills spans of any length. Choose MiniLM"):
        parse_blanks(replace(gpt, card=card), "a ___")


def test_a_model_without_a_mask_names_models_that_have_one(gpt):
    with pytest.raises(UnsuitableModel, match=r"no mask token, so it cannot fill blanks. Choose MiniLM \(masked\) or "):
        parse_blanks(gpt, "a ___")
