"""View: one head, as lines between tokens or as a matrix, at any length."""

from dataclasses import asdict

import gradio as gr
import numpy as np

from explorer.analysis.attention_packing import PackedReading, head_counts, select_weights
from explorer.errors import ExplorerError
from explorer.figures.attention import pack_head, pack_view
from explorer.figures.notes import foreign_note
from explorer.figures.sentences import caption
from explorer.figures.token_words import bytes_note
from explorer.models.card import Ability, ModelCard
from explorer.models.registry import Registry
from explorer.tabs.attention.code import reading_code
from explorer.tabs.attention.gallery import Start
from explorer.tabs.attention.readings import Ask, Readings, read_ask, tidy_ask
from explorer.tabs.attention.texts import blank_note
from explorer.tabs.attention.view import Prompt
from explorer.tabs.attention.which import Which, read_which
from explorer.tabs.messages import QUIET, fault_message, in_place
from explorer.tabs.views import View
from explorer.tabs.visitors import find_model

ON_LOAD = "explorer.attentionHead(element, props, watch, server);"
DRESS = "look => explorer.attention.dress(look)"
LATER = {"later": True}  # left to the queue, which tells progress and errors
PAPER = "https://arxiv.org/abs/1706.03762"
WEIGHTS = "softmax(QKᵀ/√d)"
OF_T5 = "softmax(QKᵀ + b), b by distance; cross-attention, of the decoder to the encoder: softmax(QKᵀ)"
OWN_WEIGHTS = {  # by type, where places are told apart in the attention itself; the papers' formulas
    "t5": OF_T5,
    "mt5": OF_T5,
    "umt5": OF_T5,
    "xlnet": "softmax((QKᵀ + QRᵀ + …)/√d), R by distance",
    "deberta": "softmax((QKᵀ + QRᵀ + …)/√3d), R by distance",
    "deberta-v2": "softmax((QKᵀ + QRᵀ + …)/√3d), R by distance",
}


def build(registry: Registry, prompt: Prompt, readings: Readings, first: tuple[PackedReading, Ask, Start]) -> View:
    """Lay out the view; it fetches each further head by itself.

    Args:
        registry: The models on offer.
        prompt: What is read, and which head is looked at.
        readings: Where heads are fetched from.
        first: What it opens on: the reading, what was asked, and the example.
    """

    def fetch_head(asked: object) -> dict[str, str]:
        try:
            ask, word = read_ask(asked)
            models, name = find_model(registry, ask.model)
            reading = readings.with_layer(models, tidy_ask(models, name, ask), word)
            which = read_which(word, head_counts(reading))
            return {"which": which.word, "weights": pack_head(_weights(reading, which))}
        except ExplorerError as error:
            return {"error": str(error)}
        except Exception:  # a fault of ours: the visitor gets a reference to it, the log the rest
            return {"error": fault_message()}

    def read_text(asked: object) -> dict[str, object]:
        try:
            ask, word = read_ask(asked)
            models, name = find_model(registry, ask.model)
            if not any(status.name == name and status.state == "ready" for status in models.status()):
                return LATER
            if blank_note(models.card(name), ask.text):
                return LATER
            ask = tidy_ask(models, name, ask)
            reading = readings.with_layer(models, ask, word)
            return LATER if unknown_note(reading) else {"view": draw_head(reading, ask, models.card(name), word)}
        except ExplorerError:  # the queue, which asks for the same, says what is wrong
            return LATER

    def read_ahead(asked: object) -> dict[str, str]:
        """All layers, once somebody stays with a text."""
        try:
            ask, _ = read_ask(asked)
            models, name = find_model(registry, ask.model)
            readings.all_layers(models, tidy_ask(models, name, ask))
            return {}
        except ExplorerError as error:
            return {"error": str(error)}

    reading, ask, start = first
    card = registry.card(start.model)
    with gr.Tab("Head", id="head") as tab:
        drawing = gr.HTML(
            draw_head(reading, ask, card, start.at, start.look), html_template="<div></div>", js_on_load=ON_LOAD,
            padding=False, elem_classes="result",
            elem_id="attention-head", server_functions=[fetch_head, read_text, read_ahead],
        )  # fmt: skip
        below = gr.HTML(draw_foot(reading, ask, card), padding=False)

    @in_place(registry, outputs=2, ability=Ability.EMBED)
    def draw(models: Registry, model: str, text: str, second: str, new_tokens: int, which: str) -> tuple:
        ask = tidy_ask(models, model, Ask(model, text, second, int(new_tokens)))
        reading = readings.with_layer(models, ask, which)
        card = models.card(model)
        notes = blank_note(card, text, _tokens(reading)) + unknown_note(reading)
        return draw_head(reading, ask, card, which), notes + draw_foot(reading, ask, card)

    prompt.which.change(None, prompt.which, None, js="which => explorer.attention.go(which)", **QUIET)
    prompt.look.change(None, prompt.look, None, js=DRESS, **QUIET)
    prompt.model.change(None, prompt.model, None, js="model => explorer.attention.choose(model)", **QUIET)
    return View(tab, draw, [*prompt.inputs, prompt.which], [drawing, below])


def draw_head(reading: PackedReading, ask: Ask, card: ModelCard, word: str, look: str | None = None) -> str:
    """What the view shows of a head; a look only where the page has none yet."""
    which = read_which(word, head_counts(reading))
    code = reading_code(card, ask, of_a_head=True)
    return pack_view(reading, asdict(ask), which.word, _weights(reading, which), code, look)


def draw_foot(reading: PackedReading, ask: Ask, card: ModelCard) -> str:
    """What the weights are of."""
    is_written = reading.written_by_model or (ask.new_tokens and reading.second_text)
    wrote = f"written by the model: “{reading.second_text.strip()}”" if is_written else ""
    weights = OWN_WEIGHTS.get(card.model_type, WEIGHTS)
    rows = "mean, and rollout where there is one, are made of these; each row sums to 1"
    return caption([reading.model, wrote, f"weights of a head: {weights}", rows], PAPER)


def unknown_note(reading: PackedReading) -> str:
    """What to know of a text that the model can hardly read."""
    tokens, text = _tokens(reading), f"{reading.text} {reading.second_text or ''}"
    return foreign_note(tokens, text) + bytes_note(tokens, text)


def _tokens(reading: PackedReading) -> list[str]:
    return [token.text for token in reading.stacks[0].queries]


def _weights(reading: PackedReading, which: Which) -> np.ndarray:
    return select_weights(reading, which.stack, which.layer, which.head, is_rollout=which.is_rollout)
