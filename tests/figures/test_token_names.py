"""What a token is called where it stands alone."""

import pytest

from explorer.figures.token_names import token_label


@pytest.mark.parametrize(
    ("text", "token", "label"),
    [
        ("\ufffd", "ã", "<0xE3>"),
        ("\ufffd\ufffd", "ãģ", "<0xE3><0x81>"),
        ("\ufffd", "Ġã", "<0xE3>"),  # the space before it is no part of its name
        ("\ufffd", "<0xE3>", "<0xE3>"),  # as SentencePiece spells it by itself
        ("\ufffd", "日", "日"),  # a vocabulary that is not made of bytes
        ("Ġ", "Ġ", "␣"),
        ("▁", "▁", "␣"),
        ("##ing", "##ing", "##ing"),
        ("e\ufffd", "eÃ", "e\ufffd"),
        ("", "", ""),
    ],
)
def test_bytes_are_named_by_number_and_a_space_by_its_sign(text, token, label):
    assert token_label(text, token) == label
