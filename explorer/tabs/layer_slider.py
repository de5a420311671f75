"""A slider of a model's layers that ends where the model does, whichever is chosen."""

from __future__ import annotations

import math
from functools import partial

import gradio as gr

from explorer import analysis
from explorer.errors import UnsuitableText
from explorer.models.registry import Registry
from explorer.tabs.messages import QUIET, in_place

LAYER_HINT = "0 = input embeddings: no context yet."
STAND_LAST = """
(name, stood) => {
  const layer = document.querySelector('#%s input[type=range]');
  return layer && Number(layer.value) >= Number(layer.max) ? name : '';
}
"""


def build_layer_slider(last_layer: int, layer: int | None, elem_id: str) -> gr.Slider:
    """Lay a slider out.

    Args:
        last_layer: Of the model that the page opens on.
        layer: Where the slider stands; None = the last.
        elem_id: Its own.
    """
    return gr.Slider(
        0,
        last_layer,
        last_layer if layer is None else layer,
        step=1,
        label="Layer",
        info=LAYER_HINT,
        elem_id=elem_id,
        elem_classes="layer-slider",
    )


def without_bounds(slider: gr.Slider) -> tuple[gr.Number, gr.events.Dependency]:
    """A hidden box that holds where a slider stands, and the event after which it holds what is new.

    What was asked of a model may be read when the slider ends at the last layer of another, and Gradio refuses what is
    beyond its end.
    """
    held = gr.Number(slider.value, visible="hidden")
    return held, slider.change(None, slider, held, js="place => place", **QUIET)


def follow_layers(
    registry: Registry,
    model: gr.Dropdown,
    slider: gr.Slider,
    held: gr.Number,
    message: gr.HTML,
    changed: gr.events.Dependency,
) -> gr.events.Dependency:
    """Let a slider end at the model's last layer; returns the event after which it does.

    Who stood on the last layer and chooses another model stands on the last layer of that one. A link and an example
    name the layer themselves: it may be on its way, so that it is changed only where the model has no such layer.

    Args:
        registry: The models on offer.
        model: Holds the name of the chosen one.
        slider: Of its layers.
        held: Holds where it stands, as without_bounds makes it.
        message: Where loading is reported.
        changed: Event after which the model is another one.
    """
    stood_last = gr.Textbox("", visible="hidden")  # the model that was chosen by hand from the last layer of another

    @in_place(registry, outputs=2)
    def follow(models: Registry, name: str, layer: int, stood: str) -> tuple:
        last = count_layers(models, name) - 1
        if stood == name or read_layer(layer) > last:
            return gr.Slider(maximum=last, value=last), ""
        return gr.Slider(maximum=last), ""

    model.input(None, [model, stood_last], stood_last, js=STAND_LAST % slider.elem_id, **QUIET)
    return changed.then(follow, [model, held, stood_last], [message, slider, stood_last], **QUIET)


def count_layers(registry: Registry, model: str) -> int:
    """How many layers a model gives vectors of, its input embeddings included; configurations name them in many ways.

    Raises:
        ExplorerError: The model gives none.
    """
    shortest = partial(analysis.embed_occurrences, sentences=["a"], positions=[(0, 1)], layers=[0])
    return registry.run(model, shortest).layer_count


def read_layer(layer: object) -> int:
    """A layer as the slider gives it.

    Raises:
        UnsuitableText: It is no whole number from 0 up.
    """
    is_number = isinstance(layer, int | float) and not isinstance(layer, bool)
    if not is_number or not math.isfinite(layer) or layer != int(layer) or layer < 0:
        raise UnsuitableText(f"A layer is a whole number from 0; it is {layer!r}.")
    return int(layer)
