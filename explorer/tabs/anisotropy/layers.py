"""View: a number of each layer, of one model or several on one axis, and the cosines behind it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import gradio as gr
from plotly.graph_objects import Figure

from explorer.analysis.anisotropy_metrics import METRICS
from explorer.analysis.anisotropy_results import Anisotropy
from explorer.errors import UnsuitableText
from explorer.figures.anisotropy_charts import ADJUSTED, adjusted_of, cosine_histogram, metric_chart
from explorer.figures.anisotropy_words import (
    ISOTROPIC,
    histogram_words,
    metric_table,
    metric_words,
    pairs_note,
    protocol_caption,
    remark_notes,
)
from explorer.figures.notes import itself_note, note
from explorer.models.card import Ability
from explorer.models.registry import Registry
from explorer.tabs.anisotropy.code import layers_code
from explorer.tabs.anisotropy.gallery import Start
from explorer.tabs.anisotropy.material import read_corpus
from explorer.tabs.anisotropy.view import Desk
from explorer.tabs.layer_slider import read_layer
from explorer.tabs.messages import in_place
from explorer.tabs.picker import beside_options, offer_own
from explorer.tabs.taking_away import download_links, models_of, picture_link
from explorer.tabs.views import View

MOST_BESIDE = 3
PROTOCOLS = "protocols"
COUNTED = (("tokens", False), ("tokens", True), ("words", False))  # unit, special tokens
COSINES_TITLE = "Cosines of random pairs, and of two uses of one word"
NOT_SHOWN = ("spectrum", "top_dimensions", "covariance")
METRIC_CHOICES = [(metric.label, key) for key, metric in METRICS.items() if not key.endswith(ADJUSTED)]


@dataclass(frozen=True)
class Drawn:
    """What the view shows.

    Attributes:
        said: The values of the layer looked at.
        raw: The metric in each layer, what it says, and its picture.
        adjusted: The same less what any two tokens have; None = it has no such.
        cosines: The histograms of the layer looked at.
        table: All values.
        foot: The protocol, and what can be taken away.
    """

    said: str
    raw: tuple[Figure, str, str]
    adjusted: tuple[Figure, str, str] | None
    cosines: tuple[Figure, str, str]
    table: str
    foot: str


def build(registry: Registry, desk: Desk, first: tuple[Anisotropy, ...], start: Start) -> View:
    """Lay out the view.

    Args:
        registry: The models on offer.
        desk: What the views share.
        first: What it opens on.
        start: The example that it is of.
    """

    def offer() -> list[tuple[str, str]]:
        others = beside_options(registry, registry.names(Ability.EMBED))
        return [("the same model, counted otherwise", PROTOCOLS), *others]

    drawn = draw_layers(first, start.metric, start.layer, layers_code("", first))
    began = pairs_note(registry.card(name) for name in models_of(first))
    with gr.Tab("Layers", id="layers") as tab:
        with gr.Row(elem_classes="controls"):
            metric = gr.Dropdown(
                METRIC_CHOICES, value=start.metric, label="What is measured", scale=3, filterable=False,
                elem_id="layers-metric",
            )  # fmt: skip
            beside = gr.Dropdown(
                offer(), value=list(start.beside), label="Beside it", multiselect=True, max_choices=MOST_BESIDE,
                scale=4, allow_custom_value=True, elem_id="layers-beside",
            )  # fmt: skip
            offer_own(beside, offer)
        said = gr.HTML(drawn.said + began, padding=False, elem_classes="result", elem_id="layers-said")
        with gr.Row(elem_classes="chart-pair"):
            with gr.Column(min_width=300, elem_classes="with-figure"):
                raw = _build_chart("layers-raw", drawn.raw)
            with gr.Column(min_width=300, elem_classes="with-figure", visible=bool(drawn.adjusted)) as box:
                adjusted = _build_chart("layers-adjusted", drawn.adjusted)
        with gr.Column(elem_classes="with-figure"):
            gr.HTML(f"<h3 class='chart-title'>{COSINES_TITLE}</h3>", padding=False)
            cosines = _build_chart("layers-cosines", drawn.cosines)
        table = gr.HTML(drawn.table, padding=False, elem_classes="result", elem_id="layers-table")
        foot = gr.HTML(drawn.foot, padding=False)

    @in_place(registry, outputs=13, ability=Ability.EMBED)
    def draw_all(
        models: Registry,
        names: list[str],
        others: bool,
        own: str,
        unit: str,
        specials: bool,
        layer: float,
        metric: str,
    ) -> tuple:
        if metric not in METRICS:
            raise UnsuitableText(f"There is no {metric!r} to be measured. Choose one of: {', '.join(METRICS)}.")
        sentences = read_corpus(own)
        asked = [(name, unit, bool(specials) and unit == "tokens") for name in names]
        if others:
            asked += [(names[0], *counted) for counted in COUNTED]
        found = [
            desk.measured.anisotropy(models, name, sentences, unit=unit, specials=specials)[0]
            for name, unit, specials in dict.fromkeys(asked)
        ]
        new = draw_layers(found, metric, read_layer(layer), layers_code(own, found))
        both = new.adjusted or (None, "", "")
        said = new.said + pairs_note(map(models.card, names))
        return (
            said, *_updated(new.raw), gr.Column(visible=bool(new.adjusted)), *_updated(both),
            *_updated(new.cosines), new.table, itself_note(names) + new.foot,
        )  # fmt: skip

    def draw(model: str, beside: list[str] | None, *inputs: object) -> Iterator[tuple]:
        wanted = (beside or [])[:MOST_BESIDE]
        names = [model, *(name for name in wanted if name != PROTOCOLS)]
        yield from draw_all(names, PROTOCOLS in wanted, *inputs)

    inputs = [desk.model, beside, desk.own, desk.unit, desk.specials, desk.layer, metric]
    outputs = [said, *raw, box, *adjusted, *cosines, table, foot]
    return View(tab, draw, inputs, outputs, {"metric": metric, "beside": beside})


def draw_layers(found: Sequence[Anisotropy], key: str, layer: int, code: str = "") -> Drawn:
    """The charts, words and tables of measurements.

    Args:
        found: Of each model.
        key: Of METRICS, not an adjusted one.
        layer: The one looked at.
        code: Python that measures them.
    """
    names = models_of(tuple(found))
    models = " and ".join(names)
    protocol = str(found[0].protocol)

    def chart(key: str) -> tuple[Figure, str, str]:
        metric = METRICS[key]
        isotropic = ISOTROPIC if any(one.isotropic[key] is not None for one in found) else ""
        words = note(metric.says + isotropic)
        return metric_chart(found, key, layer), words, picture_link(key, (metric.label, models, protocol), names)

    more = adjusted_of(key)
    picture = picture_link("cosines", (f"Cosines of layer {layer}: {models}", protocol), names)
    links = download_links(tuple(found), "anisotropy", tables=("metrics",), without=NOT_SHOWN, code=code)
    return Drawn(
        metric_words(found, key, layer) + remark_notes(found),
        chart(key),
        chart(more) if more else None,
        (cosine_histogram(found, layer), histogram_words(found, layer), picture),
        metric_table(found, key, layer),
        protocol_caption(found, METRICS[key].source) + links,
    )


def _build_chart(elem_id: str, chart: tuple[Figure, str, str] | None) -> tuple[gr.Plot, gr.HTML, gr.HTML]:
    """A chart, what is said of it, and its picture."""
    figure, words, picture = chart or (None, "", "")
    plot = gr.Plot(figure, visible=figure is not None, show_label=False, elem_classes="figure", elem_id=elem_id)
    return plot, gr.HTML(words, padding=False), gr.HTML(picture, padding=False)


def _updated(chart: tuple[Figure | None, str, str]) -> tuple[gr.Plot, str, str]:
    figure, words, picture = chart
    return gr.Plot(figure, visible=figure is not None), words, picture
