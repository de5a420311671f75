"""What is said of a language model of a domain."""

from collections.abc import Sequence

from explorer.training.tuning.blanked_words import Blank
from explorer.training.tuning.results import Judged, wrong_first

PERPLEXITY = "perplexity"
BITS_PER_BYTE = "bits_per_byte"


def measure_fills(fills: Sequence[tuple[Blank | None, str, float]]) -> tuple[Judged, ...]:
    """Blanks and what was written there, those that are wrong with most confidence first.

    Args:
        fills: Of each text the blank, if one suits, the likeliest token and its probability.
    """
    return wrong_first(
        Judged(blank.text, blank.word, fill, probability, is_right=fill == blank.word)
        for blank, fill, probability in fills
        if blank is not None
    )
