"""A use in its sentence, and how near it is: HTML strings, every text escaped."""

from collections.abc import Sequence
from html import escape

from explorer.figures.style import decimals


def use_sentence(sentence: str, position: Sequence[int]) -> str:
    """A sentence with its use marked.

    Args:
        sentence: Any text.
        position: Where the use starts and ends (exclusive), in characters.
    """
    start, end = position
    return (
        f"<span class='use-sentence' dir='auto'>{escape(sentence[:start])}<mark>{escape(sentence[start:end])}</mark>"
        f"{escape(sentence[end:])}</span>"
    )


def cosine_bar(cosine: float, kind: str = "", *, digits: int = 2) -> str:
    """A cosine as a bar and a number.

    Args:
        cosine: In [-1, 1]; below 0 there is no bar.
        kind: A further class, with a space before it.
        digits: Decimals that are shown.
    """
    return (
        f"<span class='cosine{kind}' title='cosine {cosine!r}'><i style='--c:{max(cosine, 0):.3f}'></i>"
        f"<span class='number'>{decimals(cosine, digits)}</span></span>"
    )
