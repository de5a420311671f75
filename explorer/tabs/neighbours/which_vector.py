"""The control "Which vector": a layer or a sum of layers, of which pieces, and how it is adjusted."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import Any

import gradio as gr
import numpy as np
from jaxtyping import Float

from explorer.analysis.embedding_results import Occurrences
from explorer.analysis.vectors import choose_vectors, describe_vectors
from explorer.errors import UnsuitableText
from explorer.tabs.layer_slider import build_layer_slider, read_layer, without_bounds
from explorer.tabs.messages import QUIET

LAYER, LAST_FOUR, WEIGHTED, SOFTMAX, NORMALISED = "layer", "last_four", "weighted", "softmax", "normalised"
COMBINE_CHOICES = [
    ("one layer", LAYER),
    ("sum of the last four", LAST_FOUR),
    ("weighted sum of all", WEIGHTED),
    ("weighted by softmax (ELMo)", SOFTMAX),
    ("weighted sum of normalised layers", NORMALISED),
]
PIECES_CHOICES = [("their mean", "mean"), ("the first", "first"), ("the last", "last")]
ADJUST_CHOICES = [("as it is", "none"), ("centred", "centred"), ("z-scored", "z_scored")]
WEIGHED = {  # as the engine is asked for it
    WEIGHTED: {"combine": "weighted", "softmax": False},
    SOFTMAX: {"combine": "weighted", "softmax": True},
    NORMALISED: {"combine": "weighted_normalised", "softmax": False},
}
WEIGHTS_LABELS = {
    WEIGHTED: "Weight of each layer",
    SOFTMAX: "Score of each layer, made a weight by softmax",
    NORMALISED: "Weight of each normalised layer",
}
WEIGHTS_HINTS = {
    WEIGHTED: "Type one number for each layer, from layer 0 up: 0.2, 0.5, 0.3. Left empty, all layers weigh the same.",
    SOFTMAX: (
        "Type one number for each layer, from layer 0 up: 1, 2, 0. Softmax turns them into weights that add up to 1. "
        "Left empty, all layers weigh the same. ELMo learns these scores with each task; here they are set by hand."
    ),
    NORMALISED: (
        "Type one number for each layer, from layer 0 up: 0.2, 0.5, 0.3. Each layer is brought to mean 0 and spread 1 "
        "first, so that none counts for more by its length. Fine-tune learns such weights with a task (“Head on a "
        "learned mix of frozen layers”), and “What moved” there leads here with them."
    ),
}
ADJUST_HINT = "Centred: less the mean of all uses. Z-scored: then divided by the spread of each number."
FEW_DIGITS = 8  # weights are repeated in words up to this many
SEPARATOR = re.compile(r"[,;\s]+")
NOT_KNOWN = "Which vector is asked for by a layer, a way to join layers, weights, pieces and an adjustment."


@dataclass(frozen=True)
class Vector:
    """What the visitor chose, in the order of Which.inputs.

    Attributes:
        layer: 0 = input embeddings.
        combine: "layer", "last_four", or a key of WEIGHED.
        weights: Of the latter, as typed; "" = all alike.
        adjust: "none", "centred" or "z_scored".
        pieces: "mean", "first" or "last", as embed_occurrences takes it.
    """

    layer: int
    combine: str = LAYER
    weights: str = ""
    adjust: str = "none"
    pieces: str = "mean"


@dataclass(frozen=True)
class Which:
    """The components of the control.

    Attributes:
        layer: Slider, from the input embeddings to the last layer of the model.
        chosen: Holds where it stands, without bounds.
        combine: How layers are joined.
        weights: One for each layer, as text.
        adjust: How the vectors of all uses are adjusted.
        pieces: Which pieces of a word in several tokens.
        changed: Events after which the vector is another one.
    """

    layer: gr.Slider
    chosen: gr.Number
    combine: gr.Radio
    weights: gr.Textbox
    adjust: gr.Radio
    pieces: gr.Radio
    changed: tuple[gr.events.Dependency, ...]

    @property
    def inputs(self) -> list[gr.components.Component]:
        """In the order of Vector."""
        return [self.chosen, self.combine, self.weights, self.adjust, self.pieces]

    @property
    def fields(self) -> dict[str, gr.components.Component]:
        """What a link restores, by its name in the address; the layer's bounds follow the model."""
        return {"layer": self.layer, "join": self.combine, "weights": self.weights, "adjust": self.adjust,
                "pieces": self.pieces}  # fmt: skip


