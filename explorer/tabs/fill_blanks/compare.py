"""View: the same blank in several models, side by side."""

from collections.abc import Iterator
from functools import partial

import gradio as gr

from explorer import analysis
from explorer.figures.bars import model_bars
from explorer.figures.compared import models_note
from explorer.figures.notes import itself_note, unknown_note
from explorer.figures.sentences import caption
from explorer.models.card import Ability
from explorer.models.registry import Registry
from explorer.tabs.code import code_of
from explorer.tabs.fill_blanks.view import KEPT, Sentence, chosen_blank, counted_box
from explorer.tabs.later import later_figure
from explorer.tabs.messages import in_place, refused_place
from explorer.tabs.picker import model_options, offer_own
from explorer.tabs.taking_away import download_links
from explorer.tabs.views import View

MOST_MODELS = 6


def build(registry: Registry, sentence: Sentence, first: list[str]) -> View:
    """Lay out the view."""
    with gr.Tab("Several models", id="compare") as tab:
        with gr.Row(elem_classes="controls"):
            others = gr.Dropdown(
                model_options(registry, Ability.FILL_BLANKS), value=first, multiselect=True, scale=4,
                max_choices=MOST_MODELS - 1, label="Compare with", allow_custom_value=True,
            )  # fmt: skip
            offered = partial(model_options, registry, Ability.FILL_BLANKS)
            offer_own(others, offered, lambda card: Ability.FILL_BLANKS in card.abilities)
            which = gr.Number(1, label="Blank", precision=0, scale=1, min_width=80)
        refused = refused_place()
        chart = later_figure()
        below = gr.HTML(padding=False)

    @in_place(registry, outputs=3, ability=Ability.FILL_BLANKS)
    def draw_all(models: Registry, names: list[str], text: str, top_k: int, which: int) -> tuple:
        options = {"text": text, "top_k": int(top_k), "count": 1, "strategy": "independent"}
        ask = partial(analysis.fill_blanks, **options)
        results = tuple(models.run(name, ask) for name in dict.fromkeys(names))
        which = chosen_blank(which, len(results[0].blanks))
        if not which:
            return counted_box(len(results[0].blanks)), *KEPT
        shown = [choice.text for fills in results for choice in fills.blanks[which - 1].choices]
        protocol = "probabilities over each model's own vocabulary, other blanks left open"
        read = partial(analysis.tokenize_text, text=text)
        sizes = [models.run(result.model, read).vocabulary_size for result in results]
        told = itself_note(names) + models_note(results, which - 1, sizes) + unknown_note(shown)
        foot = told + caption([*dict.fromkeys(names), protocol])
        code = code_of(*((result.model, "fill_blanks", options) for result in results))
        links = download_links(results, "models", (text, f"Blank {which}"), code=code)
        return "", gr.Plot(model_bars(results, which - 1), visible=True), foot + links

    def draw(model: str, text: str, top_k: int, others: list[str], which: int) -> Iterator[tuple]:
        yield from draw_all([model, *others][:MOST_MODELS], text, top_k, which)

    inputs = [sentence.model, sentence.text, sentence.top_k, others, which]
    return View(tab, draw, inputs, [refused, chart, below], {"compare": others, "compared_blank": which})
