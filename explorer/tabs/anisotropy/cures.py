"""View: what cures do, before and after on the same axes, and whether they help to tell the senses of a word apart."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import gradio as gr

from explorer.analysis.anisotropy_metrics import METRICS
from explorer.analysis.anisotropy_results import Anisotropy
from explorer.analysis.cures import COMPONENTS, CURES, remark_on_fit
from explorer.analysis.exporting import to_json, to_tables
from explorer.analysis.one_layer import take_layer
from explorer.analysis.sense_results import CuredSenses
from explorer.analysis.sense_sentences import sense_words
from explorer.errors import UnsuitableText
from explorer.figures.anisotropy_charts import metric_chart, place_of
from explorer.figures.anisotropy_words import ISOTROPIC, protocol_caption
from explorer.figures.cure_charts import cured_cosines_chart, cured_senses_chart, spectrum_chart, taller
from explorer.figures.cure_words import (
    construction_notes,
    cosines_words,
    cure_list,
    cured_metric_words,
    cured_senses_table,
    cured_senses_words,
    spectrum_words,
)
from explorer.figures.notes import note
from explorer.figures.sense_tables import baseline_words
from explorer.figures.sentences import caption
from explorer.models.card import Ability
from explorer.models.registry import Registry
from explorer.tabs.anisotropy.code import cures_code
from explorer.tabs.anisotropy.cured_uses import CuredUses, read_word
from explorer.tabs.anisotropy.material import read_corpus
from explorer.tabs.anisotropy.view import Desk
from explorer.tabs.later import staged_figure
from explorer.tabs.layer_slider import read_layer
from explorer.tabs.messages import in_place
from explorer.tabs.neighbours.material import shared_vectors
from explorer.tabs.taking_away import download_links, name_after, picture_link, table_links
from explorer.tabs.views import View

CHOICES = [(cure.label, key) for key, cure in CURES.items() if key != "none"]
FIRST_CURES = ("mean_removal", "all_but_the_top", "whitening")
FIRST_METRIC, FIRST_WORD = "mean_cosine", "play"
MOST_COMPONENTS = 20
TOP = "all_but_the_top"
NOT_SHOWN = ("spectrum", "edges", "random_pairs", "same_word", "top_dimensions", "covariance")
PAPER = "https://arxiv.org/abs/2109.04404"
MATTERS = (
    "A metric that looks better proves nothing: what counts is whether vectors are of more use. Here the senses of a "
    "word are told apart, with the same cures, fitted on the same corpus. How far cosines agree with the scores of "
    "pairs, and which sentences a search finds, stands in the views Similarity and Search."
)
CHANCE = (
    "+ / −: uses that became right, and wrong. p: how often chance alone splits them so unevenly (exact sign test). "
    "Clear means p below 0.05; of many layers, words and cures one in twenty looks clear by chance."
)
LATER = note("Whether they tell senses better is not computed yet.")


@dataclass(frozen=True)
class Chosen:
    """What the view's own controls say.

    Attributes:
        cures: With "none" first, in the order of CURES.
        components: That all-but-the-top takes away.
        metric: A key of METRICS.
        word: That has sentences here.
    """

    cures: tuple[str, ...]
    components: int
    metric: str
    word: str


def build(registry: Registry, desk: Desk) -> View:
    """Lay out the view."""
    uses = CuredUses(shared_vectors(), desk.measured)
    with gr.Tab("Cures", id="cures") as tab:
        cures = gr.CheckboxGroup(CHOICES, value=list(FIRST_CURES), label="Cures", elem_id="cures-chosen")
        with gr.Row(elem_classes="controls"):
            metric = gr.Dropdown(
                [(one.label, key) for key, one in METRICS.items()], value=FIRST_METRIC, label="What is measured",
                filterable=False, scale=3, elem_id="cures-metric",
            )  # fmt: skip
            components = gr.Slider(
                1, MOST_COMPONENTS, COMPONENTS, step=1, label="The top: so many components", scale=2, min_width=240,
                elem_id="cures-components",
            )  # fmt: skip
        said = gr.HTML(padding=False, elem_classes="result", elem_id="cures-said")
        with gr.Row(elem_classes="chart-pair"):
            by_layer, by_layer_below = _place("by-layer", "Layer by layer")
            spectrum, spectrum_below = _place("spectrum", "Where the variance lies")
        cosines, cosines_below = _place("cosines", "Cosines of random pairs, and of two uses of one word")
        which = gr.HTML(padding=False, elem_classes="result", elem_id="cures-which")
        gr.HTML(f"<h3 class='chart-title'>Does it matter?</h3>{note(MATTERS)}", padding=False)
        word = gr.Dropdown(
            list(sense_words()), value=FIRST_WORD, label="Word", filterable=False, elem_id="cures-word"
        )  # fmt: skip
        verdict = gr.HTML(padding=False, elem_classes="result", elem_id="cures-verdict")
        with gr.Row(elem_classes="chart-pair"):
            centroid, centroid_below = _place("centroid", "Is the centroid of its sense the nearest?")
            nearest, nearest_below = _place("nearest", "Does the nearest use mean the same?")
        table = gr.HTML(padding=False, elem_classes="result", elem_id="cures-table")
        foot = gr.HTML(padding=False)

    measures = [components, said, by_layer, by_layer_below, spectrum, spectrum_below, cosines, cosines_below, which]
    judged = [verdict, centroid, centroid_below, nearest, nearest_below, table, foot]
    first, last = ([gr.skip()] * len(boxes) for boxes in (measures, judged))
    every = len(first) + len(last)

    @in_place(registry, outputs=every, ability=Ability.EMBED)
    def draw_measured(
        models: Registry, model: str, own: str, unit: str, specials: bool, layer: float, *values: object
    ) -> tuple:
        chosen = read_chosen(*values)
        found = desk.measured.anisotropy(
            models, model, read_corpus(own), chosen.cures, unit=unit, specials=specials, components=chosen.components
        )
        later = (LATER, *(None, "") * 2, "", "")
        return gr.Slider(visible=TOP in chosen.cures), *_draw_measured(found, chosen, read_layer(layer), own), *later

    @in_place(registry, outputs=every, ability=Ability.EMBED, meanwhile=True)
    def draw_judged(
        models: Registry, model: str, own: str, unit: str, specials: bool, layer: float, *values: object
    ) -> tuple:
        chosen = read_chosen(*values)
        found = uses.senses(
            models, model, read_corpus(own), chosen.word, chosen.cures, unit=unit, specials=specials,
            components=chosen.components,
        )  # fmt: skip
        return *first, *_draw_judged(found, chosen, read_layer(layer), read_corpus(own).name)

    def draw(*inputs: object) -> Iterator[tuple]:
        for stage in (draw_measured, draw_judged):
            message = ""
            for message, *drawn in stage(*inputs):
                yield message, *drawn
            if message:  # what went wrong stands there
                return

    inputs = [desk.model, desk.own, desk.unit, desk.specials, desk.layer, cures, components, metric, word]
    own = {"cured": cures, "taken": components, "cured_metric": metric, "cured_word": word}
    return View(tab, draw, inputs, [*measures, *judged], own)


def read_chosen(cures: object, components: object, metric: object, word: object) -> Chosen:
    """What the controls say, checked; every handler can be called by anyone.

    Raises:
        UnsuitableText: They say what they cannot.
    """
    wanted = cures if isinstance(cures, list) else []
    are_known = isinstance(cures, list) and set(map(str, wanted)) <= set(CURES)
    is_count = isinstance(components, int | float) and components in range(1, MOST_COMPONENTS + 1)
    if not are_known or not is_count or str(metric) not in METRICS:
        raise UnsuitableText(
            f"Cures are asked for by some of {', '.join(CURES)}, from 1 to {MOST_COMPONENTS} components, and one of "
            f"{', '.join(METRICS)}."
        )
    read_word(str(word))  # an unknown one is refused, before anything is measured
    return Chosen(
        tuple(key for key in CURES if key == "none" or key in wanted), int(components), str(metric), str(word)
    )


def _place(key: str, title: str) -> tuple[gr.Plot, gr.HTML]:
    """A figure under its title, and what stands below it."""
    with gr.Column(min_width=300, elem_classes="with-figure"):
        gr.HTML(f"<h3 class='chart-title'>{title}</h3>", padding=False)
        return staged_figure(f"cures-{key}"), gr.HTML(padding=False)


def _draw_measured(found: Sequence[Anisotropy], chosen: Chosen, layer: int, own: str) -> tuple:
    one, metric = found[0], METRICS[chosen.metric]
    at = one.layers[place_of(one, layer)]
    under, source = str(one.protocol), metric.source

    def below(key: str, title: str, words: str) -> str:
        return words + picture_link(f"cures-{key}", (f"{one.model}: {title}", under), (one.model,))

    isotropic = "" if one.isotropic[chosen.metric] is None else ISOTROPIC
    words = note(metric.says + isotropic) + construction_notes(chosen.metric, chosen.cures, one.protocol.points)
    remarks = [remark for each in found for remark in each.remarks]
    remarks += [said for each in found for said in remark_on_fit(each.cure, each.protocol.points, each.dim)]
    code = cures_code(own, found, chosen.components)
    links = download_links(tuple(found), "cures", of="all layers", tables=("metrics",), without=NOT_SHOWN, code=code)
    links += download_links(
        tuple(take_layer(each, layer) for each in found), f"cures-layer-{at}", of=f"layer {at}", with_link=False,
        tables=("spectrum", "histogram"), without=("top_dimensions", "covariance"),
    )  # fmt: skip
    foot = protocol_caption(found[:1], source) + f"<div class='two-takes'>{links}</div>"
    return (
        cured_metric_words(found, chosen.metric, layer),
        taller(metric_chart(found, chosen.metric, layer)),
        below("by-layer", metric.label, words),
        taller(spectrum_chart(found, layer)),
        below("spectrum", f"share of variance by principal component, layer {at}", spectrum_words(found, layer)),
        cured_cosines_chart(found, layer),
        below("cosines", f"cosines of layer {at}", cosines_words(found, layer)),
        cure_list(chosen.cures) + "".join(map(note, dict.fromkeys(remarks))) + foot,
    )


def _draw_judged(found: Sequence[CuredSenses], chosen: Chosen, layer: int, corpus: str) -> tuple:
    scores = found[0].scores
    foreign = read_word(chosen.word)[1].foreign
    n = f"n = {scores.uses:,} uses of “{chosen.word}”, {len(scores.senses)} senses, labelled by hand"
    parts = [scores.model, n, f"without: {', '.join(foreign)}" if foreign else "", f"cures fitted on: {corpus}"]

    def below(key: str, words: str) -> str:
        title = f"{scores.model}, “{chosen.word}”: senses told right ({key})"
        return note(words) + picture_link(f"cures-{key}", (title, n), (scores.model,))

    remarks = "".join(map(note, dict.fromkeys(remark for one in found for remark in one.scores.remarks)))
    return (
        cured_senses_words(found, layer, chosen.word) + remarks + baseline_words(scores),
        cured_senses_chart(found, "centroid", layer),
        below("centroid", "Share of uses nearest to the mean of the other uses of their sense."),
        cured_senses_chart(found, "nearest", layer),
        below("nearest", "Share of uses whose nearest other use has their sense."),
        cured_senses_table(found, layer) + note(CHANCE),
        caption([*parts, f"leave one out; {scores.intervals}"], PAPER) + _senses_links(found, chosen.word),
    )


def _senses_links(found: Sequence[CuredSenses], word: str) -> str:
    """The scores of all layers to take away; the word, which no result names, stands in the files' names and rows."""
    (key, (head, *rows)), *_ = to_tables(tuple(found)).items()
    table = [["word", *head], *([word, *row] for row in rows)]
    name, data = f"cures-{word}", json.dumps(to_json(tuple(found)), indent=2, ensure_ascii=False)
    models = (found[0].scores.model,)
    more = (("JSON of senses", f"{name_after(name, models)}.json", data),)
    return table_links({key: table}, name, models=models, more=more, with_link=False)
