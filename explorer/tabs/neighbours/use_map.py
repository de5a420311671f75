"""View: the uses as points on a map, which the layer moves."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import gradio as gr

from explorer.analysis.embedding_results import Occurrences
from explorer.analysis.paired_maps import BESIDE, pair_projections
from explorer.analysis.projection_results import Projection
from explorer.analysis.projections import METHODS
from explorer.errors import UnsuitableText
from explorer.figures.notes import note
from explorer.figures.sense_map import COLOURINGS, pack_map, sense_map
from explorer.figures.sentences import caption
from explorer.models.card import Ability
from explorer.models.registry import Registry
from explorer.tabs.messages import QUIET, explain, in_place, progress_box
from explorer.tabs.neighbours.code import map_code
from explorer.tabs.neighbours.maps import Ask, Maps
from explorer.tabs.neighbours.material import read_uses, source_words
from explorer.tabs.neighbours.view import Desk
from explorer.tabs.neighbours.which_vector import read_vector
from explorer.tabs.picker import beside_options, offer_own
from explorer.tabs.taking_away import download_links, name_after
from explorer.tabs.views import View

ON_LOAD = "explorer.senseMap(element, props, watch);"
PAPERS = {
    "pca": "https://doi.org/10.1080/14786440109462720",
    "umap": "https://arxiv.org/abs/1802.03426",
    "tsne": "https://jmlr.org/papers/v9/vandermaaten08a.html",
}
TURNED = "Each layer’s map is turned to the one before, and all fill the same frame."
WARNING = "Distances between groups that are far apart, and how wide a group is, say little here."
STRETCHED = "Each axis has its own scale."
DIMENSIONS = [("2-D", 2), ("3-D", 3)]
OUTPUTS = 4
SHOWN = {"outputs": OUTPUTS, "ability": Ability.EMBED}
BY_MODEL, OTHER = "model", "MiniLM (causal)"


def build(registry: Registry, desk: Desk) -> View:
    """Lay out the view.

    Args:
        registry: The models on offer.
        desk: What the views share.
    """
    maps, names = Maps(), registry.names(Ability.EMBED)
    offer = partial(beside_options, registry, names)
    with gr.Tab("Map", id="map") as tab:
        with gr.Row(elem_classes="controls"):
            method = gr.Radio(
                [(words, key) for key, words in METHODS.items()], value="umap", label="Method", elem_id="map-method",
                scale=3,
            )  # fmt: skip
            dimensions = gr.Radio(DIMENSIONS, value=2, label="Dimensions", elem_id="map-dimensions", scale=2)
            colour = gr.Dropdown(
                [(words, key) for key, words in COLOURINGS.items()], value="sense", label="Colour by",
                filterable=False, elem_id="map-colour", scale=2,
            )  # fmt: skip
            second = gr.Dropdown(
                offer(), value=OTHER if OTHER in names else names[-1], label="Second model", allow_custom_value=True,
                visible=False, elem_id="map-second", elem_classes="beside-model", scale=3,
            )  # fmt: skip
            offer_own(second, offer)
        around = gr.HTML(
            "", html_template="<div></div>", js_on_load=ON_LOAD, padding=False, elem_id="sense-map-around"
        )  # fmt: skip
        figure = gr.Plot(show_label=False, elem_classes="figure", elem_id="sense-map")
        gr.HTML("<div id='sense-map-says'></div>", padding=False)  # sense_map.js fills it
        below = gr.HTML(padding=False)
        drawn = gr.State("")  # which map the page has: another layer or query needs no other

    def draw(model: str, second: str, colour: str, *inputs: object) -> Iterator[tuple]:
        names = [model, second] if colour == BY_MODEL and second else [model]
        lacking: dict[Ask, Occurrences] = {}
        yield from in_place(registry, **SHOWN)(partial(_draw, desk, maps, lacking))(names, colour, *inputs)
        if not lacking:
            return
        unchanged = [gr.skip()] * OUTPUTS
        try:
            for words in maps.make(lacking):
                yield progress_box(words, meanwhile=True), *unchanged
        except Exception as error:
            yield explain(error), *unchanged
        else:
            yield from in_place(registry, **SHOWN)(partial(_draw, desk, maps, {}))(names, colour, *inputs)

    colour.change(
        lambda chosen: gr.Dropdown(visible=chosen == BY_MODEL), colour, second, trigger_mode="multiple", **QUIET
    )
    inputs = [desk.model, second, colour, desk.word, desk.own, method, dimensions, drawn, *desk.which.inputs]
    own = {"method": method, "dimensions": dimensions, "colour": colour, "second": second}
    return View(tab, draw, inputs, [figure, around, below, drawn], own)


def _draw(
    desk: Desk, maps: Maps, lacking: dict[Ask, Occurrences], models: Registry, names: list[str], colour: str,
    word: str, own: str, method: str, dimensions: int, drawn: str, *values: object,
) -> tuple:  # fmt: skip
    """The map if it is here, else the one by PCA; what is to be made then stands in `lacking`."""
    if method not in METHODS or colour not in COLOURINGS or dimensions not in (2, 3):
        raise UnsuitableText("A map is asked for by a method, 2 or 3 dimensions, and what colours it. Reload the page.")
    uses, vector = read_uses(word, own), read_vector(*values)
    found = {name: desk.vectors.embed(models, name, uses, vector.pieces) for name in names}
    asks = [Ask(models.card(name), uses, replace(vector, layer=0), method, int(dimensions)) for name in found]
    lacking |= {ask: found[name] for name, ask in zip(found, asks, strict=True) if maps.lacks(ask)}
    shown = [  # two by different methods do not lie on one map
        maps.get(ask.by_pca if lacking else ask, found[name]) for name, ask in zip(found, asks, strict=True)
    ]
    projection = shown[0] if len(shown) == 1 else pair_projections(*shown)
    key = _key(projection, asks, colour)
    if key == drawn:
        return (gr.skip(),) * OUTPUTS
    figure = sense_map(projection, colour=colour, key=key)
    how = {"method": projection.maps.method, "dimensions": int(dimensions)}
    foot = _foot(projection, word, own, map_code(word, own, found, vector, how))
    return figure, pack_map(projection, colour=colour, key=key, word=word.strip()), foot, key


def _key(projection: Projection, asks: list[Ask], colour: str) -> str:
    """A short name of what is drawn."""
    decides = (projection.maps.method, colour, *((ask.card.name, ask.uses, ask.vector, ask.dimensions) for ask in asks))
    return hashlib.sha256(repr(decides).encode("utf-8", "backslashreplace")).hexdigest()[:16]


def _foot(projection: Projection, word: str, own: str, code: str) -> str:
    """What was drawn, and all of it to take away."""
    maps = projection.maps
    layers = f"layers {projection.layers[0]} to {projection.layers[-1]}" if projection.layers else projection.vectors[0]
    adjusted = projection.vectors[0].partition(BESIDE)[0].partition(", ")[2] if projection.layers else ""
    seed = "" if maps.method == "pca" else f"by cosine, seed {maps.seed}"
    parts = [
        projection.model,
        layers,
        adjusted,
        METHODS[maps.method],
        seed,
        f"n = {len(projection.sentences) // max(1, len(set(projection.models))):,} uses",
    ]
    warnings = [TURNED] * (len(projection.layers) > 1) + [WARNING, STRETCHED] * (maps.method != "pca")
    lines = "".join(note(words) for words in (*projection.remarks, " ".join(warnings)) if words)
    of = f"“{word.strip()}”, " if word.strip() else ""
    picture = [f"{of}{projection.model}, {METHODS[maps.method]}"]  # sense_map.js says which layer
    return (
        lines
        + caption([*parts, source_words(word, own)], PAPERS[maps.method])
        + download_links(projection, name_after("map", [word]), picture, code=code)
    )
