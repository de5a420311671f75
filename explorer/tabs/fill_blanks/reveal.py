"""View: one blank at a time, and how each fill changes what is expected at the rest."""

from functools import partial

import gradio as gr

from explorer import analysis
from explorer.analysis.results import BlankReveal
from explorer.analysis.strategies import STRATEGIES
from explorer.figures.bars import step_bars
from explorer.figures.notes import reveal_note, step_note
from explorer.figures.sentences import caption, reveal_list
from explorer.figures.settled import settled_bars
from explorer.figures.style import with_title
from explorer.models.card import Ability
from explorer.models.registry import Registry
from explorer.settings import settings
from explorer.tabs.code import code_of
from explorer.tabs.fill_blanks.view import Sentence
from explorer.tabs.later import later_figure
from explorer.tabs.messages import QUIET, in_place
from explorer.tabs.taking_away import download_links, picture_title
from explorer.tabs.views import View

OPEN = (
    "bars of a step: probability of each word where the blanks that are not filled yet stay open; those after the last "
    "step: entropy of each blank"
)
FIRST_STEP = 1  # what the first fill does; with none, this is the view Answer
HERE = "Of this view alone: “Independent” and “Joint search” have no steps."
ORDERS = [(strategy.label, strategy.key) for strategy in STRATEGIES.values() if strategy.reveals]


def build(registry: Registry, sentence: Sentence) -> View:
    """Lay out the view and wire its steps."""
    with gr.Tab("Watch it", id="watch") as tab:
        with gr.Row(elem_classes="controls"):
            order = gr.Radio(ORDERS, value="most_confident_first", label="Order", info=HERE, scale=2)
            step = gr.Slider(
                0, settings().most_blanks, FIRST_STEP, step=1, label="Blanks filled", info="Arrow keys walk the steps.",
                scale=3, elem_id="watch-step",
            )  # fmt: skip
            following = gr.Button("Next", size="sm", scale=0, min_width=80)
        history = gr.HTML(padding=False, elem_classes="result")
        chart = later_figure()
        below = gr.HTML(padding=False)
        known = gr.State(None)

    def show(reveal: BlankReveal | None, at: int) -> tuple:
        if reveal is None:
            return gr.skip(), gr.skip(), gr.skip()
        at = min(int(at), len(reveal.steps))
        history = reveal_list(reveal, at) + step_note(reveal, at)
        if at < len(reveal.steps):
            now = reveal.steps[at]
            bars = with_title(step_bars(now.blanks, now.text), picture_title((now.text, reveal.model)))
            return history, gr.Plot(bars, visible=True), "Next"
        chart = gr.Plot(settled_bars(reveal), visible=True) if at > 1 else gr.Plot(visible=False)
        return history, chart, "Start over"

    @in_place(registry, outputs=6, ability=Ability.FILL_BLANKS)
    def draw(
        models: Registry, model: str, text: str, top_k: int, order: str, at: float, known: BlankReveal | None
    ) -> tuple:
        options = {"text": text, "strategy": order, "top_k": int(top_k)}
        reveal = models.run(model, partial(analysis.reveal_blanks, **options))
        foot = caption([reveal.model, STRATEGIES[reveal.strategy].label.lower(), OPEN])
        code = code_of((reveal.model, "reveal_blanks", options))
        links = download_links(reveal, "steps", (reveal.text, reveal.model), code=code)
        is_asked = known == reveal or (known is None and at != FIRST_STEP)  # by a link, or drawn again
        begin = min(int(at), len(reveal.steps)) if is_asked else min(FIRST_STEP, len(reveal.steps) - 1)
        steps = gr.Slider(maximum=len(reveal.steps), value=begin)
        return reveal, steps, *show(reveal, begin), reveal_note(reveal) + foot + links

    def follow(strategy: str) -> object:
        return strategy if STRATEGIES[strategy].reveals else gr.skip()

    def forward(reveal: BlankReveal | None, at: int) -> object:
        return (int(at) + 1) % (len(reveal.steps) + 1) if reveal else gr.skip()

    sentence.strategy.input(follow, sentence.strategy, order, **QUIET)
    following.click(forward, [known, step], step, trigger_mode="multiple", **QUIET)
    step.change(show, [known, step], [history, chart, following], **QUIET)
    inputs = [sentence.model, sentence.text, sentence.top_k, order, step, known]
    outputs = [known, step, history, chart, following, below]
    return View(tab, draw, inputs, outputs, {"order": order}, linked={"step": step})
