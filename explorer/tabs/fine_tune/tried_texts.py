"""The texts of the view "Try it": those that a job comes with, or the visitor's own, which the address holds."""

import gradio as gr

from explorer.tabs.fine_tune.try_it import Trying
from explorer.tabs.messages import QUIET


def link_texts(trying: Trying, job: gr.Textbox) -> dict[str, gr.Textbox]:
    """Fill the boxes with the texts of the job in sight, or of a link; returns what the address holds, by its names.

    Args:
        trying: The view.
        job: Holds the id of the job in sight.
    """
    boxes = [trying.text, trying.second]
    # Outside of the view, which need not be in sight when a link is read. Two lines, as a passage may have several.
    typed = [gr.Textbox("", lines=2, visible="hidden") for _ in boxes]
    gr.on(
        [box.change for box in boxes], None, [trying.own, *boxes], typed,
        js="(...texts) => explorer.typedTry(...texts)", **QUIET,
    )  # fmt: skip
    for change, known, fill in (
        (trying.own.change, [trying.own], "fillTry"),
        (typed[0].change, [job, *typed], "restoreTry"),
        (typed[1].change, [job, *typed], "restoreTry"),
    ):
        change(None, [*known, *boxes], boxes, js=f"(...texts) => explorer.{fill}(...texts)", **QUIET)
    return dict(zip(("try_text", "try_second"), typed, strict=True))
