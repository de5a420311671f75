"""Figures that stand on the page before they are drawn."""

import gradio as gr


def later_figure(elem_id: str | None = None) -> gr.Plot:
    """A figure that is not drawn yet; until it is, it takes no place.

    It is shown with `visible=True`. Of two values that come within milliseconds of each other while it is still out of
    the page, Gradio may keep the older: a figure that is drawn in stages is a staged_figure.
    """
    return gr.Plot(visible=False, show_label=False, elem_classes="figure", elem_id=elem_id)


def staged_figure(elem_id: str | None = None) -> gr.Plot:
    """The same for one that is drawn more than once in an answer: it is in the page all the time.

    None as its value makes it take no place again; a button of its PNG has to come with it.
    """
    return gr.Plot(show_label=False, elem_classes=["figure", "staged"], elem_id=elem_id)
