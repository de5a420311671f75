"""Layout and wiring of the tab that shows how far all vectors of a model point the same way."""

from collections.abc import Mapping, Sequence
from functools import partial

import gradio as gr

from explorer.figures.notes import note
from explorer.models.card import Ability
from explorer.models.registry import Registry
from explorer.tabs.anisotropy import cures, layers, rogue, search, similarity
from explorer.tabs.anisotropy.corpus import build_corpus, wire_corpus
from explorer.tabs.anisotropy.first_measured import read_first_measured
from explorer.tabs.anisotropy.gallery import Start, read_gallery
from explorer.tabs.anisotropy.material import Measured, read_corpus
from explorer.tabs.anisotropy.view import Desk
from explorer.tabs.formulas import build_question, build_why
from explorer.tabs.gallery import build_gallery, build_look, look_line
from explorer.tabs.layer_slider import build_layer_slider, follow_layers, without_bounds
from explorer.tabs.links import LinkedTab
from explorer.tabs.messages import QUIET
from explorer.tabs.picker import build_picker_of
from explorer.tabs.views import View, linked_fields, wire

QUESTION = "Do the vectors of different words point in different directions, or all much the same way?"
ANSWER = (
    "If much the same way, they are called anisotropic, and any two words look alike to the cosine. Mean cosine near "
    "0: no direction in common; near 1: all the same way."
)
FIRST_LAYERS = 6  # of the model of the first example, without its input embeddings
WHY = """**Isotropic** vectors point in all directions alike, so that two random ones are at a cosine near 0. Those of
many language models are not: they share a direction, and any two words seem alike
([Ethayarajh 2019](https://arxiv.org/abs/1909.00512)). Whoever compares words or sentences by the cosine then measures
that direction rather than the meaning. Of the vectors $x_1 \\dots x_n$ of all tokens of the corpus:

$$\\text{mean cosine} = \\frac{1}{n(n-1)} \\sum_{i \\neq j} \\cos(x_i, x_j) \\qquad
\\text{self-similarity}(w) = \\frac{1}{m(m-1)} \\sum_{a \\neq b} \\cos(x_a, x_b), \\; a, b \\text{ uses of } w$$

Of the self-similarity the mean over the words is shown. *Adjusted* means less the mean cosine: what two uses of a word
have beyond any two tokens. If $\\sigma_1 \\ge \\sigma_2 \\dots$ are the singular values of the uses of a word, one
under the other, one vector can stand for at most this share of them (the *maximum explainable variance*). IsoScore is
of the variances $\\lambda_i$ along the $d$ principal components:

$$\\text{MEV}(w) = \\frac{\\sigma_1^2}{\\sum_i \\sigma_i^2} \\qquad
\\text{IsoScore} = \\frac{\\left(\\sum_i \\lambda_i\\right)^2 / \\sum_i \\lambda_i^2 - 1}{d - 1}$$

[IsoScore](https://arxiv.org/abs/2108.07344) is 1 if all variances are equal, and 0 if one direction has everything. The
mean is taken off before: vectors may share a direction, and be spread evenly around it; or share none, at a mean cosine
of 0, and yet lie along a few.

**What it does not show.** That a high mean cosine harms: a model reads its own vectors by learned weights, not by
cosines, and a few [rogue dimensions](https://arxiv.org/abs/2109.04404) or a common mean may make all of it. The number
depends on the *protocol*: which texts, tokens or words, special tokens in or out; frequent tokens count as often as
they come. Only numbers of the same protocol can be compared, and it stands under each figure."""


