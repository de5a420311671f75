"""View: two sentences, and the words whose probability differs most between them."""

from functools import partial

import gradio as gr

from explorer import analysis
from explorer.analysis.blanks import split_at_any_blank
from explorer.errors import UnsuitableText
from explorer.figures.bars import NO_DIFFERENCE, contrast_bars
from explorer.figures.compared import contrast_note
from explorer.figures.notes import note, unknown_note
from explorer.figures.sentences import caption
from explorer.models.card import Ability
from explorer.models.registry import Registry
from explorer.tabs.code import code_of
from explorer.tabs.fill_blanks.view import KEPT, Sentence, chosen_blank, counted_box
from explorer.tabs.later import later_figure
from explorer.tabs.messages import error_box, in_place, refused_place
from explorer.tabs.taking_away import download_links
from explorer.tabs.views import View

WORDS = 16
NO_OTHER = "Write a second sentence above to compare with: change a word of the first, and keep the blank."


def build(registry: Registry, sentence: Sentence, first: str) -> View:
    """Lay out the view."""
    with gr.Tab("Two sentences", id="contrast") as tab:
        with gr.Row(elem_classes="controls"):
            other = gr.Textbox(
                first, label="Second sentence", info="Change a word of the first sentence and keep the blank.", scale=4
            )
            which = gr.Number(1, label="Blank", precision=0, scale=1, min_width=80)
        refused = refused_place()
        chart = later_figure()
        below = gr.HTML(padding=False)

    @in_place(registry, outputs=3, ability=Ability.FILL_BLANKS)
    def draw(models: Registry, model: str, text: str, other: str, which: int) -> tuple:
        count = len(split_at_any_blank(text)) - 1
        which = chosen_blank(which, count)
        if count and not which:
            return counted_box(count), *KEPT
        if not other.strip():
            return error_box(NO_OTHER, is_idle=True), *KEPT
        options = {"text": text, "other_text": other, "top_k": WORDS, "blank": which or 1}
        ask = partial(analysis.contrast_texts, **options)
        try:
            contrast = models.run(model, ask)
        except UnsuitableText as error:  # the analysis numbers its texts; here they have names
            named = str(error).replace("Text 1: ", "First sentence: ", 1).replace("Text 2: ", "Second sentence: ", 1)
            if str(error).startswith("Text 1: "):
                raise UnsuitableText(named) from None
            return error_box(named), *KEPT  # below what is at fault
        if not contrast.words:
            return "", gr.Plot(visible=False), note(NO_DIFFERENCE)
        divergence = f"Jensen-Shannon divergence {contrast.divergence_bits:.3f} bits (0 = same, 1 = nothing shared)"
        told = contrast_note(contrast) + unknown_note(word.text for word in contrast.words)
        foot = told + caption([contrast.model, f"the {len(contrast.words)} words that differ most", divergence])
        code = code_of((contrast.model, "contrast_texts", options))
        at = f"Blank {contrast.blank}, {contrast.model}" if count > 1 else contrast.model
        picture = (f"First: {text}", f"Second: {other}", at)
        links = download_links(contrast, "contrast", picture, code=code)
        return "", gr.Plot(contrast_bars(contrast), visible=True), foot + links

    own = {"other": other, "blank": which}
    return View(tab, draw, [sentence.model, sentence.text, other, which], [refused, chart, below], own)
