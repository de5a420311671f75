"""View: how far each part of the network went from where it started, and which layers a learned mix listens to."""

from __future__ import annotations

import gradio as gr

from explorer.figures.explore_links import mix_link
from explorer.figures.movements import mix_bars, mix_words, movement_bars, movement_words
from explorer.figures.notes import note
from explorer.figures.sentences import caption
from explorer.tabs.fine_tune.looking import Looked
from explorer.tabs.fine_tune.parts import Part
from explorer.tabs.fine_tune.taking import figure_link, run_links
from explorer.tabs.later import later_figure

VIEW = "moved"
NOT_DONE = "How far the weights moved is measured when the run is done."
PROTOCOL = "norm of the difference over norm of the start (Frobenius), all weights of a part as one vector"
MIX_TITLE = "The learned mix of layers (dotted: all alike)"
MIX_PROTOCOL = "the mix: softmax of one learned number for each layer (ELMo’s s)"


def build(first: Looked) -> tuple[gr.Tab, Part]:
    """Lay out the view."""
    said, _, mixed, _, foot = draw(first)  # plotly draws nothing where it is not in sight
    with gr.Tab("What moved", id=VIEW, elem_id=f"tune-view-{VIEW}") as tab:
        words = gr.HTML(said, padding=False, elem_classes="result", elem_id="tune-moved-words")
        with gr.Column(elem_classes="with-figure", visible=False) as bar_box:
            figure = later_figure("tune-moved")
            bar_picture = gr.HTML(padding=False)
        with gr.Column(elem_classes="with-figure", visible=False) as box:
            mix_said = gr.HTML(mixed, padding=False, elem_classes="result")
            mix_plot = later_figure("tune-mix")
            mix_picture = gr.HTML(padding=False)
        links = gr.HTML(foot, padding=False)

    def update(looked: Looked) -> tuple:
        said, bars, mixed, mix, foot = draw(looked)
        shown = mix is not None
        plots = gr.Plot(bars, visible=bars is not None), gr.Plot(mix, visible=shown)
        boxes = gr.Column(visible=bars is not None), gr.Column(visible=shown)
        pictures = (
            figure_link([looked.status], looked.run, name, says, is_measured=False)
            for name, says in (("movement", "How far each part moved"), ("mix", MIX_TITLE))
        )
        return said, boxes[0], plots[0], boxes[1], mixed, plots[1], foot, *pictures

    def key(looked: Looked) -> tuple:
        return looked.status.id, looked.run, looked.outcome is not None

    outputs = [words, bar_box, figure, box, mix_said, mix_plot, links, bar_picture, mix_picture]
    return tab, Part(VIEW, VIEW, outputs, update, key)


def draw(looked: Looked) -> tuple:
    """Words and bars (None = none) of what moved, words and bars of the mix, and what can be taken away."""
    outcome = looked.outcome
    if outcome is None:
        return note(NOT_DONE), None, "", None, ""
    said = movement_words(outcome, looked.the_run.recipe.method)
    bars = movement_bars(outcome.movements)
    mixed, mix = "", None
    if outcome.mix:
        mixed, mix = mix_words(outcome.mix) + mix_link(looked.the_run.model, outcome.mix), mix_bars(outcome.mix)
    how = ([PROTOCOL] if bars is not None else []) + ([MIX_PROTOCOL] if mix is not None else [])
    foot = caption([looked.the_run.model, *how]) + run_links(looked, ("movements", "mix"), "movement", "")
    return said, bars, mixed, mix, foot
