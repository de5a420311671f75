"""View: what each layer of the model would say next, were it the last."""

from functools import partial

import gradio as gr

from explorer import analysis
from explorer.figures.layers import layer_table, layers_note
from explorer.figures.notes import note
from explorer.figures.sentences import caption
from explorer.figures.style import count_of
from explorer.figures.token_words import shown_token
from explorer.models.card import Ability
from explorer.models.registry import Registry
from explorer.tabs.code import code_of
from explorer.tabs.generate.view import Prompt
from explorer.tabs.messages import in_place
from explorer.tabs.taking_away import download_links
from explorer.tabs.views import View

MOST_TOKENS, FIRST_TOKENS = 8, 4
SOURCE = "https://www.lesswrong.com/posts/AcKRB8wDpdaN6v6ru/interpreting-gpt-the-logit-lens"
WARNING = (
    "This is the logit lens: each layer’s vector is read as if it were the last’s. The last layer's words are the "
    "model's answer. Earlier layers were never trained to be read so: what they say is a hint at what is known there, "
    "not a proof."
)


def build(registry: Registry, prompt: Prompt) -> View:
    """Lay out the view."""
    with gr.Tab("Layer by layer", id="layers") as tab:
        count = gr.Slider(
            1, MOST_TOKENS, FIRST_TOKENS, step=1, label="Tokens of each layer",
            info="How many of the likeliest stand beside each other.",
        )  # fmt: skip
        table = gr.HTML(padding=False, elem_classes="result", elem_id="layer-table")
        below = gr.HTML(padding=False)

    @in_place(registry, outputs=2, ability=Ability.GENERATE)
    def draw(models: Registry, model: str, text: str, count: int) -> tuple:
        options = {"prompt": text, "top_k": int(count)}
        result = models.run(model, partial(analysis.read_layers, **options))
        where = f"at the last of {count_of(len(result.seen), 'token')}, “{shown_token(result.seen[result.position])}”"
        foot = caption([result.model, where, f"read by {result.applied}"], SOURCE)
        links = download_links(result, "layers", code=code_of((result.model, "read_layers", options)))
        return layer_table(result), layers_note(result) + note(WARNING) + foot + links

    return View(tab, draw, [prompt.model, prompt.text, count], [table, below], {"layer_tokens": count})
