"""View: a beam search, its beams drawn as they live and die."""

from collections.abc import Iterator
from contextlib import closing
from functools import partial

import gradio as gr

from explorer import analysis
from explorer.analysis.beam_results import BeamSearch
from explorer.analysis.decoding_strategies import CONTROLS
from explorer.figures.beam_tree import beam_tree, beams_note
from explorer.figures.sentences import caption
from explorer.figures.style import count_of
from explorer.models.registry import Registry
from explorer.tabs.code import code_of
from explorer.tabs.generate.view import Prompt
from explorer.tabs.streaming import stream_steps
from explorer.tabs.taking_away import download_links
from explorer.tabs.views import View

NUMBERS = "numbers: probability of the text, and the geometric mean of its tokens’; logarithms on hover"
PAPER = "https://arxiv.org/abs/1409.3215"
MOST_TOKENS = 30
FIRST_TOKENS = 12
BEAM_SEARCH = "from explorer.analysis.beam_results import BeamSearch"


def build(registry: Registry, prompt: Prompt) -> View:
    """Lay out the view."""
    with gr.Tab("Beams", id="beams") as tab:
        with gr.Row(elem_classes="controls"):
            width = gr.Slider(
                1, 8, CONTROLS["beams"].default, step=1, label="Beams", info=CONTROLS["beams"].hint, scale=2
            )
            length = gr.Slider(2, MOST_TOKENS, FIRST_TOKENS, step=1, label="Tokens", info="How far to look.", scale=2)
            dropped = gr.Checkbox(True, label="Show what was dropped", scale=1)
        drawing = gr.HTML(padding=False, elem_classes="result", js_on_load="explorer.tellBeams(element);")
        below = gr.HTML(padding=False)

    def draw(model: str, text: str, width: int, length: int, dropped: bool) -> Iterator[tuple]:
        options = {"prompt": text, "beams": int(width), "max_new_tokens": int(length)}
        ask = partial(analysis.search_beams, **options)
        steps, message = [], ""
        with closing(stream_steps(registry, model, ask)) as found:
            for message, step in found:
                steps += [step] if step else []
                tree = beam_tree(steps, with_dropped=dropped, is_growing=True) if step else gr.skip()
                yield message, tree, gr.skip()
        if steps:
            foot = beams_note(steps) + caption([model, count_of(int(width), "beam"), NUMBERS], PAPER)
            made = f"BeamSearch({model!r}, {text!r}, result_1)"
            code = code_of((model, "search_beams", options), imports=[BEAM_SEARCH], made=made)
            links = download_links(BeamSearch(model, text, tuple(steps)), "beams", (text, model), code=code)
            yield message, beam_tree(steps, with_dropped=dropped), foot + links

    inputs = [prompt.model, prompt.text, width, length, dropped]
    return View(tab, draw, inputs, [drawing, below], {"beam_width": width, "beam_tokens": length, "dropped": dropped})
