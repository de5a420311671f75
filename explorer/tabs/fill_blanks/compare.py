"""View: the same blank in several models, side by side."""

from collections.abc import Iterator
from functools import partial

import gradio as gr

from explorer import analysis
from explorer.errors import UnsuitableText
from explorer.figures.bars import model_bars
from explorer.figures.sentences import caption
from explorer.models.card import Ability
from explorer.models.registry import Registry
from explorer.tabs.fill_blanks.view import Sentence, View
from explorer.tabs.messages import in_place
from explorer.tabs.picker import model_options
from explorer.tabs.taking_away import download_links

MOST_MODELS = 6


def build(registry: Registry, sentence: Sentence, first: list[str]) -> View:
    """Lay out the view."""
    with gr.Tab("Several models", id="compare") as tab:
        with gr.Row(elem_classes="controls"):
            others = gr.Dropdown(
                model_options(registry, Ability.FILL_BLANKS), value=first, multiselect=True, scale=4,
                max_choices=MOST_MODELS - 1, label="Compare with",
            )  # fmt: skip
            which = gr.Number(1, label="Blank", minimum=1, precision=0, scale=1, min_width=80)
        chart = gr.Plot(show_label=False, elem_classes="figure")
        below = gr.HTML(padding=False)

    @in_place(registry, outputs=2)
    def draw_all(models: Registry, names: list[str], text: str, top_k: int, which: int) -> tuple:
        ask = partial(analysis.fill_blanks, text=text, top_k=int(top_k), count=1, strategy="independent")
        results = tuple(models.run(name, ask) for name in dict.fromkeys(names))
        if not 1 <= (which or 0) <= len(results[0].blanks):
            raise UnsuitableText(f"The text has {len(results[0].blanks)} blanks; choose one of them to compare.")
        foot = caption([*names, "probabilities over each model's own vocabulary, other blanks left open"])
        return model_bars(results, int(which) - 1), foot + download_links(results, "models")

    def draw(model: str, text: str, top_k: int, others: list[str], which: int) -> Iterator[tuple]:
        yield from draw_all([model, *others][:MOST_MODELS], text, top_k, which)

    inputs = [sentence.model, sentence.text, sentence.top_k, others, which]
    return View(tab, draw, inputs, [chart, below], (others, which))
