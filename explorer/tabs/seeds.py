"""Seeds as visitors type them."""

import math

MOST_SEED = 999_999


def read_seed(typed: float | None) -> int:
    """A seed from 0 to MOST_SEED for whatever stands in the box: Gradio's own bounds answer with a bare "Error"."""
    return abs(int(typed)) % (MOST_SEED + 1) if typed and math.isfinite(typed) else 0
