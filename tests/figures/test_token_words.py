"""Tokens as a reader sees them."""

import pytest

from explorer.figures.token_words import shown_token, space_note


@pytest.mark.parametrize(
    "token, shown", [("Ġplay", "␣play"), ("▁play", "␣play"), ("play", "play"), ("##s", "##s"), ("Ġ", "␣"), ("", "")]
)
def test_a_space_before_a_token_is_shown_as_one(token, shown):
    assert shown_token(token) == shown


def test_the_sign_is_explained_where_it_stands():
    assert "a space before" in space_note(["The", "Ġcat"])
    assert space_note(["The", "##s"]) == ""
