"""View: two sentences, and the words whose probability differs most between them."""

from functools import partial

import gradio as gr

from explorer import analysis
from explorer.figures.bars import contrast_bars
from explorer.figures.sentences import caption
from explorer.models.registry import Registry
from explorer.tabs.fill_blanks.view import Sentence, View
from explorer.tabs.messages import in_place
from explorer.tabs.taking_away import download_links

WORDS = 16


def build(registry: Registry, sentence: Sentence, first: str) -> View:
    """Lay out the view."""
    with gr.Tab("Two sentences", id="contrast") as tab:
        with gr.Row(elem_classes="controls"):
            other = gr.Textbox(
                first, label="Second sentence", info="Change a word of the first sentence and keep the blank.", scale=4
            )
            which = gr.Number(1, label="Blank", minimum=1, precision=0, scale=1, min_width=80)
        chart = gr.Plot(show_label=False, elem_classes="figure")
        below = gr.HTML(padding=False)

    @in_place(registry, outputs=2)
    def draw(models: Registry, model: str, text: str, other: str, which: int) -> tuple:
        ask = partial(analysis.contrast_texts, text=text, other_text=other, top_k=WORDS, blank=which)
        contrast = models.run(model, ask)
        divergence = f"Jensen-Shannon divergence {contrast.divergence_bits:.3f} bits (0 = same, 1 = nothing shared)"
        foot = caption([contrast.model, f"the {WORDS} words that differ most", divergence])
        return contrast_bars(contrast), foot + download_links(contrast, "contrast")

    return View(tab, draw, [sentence.model, sentence.text, other, which], [chart, below], (other, which))
