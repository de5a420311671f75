"""Seeds as visitors type them."""

import math

import gradio as gr

from explorer.tabs.messages import QUIET

MOST_SEED = 999_999
READ = f"(Number.isFinite(typed) ? Math.abs(Math.round(typed)) % {MOST_SEED + 1} : 0)"  # as read_seed reads it


def read_seed(typed: float | None) -> int:
    """A seed from 0 to MOST_SEED for whatever stands in the box: Gradio's own bounds answer with a bare "Error"."""
    return abs(int(typed)) % (MOST_SEED + 1) if typed and math.isfinite(typed) else 0


def tidy_seed(box: gr.Number) -> None:
    """Let a box hold the seed that is used, which a link can name, once the visitor has left it or pressed Enter.

    This needs no answer of the server's: a link is copied by the press that leaves the box.
    """
    for event in (box.blur, box.submit):
        event(None, box, box, js=f"typed => {READ}", **QUIET)
