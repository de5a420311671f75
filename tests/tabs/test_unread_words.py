"""What a model did not read of a typed text is told."""

import pytest

from explorer.tabs.unread_words import told_unread, told_unread_by

NAME = "MiniLM (masked)"


@pytest.fixture(scope="module")
def registry(shipped_registry):
    return shipped_registry


def test_what_is_read_is_passed_over(registry):
    assert told_unread(registry, NAME, "They play football.", "A second text.", most=128) == ""


def test_unknown_tokens_and_those_beyond_the_length_are_counted(registry):
    assert "2 of the 5 tokens, special ones included, are unknown to this model" in told_unread(
        registry, NAME, "\U0001f600 play \U0001f600"
    )
    told = told_unread(registry, NAME, "word " * 200, most=128)
    assert "Only the first 128 of the 202 tokens are read" in told and "unknown" not in told


def test_of_several_models_each_is_named(registry):
    text = "\U0001f600 play"
    told = told_unread_by(registry, [NAME, "GPT mini"], text)
    assert "1 of the 4 tokens, special ones included, is unknown to MiniLM (masked), which" in told
    assert told == told_unread_by(registry, ["GPT mini", NAME], text)
    assert "unknown to this model" in told_unread_by(registry, [NAME, NAME], text)