def build(registry: Registry) -> LinkedTab:
    """Lay out the tab and wire it; returns what a link restores, too."""
    gallery = read_gallery()
    start = gallery[0]
    with gr.Tab("Anisotropy", id="anisotropy") as tab:
        build_question(QUESTION, note(ANSWER))
        with gr.Row(elem_classes="halves"):
            with gr.Column(scale=1, min_width=320, elem_classes="controls-side"):
                picker = build_picker_of(registry, registry.names(Ability.EMBED), start.model)
                slider = build_layer_slider(FIRST_LAYERS, start.layer, "anisotropy-layer")
                held, moved = without_bounds(slider)
                message = gr.HTML(padding=False, elem_classes="message-place")
                with gr.Column(elem_classes="settings"):  # on a phone they stand below the answer
                    corpus = build_corpus(start.unit, start.specials)
            with gr.Column(scale=2, min_width=320, elem_classes=["result-side", "follows"]):
                desk = Desk(picker.name, corpus.text, corpus.unit, corpus.specials, held, slider, Measured())
                told = build_look(start.look_for)
                with gr.Tabs(elem_classes="views") as sub_tabs:
                    views = _build_views(registry, desk)
        examples = build_gallery(gallery)
        build_why(WHY)

    with tab:  # Gradio numbers tabs by their place: a State beside them, rather than within one, shifts their labels
        shown = gr.Radio([view.tab.id for view in views], value=views[0].tab.id, visible="hidden")
        boxes = (corpus.text, corpus.unit, corpus.specials)
        changed = [box.change(None, None, None, js="() => {}", **QUIET) for box in boxes]
        followed = follow_layers(registry, picker.name, slider, held, message, picker.changed)
        wire_corpus(corpus)
        wire(message, views, shown, [*changed, moved, followed])
    own = linked_fields(views)
    for press, example in examples:
        filled = [picker.name, corpus.text, corpus.unit, corpus.specials, slider, own["metric"], own["beside"]]
        again = _settings_of(views, example)
        chosen = partial(_choose, example, [control.value for control in again.values()])
        press.click(chosen, None, [told, *filled, shown, sub_tabs, *again.values()], **QUIET)
    fields = {"model": picker.name, "layer": slider, "unit": corpus.unit, "specials": corpus.specials}
    fields |= {"own": corpus.text, "show": shown}
    looks = tuple((_fills(example, _settings_of(views, example)), look_line(example.look_for)) for example in gallery)
    return LinkedTab(
        tab, fields | own, ("layer", "unit", "specials", "own", "show", *own), (sub_tabs, "show"),
        stretching=("layer",), look=(told, looks),
    )  # fmt: skip


def _build_views(registry: Registry, desk: Desk) -> list[View]:
    """The views in page order. To add one, write its file and list it here."""
    first = read_first_measured()
    for one in first:
        desk.measured.keep(registry.card(one.model), read_corpus(""), one)
    return [
        layers.build(registry, desk, tuple(one for one in first if one.cure == "none"), read_gallery()[0]),
        rogue.build(registry, desk),
        cures.build(registry, desk),
        similarity.build(registry, desk),
        search.build(registry, desk),
    ]


def _settings_of(views: Sequence[View], start: Start) -> dict[str, gr.components.Component]:
    """The controls of an example's view that stand as at first when it is shown; what was typed stays."""
    [view] = [one for one in views if one.tab.id == start.show]
    filled = ("metric", "beside")  # by the example itself
    return {
        name: control for name, control in view.own.items()
        if name not in filled and not isinstance(control, gr.Textbox)
    }  # fmt: skip


def _fills(start: Start, settings: Mapping[str, gr.components.Component]) -> dict[str, object]:
    """What an example puts into fields, by their names in the address."""
    counted = {"model": start.model, "unit": start.unit, "specials": start.specials, "own": ""}
    counted |= {"layer": start.layer, "metric": start.metric, "beside": list(start.beside), "show": start.show}
    return counted | {name: control.value for name, control in settings.items()}


def _choose(start: Start, settings: Sequence[object]) -> tuple:
    counted = (start.unit, start.specials)
    view = (start.show, gr.Tabs(selected=start.show))
    beside = (start.metric, list(start.beside))
    return look_line(start.look_for), start.model, "", *counted, start.layer, *beside, *view, *settings
