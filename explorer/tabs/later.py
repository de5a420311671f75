"""Figures that stand on the page before they are drawn."""

import gradio as gr


def later_figure(elem_id: str | None = None) -> gr.Plot:
    """A figure that is not drawn yet; until it is, it takes no place."""
    return gr.Plot(visible=False, show_label=False, elem_classes="figure", elem_id=elem_id)
