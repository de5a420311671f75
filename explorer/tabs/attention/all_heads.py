"""View: every head of the model in little; a press opens one."""

import gradio as gr

from explorer.analysis.attention_packing import head_counts
from explorer.analysis.head_thumbnails import draw_thumbnails, thumbnail_rows
from explorer.figures.attention import THUMBNAIL_CELLS, pack_thumbnails
from explorer.figures.attention_words import heads_note
from explorer.figures.sentences import caption
from explorer.models.card import Ability
from explorer.models.registry import Registry
from explorer.tabs.attention.code import reading_code
from explorer.tabs.attention.look import read_shown, tidy_look
from explorer.tabs.attention.readings import Ask, Readings, tidy_ask
from explorer.tabs.attention.view import Prompt
from explorer.tabs.attention.which import read_which
from explorer.tabs.messages import in_place
from explorer.tabs.views import View

ON_LOAD = "explorer.attentionAll(element, props, watch);"
PAPER = "https://arxiv.org/abs/1906.05714"


def build(registry: Registry, prompt: Prompt, readings: Readings) -> View:
    """Lay out the view."""
    with gr.Tab("All heads", id="all") as tab:
        grid = gr.HTML(
            "", html_template="<div></div>", js_on_load=ON_LOAD, padding=False, elem_classes="result",
            elem_id="attention-all",
        )  # fmt: skip
        below = gr.HTML(padding=False)

    @in_place(registry, outputs=2, ability=Ability.EMBED)
    def draw(models: Registry, model: str, text: str, second: str, new_tokens: int, which: str, look: str) -> tuple:
        ask = tidy_ask(models, model, Ask(model, text, second, int(new_tokens)))
        reading = readings.all_layers(models, ask)
        look = tidy_look(look)
        shown = read_shown(look)
        drawn = [draw_thumbnails(stack, THUMBNAIL_CELLS, shown) for stack in reading.stacks]
        words = [f"{layers} layers of {heads} heads, {name}" for name, (layers, heads) in head_counts(reading).items()]
        at = read_which(which, head_counts(reading)).word
        rows = thumbnail_rows(reading.model, shown, drawn)
        code = reading_code(models.card(model), ask, of_a_head=False)
        foot = heads_note(reading) + caption([reading.model, *words], PAPER)
        return pack_thumbnails(reading, at, look, drawn, rows, code), foot

    return View(tab, draw, [*prompt.inputs, prompt.which, prompt.look], [grid, below], {"look": prompt.look})
