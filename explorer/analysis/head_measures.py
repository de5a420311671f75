"""What can be measured of an attention head: a table. Free of torch."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Measure:
    """One number of a head.

    Attributes:
        key: Its name in results.
        label: As a visitor chooses it.
        unit: "bits", "tokens", or "share" for a part of the attention, from 0 to 1.
        says: What it says, in one sentence.
        does: For a share: what a head with a large one does, e.g. "attends to the next token".
    """

    key: str
    label: str
    unit: str
    says: str
    does: str = ""


MEASURES = {
    measure.key: measure
    for measure in (
        Measure(
            "previous",
            "Previous token",
            "share",
            "How much of a token’s attention goes to the token before it.",
            "attends to the previous token",
        ),
        Measure(
            "next",
            "Next token",
            "share",
            "How much of a token’s attention goes to the token after it.",
            "attends to the next token",
        ),
        Measure(
            "same",
            "Same token",
            "share",
            "How much of a token’s attention stays with the token itself.",
            "attends to the token itself",
        ),
        Measure(
            "first",
            "First token",
            "share",
            "How much of a token’s attention goes to the first position, where many models park what they do not need.",
            "attends to the first token",
        ),
        Measure(
            "end",
            "End token",
            "share",
            "How much of a token’s attention goes to the special token after the text: [SEP], or what the family has.",
            "attends to the end token",
        ),
        Measure(
            "punctuation",
            "Punctuation",
            "share",
            "How much of a token’s attention goes to full stops, commas and other punctuation.",
            "attends to punctuation",
        ),
        Measure(
            "induction",
            "Induction",
            "share",
            "On random tokens said twice: how much of the second saying’s attention goes to what followed the first.",
            "attends to what followed the same token before (induction)",
        ),
        Measure(
            "entropy",
            "Entropy",
            "bits",
            "How widely a token’s attention is spread: 0 bits = one token gets it all, each bit more = twice as many.",
        ),
        Measure(
            "distance",
            "Distance",
            "tokens",
            "How far away, on average, the tokens are that get the attention; special tokens do not count.",
        ),
    )
}
