"""Seeds as visitors type them."""

import math

import gradio as gr

MOST_SEED = 999_999


def read_seed(typed: float | None) -> int:
    """A seed from 0 to MOST_SEED for whatever stands in the box: Gradio's own bounds answer with a bare "Error"."""
    return abs(int(typed)) % (MOST_SEED + 1) if typed and math.isfinite(typed) else 0


def tidy_seed(typed: float | None) -> object:
    """What the box is to hold once the visitor has left it: the seed that is used, which a link can name."""
    number = read_seed(typed)
    return gr.skip() if typed == number else number
