"""Tokens as a reader sees them."""

import pytest

from explorer.figures.token_words import bytes_note, shown_token, signs_note, space_note, spaces_shown, spelling_note


@pytest.mark.parametrize(
    "token, shown", [("Ġplay", "␣play"), ("▁play", "␣play"), ("play", "play"), ("##s", "##s"), ("Ġ", "␣"), ("", "")]
)
def test_a_space_before_a_token_is_shown_as_one(token, shown):
    assert shown_token(token) == shown


def test_the_sign_is_explained_where_it_stands():
    assert "a space before" in space_note(["The", "Ġcat"])
    assert space_note(["The", "##s"]) == ""
    assert "Ġ: a space before the token, as" in spelling_note(["The", "Ġcat"])
    assert "▁: a space" in spelling_note(["▁The"]) and spelling_note(["The", "##s"]) == ""


def test_letters_that_stand_for_bytes_are_told_from_letters_of_the_text():
    assert "Ã ¤: not letters of the text, but bytes" in bytes_note(["Ġsch", "l", "Ã", "¤", "ft"], "Er schläft")
    assert "ð Ł ĺ Ģ â Ļ and the like: not letters" in bytes_note(["ðŁĺĢ", "âĻ", "¥"], "😀♥")
    assert bytes_note(["▁Zürich", "é", "ü"], "ZÜRICH im É") == bytes_note(["Ġcat", "##s"], "cats") == ""
    assert bytes_note(["a", "Ċ", "Ġb"], "a\n b") == "<p class='note'>Ċ: a line break.</p>"


def test_what_reads_as_no_letter_is_explained_once_and_a_sign_of_the_text_is_not():
    assert [spaces_shown(text) for text in ("Ġ", "▁▁", "play", "Ġa", "")] == ["␣", "␣␣", "play", "Ġa", ""]
    told = signs_note(["I", "␣", "\ufffd", "\ufffd", "Ċ"], "I 🙂\n")
    assert "␣: a space, as a token of its own." in told and "Ċ: a line break." in told
    assert told.count("\ufffd: a byte, and no letter by itself") == 1
    assert signs_note(["I", "##s", "[SEP]"], "Is") == signs_note(["␣"], "the sign ␣") == ""
