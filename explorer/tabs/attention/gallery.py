"""Texts to start from, each one click, with the head that shows what they are for."""

from dataclasses import dataclass

from explorer.tabs.attention.which import FIRST
from explorer.tabs.gallery import read_examples


@dataclass(frozen=True)
class Start:
    """One example.

    Attributes:
        kind: What it shows, e.g. "two sentences".
        label: On its button.
        model: That shows it.
        text: What the model reads first.
        second: The second text, or what the decoder reads.
        new_tokens: How many tokens a causal model writes first.
        at: The head to look at, as tabs.attention.which spells it.
        look: How it is drawn, as assets/attention.js spells it.
        shows: What is to be seen there: a token that looks, what it looks at, and the least weight; the tests check it.
        note: What to know of it before.
        look_for: In the result.
    """

    kind: str
    label: str
    model: str
    text: str
    second: str = ""
    new_tokens: int = 0
    at: str = FIRST
    look: str = ""
    shows: tuple[str, str, float] | tuple[()] = ()
    note: str = ""
    look_for: str = ""


def read_gallery() -> tuple[Start, ...]:
    """The examples in page order; the first is the one the tab opens on."""
    return read_examples("attention", Start)