def build_which(last_layer: int, layer: int | None = None) -> Which:
    """Lay the control out: the layer in sight, all else folded away.

    Args:
        last_layer: Of the model that the page opens on.
        layer: Where the slider stands; None = the last.
    """
    at = build_layer_slider(last_layer, layer, "vector-layer")
    with gr.Accordion("Which vector", open=False):
        combine = gr.Radio(COMBINE_CHOICES, value=LAYER, label="Layers", elem_id="vector-join")
        weights = gr.Textbox(
            "", label=WEIGHTS_LABELS[WEIGHTED], info=WEIGHTS_HINTS[WEIGHTED], visible=False,
            placeholder="all layers weigh the same", elem_id="vector-weights",
        )  # fmt: skip
        adjust = gr.Radio(ADJUST_CHOICES, value="none", label="Adjust", info=ADJUST_HINT, elem_id="vector-adjust")
        pieces = gr.Radio(PIECES_CHOICES, value="mean", label="Of a word in several pieces", elem_id="vector-pieces")
    shown = combine.change(show_combine, combine, [at, weights], **QUIET)
    chosen, moved = without_bounds(at)
    changed = [box.change(None, None, None, js="() => {}", **QUIET) for box in (weights, adjust, pieces)]
    return Which(at, chosen, combine, weights, adjust, pieces, (shown, moved, *changed))


def show_combine(combine: str) -> tuple[gr.Slider, gr.Textbox]:
    """The slider and the weights as a way to join layers needs them."""
    slider = gr.Slider(interactive=combine == LAYER)
    if combine not in WEIGHTS_LABELS:
        return slider, gr.Textbox(visible=False)
    return slider, gr.Textbox(visible=True, label=WEIGHTS_LABELS[combine], info=WEIGHTS_HINTS[combine])


def choose(occurrences: Occurrences, *values: object) -> tuple[Float[np.ndarray, "point dim"], str]:
    """The vector of each use that the visitor asks for, and which it is, in words.

    Args:
        occurrences: In all layers.
        values: Of Which.inputs. A layer above the last is the last: the slider may not have followed the model yet.

    Raises:
        UnsuitableText: The values are none that the control gives, the weights do not suit the model, or there are too
            few layers or uses.
    """
    vector = read_vector(*values)
    asked = choose_options(vector, occurrences)
    vectors = choose_vectors(occurrences, **asked)
    words = describe_vectors(occurrences, combine=asked["combine"], layer=asked["layer"], adjust=vector.adjust)
    if vector.combine not in WEIGHED:
        return vectors, words
    weights = asked["weights"]
    how = "weights as given" if len(weights) > FEW_DIGITS else ", ".join(f"{weight:g}" for weight in weights)
    if not vector.weights.strip():
        how = "all weights alike"
    return vectors, f"{words} ({how}{', by softmax' if asked['softmax'] else ''})"


def choose_options(vector: Vector, occurrences: Occurrences) -> dict[str, Any]:
    """What choose_vectors takes for it. Raises as ask_for does."""
    return {"layer": min(vector.layer, occurrences.layer_count - 1)} | ask_for(vector, occurrences)


def ask_for(vector: Vector, occurrences: Occurrences) -> dict[str, Any]:
    """What choose_vectors and project_occurrences take for it, but the layer.

    Raises:
        UnsuitableText: The weights do not suit the model.
    """
    asked = {"combine": vector.combine, "adjust": vector.adjust}
    if vector.combine not in WEIGHED:
        return asked
    weights = read_weights(vector.weights, occurrences)
    if vector.combine != SOFTMAX and not any(weights):
        raise UnsuitableText("All weights are 0, and so would be every vector. Give one that is not.")
    return asked | WEIGHED[vector.combine] | {"weights": weights}


def read_vector(*values: object) -> Vector:
    """What the page sent, checked; every handler can be called by anyone.

    Raises:
        UnsuitableText: There are more or fewer values, or one is none that the control gives.
    """
    if len(values) != len(fields(Vector)):
        raise UnsuitableText(NOT_KNOWN)
    layer, combine, weights, adjust, pieces = values
    for value, choices in ((combine, COMBINE_CHOICES), (adjust, ADJUST_CHOICES), (pieces, PIECES_CHOICES)):
        known = [key for _, key in choices]
        if value not in known:
            raise UnsuitableText(f"There is no {value!r} here. Choose one of: {', '.join(known)}.")
    if not isinstance(weights, str):
        raise UnsuitableText(NOT_KNOWN)
    return Vector(read_layer(layer), combine, weights, adjust, pieces)


def read_weights(typed: str, occurrences: Occurrences) -> tuple[float, ...]:
    """Weights as typed, one for each layer; nothing typed = all alike.

    Raises:
        UnsuitableText: One is no finite number, or there are more or fewer than layers.
    """
    words = [word for word in SEPARATOR.split(typed) if word]
    if not words:
        return (1.0,) * len(occurrences.layers)
    weights = []
    for word in words:
        try:
            number = float(word)
        except ValueError:
            number = float("nan")
        if not np.isfinite(number):
            raise UnsuitableText(f"“{word[:20]}” is no weight. Give numbers such as 0.2, 0.5, 0.3, one for each layer.")
        weights.append(number)
    if len(weights) != len(occurrences.layers):
        count = "is one weight" if len(weights) == 1 else f"are {len(weights)} weights"
        raise UnsuitableText(
            f"There {count}, and {occurrences.model} has {len(occurrences.layers)} layers, the input embeddings "
            f"included. Give one weight for each, or none: then all count alike."
        )
    return tuple(weights)
