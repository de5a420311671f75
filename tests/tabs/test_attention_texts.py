"""What is said of a text beside what a head makes of it."""

import pytest

from explorer.tabs.attention.head import _tokens
from explorer.tabs.attention.readings import Ask, Readings, tidy_ask
from explorer.tabs.attention.texts import blank_note


@pytest.mark.parametrize(
    ("model", "says"),
    [
        ("ELECTRA mini", "reads ___ as [MASK], and does not say"),
        ("all-MiniLM-L6-v2", "reads ___ as [MASK], and does not say"),
        ("GPT mini", "reads ___ as underscores"),
        ("BERT mini", ""),
    ],
)
def test_what_is_said_of_a_blank_is_what_was_read(shipped_registry, model, says):
    text = "The capital of France is ___."
    ask = tidy_ask(shipped_registry, model, Ask(model, text, "", 0))
    tokens = _tokens(Readings(64).with_layer(shipped_registry, ask, "encoder-1-1"))
    told = blank_note(shipped_registry.card(model), text, tokens)
    assert says in told and bool(told) == bool(says)
    assert ("[MASK]" in tokens) == ("[MASK]" in says or not says)
