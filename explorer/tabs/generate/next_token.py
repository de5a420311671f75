"""View: the distribution of the next token, before and after each control, while a slider moves."""

import json
from dataclasses import replace
from functools import partial

import gradio as gr

from explorer import analysis
from explorer.analysis.branches import token_ids, written_text
from explorer.analysis.decoding_strategies import STRATEGIES
from explorer.analysis.next_token_results import MOST_TOKENS
from explorer.figures.next_token import pack_next_tokens
from explorer.figures.notes import note
from explorer.figures.sentences import caption
from explorer.models.card import Ability
from explorer.models.registry import Registry
from explorer.tabs.code import code_of
from explorer.tabs.generate.controls import SLIDERS
from explorer.tabs.generate.desk import Desk
from explorer.tabs.generate.view import Prompt
from explorer.tabs.messages import QUIET, in_place
from explorer.tabs.taking_away import download_links
from explorer.tabs.views import View

PLACES = [("The prompt", "prompt"), ("The text written so far", "written")]
BEFORE_CONTROLS = "# What the model itself says, before any control."
TAKEN = 50  # tokens in the downloads, as next_tokens gives them where it is not asked for more
ON_LOAD = "explorer.nextToken(element, props, watch);"
NOT_WRITTEN = "Nothing is written from this prompt yet, so that this is what follows the prompt. Press Write."
WRITTEN_ANEW = (
    "A link writes the text anew, with the settings as they stand: neither branches, nor where it was stopped or "
    "written on."
)
UNDRAWN = {  # by the strategy, where the likeliest token is {token}; {after} says after what, where a control is moved
    "greedy": "Nothing is drawn by lot: greedy takes the likeliest token{after}, {token}.",
    "beams": "Nothing is drawn by lot: beam search goes on with several of the likeliest{after} at once; see the view "
    "Beams.",
    "contrastive_greedy": "Nothing is drawn by lot: with a penalty alpha of 0 contrastive search takes the likeliest "
    "token{after}, {token}, as greedy does.",
    "contrastive": "Nothing is drawn by lot: contrastive search takes {token}, the likeliest{after}, or another of the "
    "likeliest that is less like what stands there.",
}
PAPER = "https://arxiv.org/abs/1904.09751"


def build(registry: Registry, prompt: Prompt, desk: gr.State, runs: list[gr.events.Dependency]) -> View:
    """Lay out the view; the sliders reach its drawing without the server.

    Args:
        registry: The models on offer.
        prompt: What it looks behind.
        desk: Of the visitor.
        runs: Events after which there is another text.
    """
    with gr.Tab("Next token", id="next") as tab:
        place = gr.Radio(PLACES, value="prompt", label="What follows", show_label=False, container=False)
        drawing = gr.HTML(
            "", html_template="<div></div>", js_on_load=ON_LOAD, padding=False, elem_classes="result",
            elem_id="next-token",
        )  # fmt: skip
        below = gr.HTML(padding=False)

    @in_place(registry, outputs=2, ability=Ability.GENERATE)
    def draw(models: Registry, model: str, text: str, place: str, desk: Desk) -> tuple:
        tree, written = desk.tree, ()
        if place == "written" and (tree.model, tree.prompt) == (model, text):
            written = token_ids(tree, tree.here)
        options = {"prompt": text, "written": written}
        most = models.run(model, partial(analysis.next_tokens, **options, top_k=MOST_TOKENS))
        result = replace(most, tokens=most.tokens[:TAKEN])  # as the code has it; the page names what is kept, far down
        ending = text + written_text(tree, tree.here) if written else text
        foot = caption([result.model, "bars: over the whole vocabulary", "computed in the browser"], PAPER)
        told = (note(WRITTEN_ANEW) if written else note(NOT_WRITTEN)) if place == "written" else ""
        code = code_of((result.model, "next_tokens", options), before=[BEFORE_CONTROLS])
        return pack_next_tokens(most, ending), told + foot + download_links(result, "next-token", code=code)

    sliders = [prompt.controls[name] for name in SLIDERS]
    acting = json.dumps({key: list(strategy.controls) for key, strategy in STRATEGIES.items()})
    names, undrawn = json.dumps(list(SLIDERS)), json.dumps(UNDRAWN)
    alpha = list(SLIDERS).index("penalty_alpha")
    words = f"({undrawn})[key === 'contrastive' && values[{alpha}] === 0 ? 'contrastive_greedy' : key]"
    js = f"(key, ...values) => explorer.setControls({names}, ({acting})[key] ?? [], values, {words})"
    for moved in (prompt.strategy, *sliders):
        moved.change(None, [prompt.strategy, *sliders], None, js=js, **QUIET)
    tab.select(None, [prompt.strategy, *sliders], None, js=js, **QUIET)
    return View(tab, draw, [prompt.model, prompt.text, place, desk], [drawing, below], {"after": place}, after=runs)
