"""View: the few dimensions that make up the cosine, and what is lost without them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from html import escape

import gradio as gr

from explorer.analysis.anisotropy_results import VALUES, Anisotropy, DimensionAblation, RogueDimensions
from explorer.analysis.one_layer import find_layer, take_layer, take_rogue_layer
from explorer.errors import UnsuitableModel, UnsuitableText
from explorer.figures.covariance_map import HEIGHT_PIXELS as MAP_PIXELS
from explorer.figures.covariance_map import covariance_map, covariance_words
from explorer.figures.layer_lines import layer_chart
from explorer.figures.notes import note
from explorer.figures.rogue import HEIGHT_PIXELS as LINES_PIXELS
from explorer.figures.rogue import ablation_chart, contribution_bars, layer_lines, without_chart
from explorer.figures.rogue_tables import (
    ablation_table,
    ablation_words,
    layers_table,
    layers_words,
    rogue_words,
    top_table,
)
from explorer.figures.sentences import caption
from explorer.figures.style import waiting_chart
from explorer.models.card import Ability
from explorer.models.registry import Registry
from explorer.tabs.anisotropy.code import rogue_code
from explorer.tabs.anisotropy.material import MOST_ROGUES, read_corpus
from explorer.tabs.anisotropy.view import Desk
from explorer.tabs.later import staged_figure
from explorer.tabs.layer_slider import read_layer
from explorer.tabs.messages import in_place
from explorer.tabs.taking_away import download_links, picture_link
from explorer.tabs.views import View

PAPER = "https://arxiv.org/abs/2109.04404"
FIRST_K = 5
PUT = [("their mean", "mean"), ("0", "zero")]
MAY_NEED = (
    "What else reads these vectors, such as a decoder, a classifier or whoever compares texts, may need these numbers."
)
MOST_TAKEN = 6_000  # contributions in one page; of a larger model those of the layer in sight are taken away


@dataclass(frozen=True)
class Chart:
    """One chart and what is said of it.

    Attributes:
        key: In its file's name.
        title: Above it.
        words: Below it: what to see.
    """

    key: str
    title: str
    words: str


BARS = Chart(
    "contributions",
    "Which dimensions make up the mean cosine?",
    "The mean cosine of all pairs is a sum over dimensions, and each bar is what one of them adds. One long bar: a "
    "single dimension makes all vectors look alike. Short bars, and a long one of all others: many do it together.",
)
WITHOUT = Chart(
    "without",
    "Are the same pairs alike without them?",
    "Cosines of pairs with all dimensions, against those with the top ones left out: squared correlation r² and rank "
    "correlation; 1 = nothing changes. Where they fall far, the top dimensions decided which pairs looked alike.",
)
LAYERS = Chart(
    "over-layers",
    "Is it so in every layer?",
    "The mean cosine, and what of it the top dimensions of that layer add. Where the lines meet, these few are all of "
    "it; where they are far apart, the rest is.",
)
COVARIANCE = Chart(
    "covariance",
    "Do those that vary most vary together?",
    "Variance on the diagonal, covariance beside it. A star marks a dimension that is among the top ones of the "
    "cosine, too; one with a large mean that hardly varies makes vectors look alike and is not here.",
)
PREDICTIONS = Chart(
    "predictions",
    "Does the model need them?",
    "How far the predictions move, in bits of Kullback-Leibler divergence. A line far above that of random dimensions: "
    "the model uses the top ones. Near it or below: they rule the cosine, and matter no more than others. Thin bars: "
    "the 95 % interval of the top ones, and from the least to the most of the random draws.",
)


def build(registry: Registry, desk: Desk) -> View:
    """Lay out the view."""
    with gr.Tab("Rogue dimensions", id="rogue") as tab:
        with gr.Row(elem_classes="controls"):
            count = gr.Slider(1, MOST_ROGUES, FIRST_K, step=1, label="Top dimensions", scale=3, elem_id="rogue-count")
            put = gr.Radio(PUT, value="mean", label="For predictions, set them to", scale=2, elem_id="rogue-put")
        said = gr.HTML(padding=False, elem_classes="result", elem_id="rogue-said")
        with gr.Row(elem_classes="chart-pair"):
            bars, bars_below = _place(BARS)
            without, without_below = _place(WITHOUT)
        top = gr.HTML(padding=False, elem_classes="result", elem_id="rogue-top")
        with gr.Row(elem_classes="chart-pair"):
            ablated, ablated_below = _place(PREDICTIONS)
            with gr.Column(min_width=300):
                lost = gr.HTML(padding=False, elem_classes="result", elem_id="rogue-lost")
        with gr.Row(elem_classes="chart-pair"):
            lines, lines_below = _place(LAYERS)
            covariance, covariance_below = _place(COVARIANCE)
        by_layer = gr.HTML(padding=False, elem_classes="result", elem_id="rogue-layers")
        foot = gr.HTML(padding=False)

    drawn_first = [said, bars, bars_below, without, without_below, top, lines, lines_below, by_layer]
    drawn_second = [ablated, ablated_below, lost, foot]
    drawn_last = [covariance, covariance_below]
    firsts, seconds, lasts = ([gr.skip()] * len(boxes) for boxes in (drawn_first, drawn_second, drawn_last))
    every = len(firsts) + len(seconds) + len(lasts)

    @in_place(registry, outputs=every, ability=Ability.EMBED)
    def draw_first(models: Registry, model: str, own: str, unit: str, specials: bool, *values: object) -> tuple:
        layer, k, _ = _read(*values)
        found = desk.measured.rogues(models, model, read_corpus(own), unit=unit, specials=specials)
        waiting = [waiting_chart("not computed yet", one) for one in (LINES_PIXELS, MAP_PIXELS)]
        return *_draw_rogues(found, layer, k), waiting[0], "", "", "", waiting[1], ""

    @in_place(registry, outputs=every, ability=Ability.EMBED, meanwhile=True)
    def draw_second(models: Registry, model: str, own: str, unit: str, specials: bool, *values: object) -> tuple:
        layer, k, value = _read(*values)
        sentences = read_corpus(own)
        found = desk.measured.rogues(models, model, sentences, unit=unit, specials=specials)
        at = found.layers[find_layer(found.layers, layer)]
        try:
            lost = desk.measured.ablation(models, model, sentences, found, layer=at, k=k, value=value)
        except UnsuitableModel as error:  # of vectors alone: all the rest is shown
            return *firsts, *_draw_nothing(str(error)), _foot(found, at, rogue_code(own, found, k, value)), *lasts
        joined = replace(found, ablation=lost)
        foot = _foot(joined, at, rogue_code(own, joined, k, value))
        return *firsts, *_draw_ablation(joined, lost, k), foot, *lasts

    @in_place(registry, outputs=every, ability=Ability.EMBED, meanwhile=True)
    def draw_last(models: Registry, model: str, own: str, unit: str, specials: bool, *values: object) -> tuple:
        layer, k, _ = _read(*values)
        sentences, options = read_corpus(own), {"unit": unit, "specials": specials}
        found = desk.measured.rogues(models, model, sentences, **options)
        [measured] = desk.measured.anisotropy(models, model, sentences, **options)
        return *firsts, *seconds, *_draw_covariance(measured, found, layer, k)

    def draw(*inputs: object) -> Iterator[tuple]:
        for stage in (draw_first, draw_second, draw_last):
            message = ""
            for message, *drawn in stage(*inputs):
                yield message, *drawn
            if message:  # what went wrong stands there
                return

    inputs = [desk.model, desk.own, desk.unit, desk.specials, desk.layer, count, put]
    return View(tab, draw, inputs, [*drawn_first, *drawn_second, *drawn_last], {"top": count, "put": put})


def _place(chart: Chart) -> tuple[gr.Plot, gr.HTML]:
    """A figure under its title, and what stands below it."""
    with gr.Column(min_width=300, elem_classes="with-figure"):
        gr.HTML(f"<h3 class='chart-title'>{chart.title}</h3>", padding=False)
        plot = staged_figure(f"rogue-{chart.key}")
        return plot, gr.HTML(padding=False)


def _read(layer: object, k: object, value: object) -> tuple[int, int, str]:
    """The layer, how many dimensions, and what is put in their place.

    Raises:
        UnsuitableText: They are none that the controls give.
    """
    is_count = isinstance(k, int | float) and float(k).is_integer() and 1 <= k <= MOST_ROGUES
    if not is_count or value not in VALUES:
        raise UnsuitableText(f"Choose from 1 to {MOST_ROGUES} dimensions, and their mean or 0 in place of them.")
    return read_layer(layer), int(k), str(value)


def _draw_rogues(found: RogueDimensions, layer: int, k: int) -> tuple:
    at = found.layers[find_layer(found.layers, layer)]
    pairs = f"n = {found.pairs:,} pairs"
    said = rogue_words(found, layer, k) + "".join(note(remark) for remark in found.remarks)
    top = "<h3 class='chart-title'>The top dimensions by name</h3>" + top_table(found, layer, k)
    top += note(
        "A dimension is one of the numbers of a vector, counted from 0. Mean and standard deviation are of its values."
    )
    by_layer = "<h3 class='chart-title'>From layer to layer</h3>" + layers_table(found, layer, k)
    by_layer += note(f"Share of the layer’s mean cosine, and the place among its top {k}; a point: not among them.")
    by_layer += layers_words(found, k)
    chart = layer_chart(layer_lines(found, k), "cosine", layer, number="%{y:.4f}")
    return (
        said,
        contribution_bars(found, layer, k),
        _below(BARS, found, at),
        without_chart(found, layer, k),
        _below(WITHOUT, found, at, pairs),
        top,
        chart,
        _below(LAYERS, found, None),
        by_layer,
    )


def _draw_covariance(measured: Anisotropy, found: RogueDimensions, layer: int, k: int) -> tuple:
    at = find_layer(found.layers, layer)
    marked = found.top[at, :k].tolist()
    figure = covariance_map(measured, layer, marked)
    below = _below(COVARIANCE, measured, found.layers[at], says=covariance_words(measured, layer))
    links = download_links(take_layer(measured, layer), "covariance", with_link=False, tables=("covariance",))
    return figure, below + links


def _draw_ablation(found: RogueDimensions, lost: DimensionAblation, k: int) -> tuple:
    """The figure, what stands below it, and beside it."""
    how = "the vector that is predicted from" if lost.layer == found.layer_count - 1 else "all tokens’ vectors"
    n = f"n = {lost.places:,} predictions, one in a sentence; {how} changed; {lost.draws} draws"
    beside = ablation_table(lost, k) + ablation_words(lost, k)
    return ablation_chart(lost, k), _below(PREDICTIONS, found, lost.layer, n), beside


def _draw_nothing(why: str) -> tuple:
    """The same where predictions cannot be measured."""
    return None, f"<p class='missing'>{escape(why)} {MAY_NEED}</p>", ""


def _below(
    chart: Chart, result: RogueDimensions | Anisotropy, layer: int | None, n: str = "", *, says: str = ""
) -> str:
    """What to see, how it was measured, and the button of the PNG."""
    at = f"layer {layer}" if layer is not None else "all layers"
    picture = picture_link(
        f"rogue-{chart.key}", (chart.title, f"{result.model}, {at}", str(result.protocol)), (result.model,)
    )
    words = note(" ".join([chart.words, says]).strip())
    whole = caption([result.model, at, n, str(result.protocol)], PAPER)  # once: the others are of the same
    return words + (whole if chart is BARS else caption([at, n])) + picture


def _foot(found: RogueDimensions, layer: int, code: str) -> str:
    """All numbers to take away; of a large model those of the layer in sight alone."""
    taken = found if found.contributions.size <= MOST_TAKEN else take_rogue_layer(found, layer)
    return download_links(taken, "rogue-dimensions", code=code)
