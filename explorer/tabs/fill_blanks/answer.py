"""View: the likeliest sentences, and what the model expects at each blank."""

from functools import partial

import gradio as gr
from gradio.components.plot import PlotData

from explorer import analysis
from explorer.analysis.results import BlankFills
from explorer.analysis.strategies import STRATEGIES
from explorer.figures.bars import blank_bars
from explorer.figures.notes import fills_note
from explorer.figures.sentences import caption, completion_list
from explorer.models.card import Ability
from explorer.models.registry import Registry
from explorer.tabs.code import code_of
from explorer.tabs.drawings import draw_once
from explorer.tabs.fill_blanks.view import Sentence
from explorer.tabs.messages import in_place
from explorer.tabs.taking_away import download_links
from explorer.tabs.views import View


def build(registry: Registry, sentence: Sentence, first: BlankFills) -> View:
    """Lay out the view, drawn with a finished example."""
    start = {"text": first.text, "top_k": 5, "count": 5, "strategy": first.strategy}
    sentences, figure, foot = draw_fills(registry, first, start)
    with gr.Tab("Answer", id="answer") as tab:
        completions = gr.HTML(sentences, padding=False, elem_classes="result")
        chart = gr.Plot(figure, show_label=False, elem_classes="figure")
        below = gr.HTML(foot, padding=False)

    @in_place(registry, outputs=3, ability=Ability.FILL_BLANKS)
    def draw(models: Registry, model: str, text: str, top_k: int, count: int, strategy: str) -> tuple:
        options = {"text": text, "top_k": int(top_k), "count": int(count), "strategy": strategy}
        return draw_fills(models, models.run(model, partial(analysis.fill_blanks, **options)), options)

    inputs = [sentence.model, sentence.text, sentence.top_k, sentence.count, sentence.strategy]
    return View(tab, draw, inputs, [completions, chart, below])


def draw_fills(models: Registry, fills: BlankFills, options: dict[str, object]) -> tuple[str, PlotData, str]:
    """The result as HTML, chart and foot; the options are those of fill_blanks that it is of."""
    protocol = "probabilities over the whole vocabulary" + ", every other blank left open" * (len(fills.blanks) > 1)
    foot = caption(
        [fills.model, STRATEGIES[fills.strategy].label.lower(), protocol], models.card(fills.model).paper_url
    )
    best = [f"Best: {fills.completions[0].text}"] if fills.completions else []
    code = code_of((fills.model, "fill_blanks", options))
    links = download_links(fills, "blanks", (fills.text, *best, fills.model), code=code)
    return completion_list(fills), draw_once(blank_bars, fills), fills_note(fills) + foot + links
