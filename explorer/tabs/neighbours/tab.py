"""Layout and wiring of the tab that shows what is near a use of a word."""

import logging
from functools import partial
from threading import Thread

import gradio as gr

from explorer.analysis.sense_sentences import sense_words
from explorer.errors import ExplorerError
from explorer.figures.neighbours import use_list
from explorer.models.card import Ability
from explorer.models.registry import Registry
from explorer.tabs.formulas import build_question, build_why
from explorer.tabs.gallery import build_gallery, build_look, look_line
from explorer.tabs.layer_slider import follow_layers
from explorer.tabs.links import LinkedTab
from explorer.tabs.messages import QUIET
from explorer.tabs.neighbours import nearest, quiz, sense_numbers, use_map
from explorer.tabs.neighbours.corpus import build_corpus
from explorer.tabs.neighbours.finding import Static
from explorer.tabs.neighbours.first_neighbours import FIRST_LAYERS, read_first_neighbours
from explorer.tabs.neighbours.gallery import Start, read_gallery
from explorer.tabs.neighbours.material import Vectors, read_uses, shared_vectors, use_in_sight
from explorer.tabs.neighbours.own import build_own, wire_own
from explorer.tabs.neighbours.view import Desk
from explorer.tabs.neighbours.which_vector import build_which
from explorer.tabs.picker import build_picker_of
from explorer.tabs.views import View, linked_fields, wire

LOG = logging.getLogger("explorer")
QUESTION = "A word has many meanings. Does a model tell them apart, sentence by sentence?"
WHY = """**Static vectors** (word2vec, GloVe, a model's own token embeddings) give each word one vector, whatever the
sentence. All meanings of *play* share it, so that its neighbours are other forms of it and words that go with its
commonest meaning. Layer 0, the *input embeddings*, holds what the model adds to a token embedding, such as the place,
so that its cosines are somewhat different.

**Contextual vectors** are computed anew in each sentence: in every layer a token gathers what it needs from the others.
ELMo showed in 2018 that the uses nearest to a *play* on a stage are then other stage plays
([Peters et al. 2018](https://arxiv.org/abs/1802.05365), table 4). How near two uses are is measured by the cosine of
their vectors $u$ and $v$:

$$\\cos(u, v) = \\frac{u \\cdot v}{\\|u\\| \\, \\|v\\|}$$

**What it does not show.** Near is not the same as alike in meaning: form, place in the sentence and topic count, too.
The sentences here were written so that counting the words around helps little (*Senses in numbers* shows how little),
and no layer gets all right. That a person wrote and labelled them makes the labels no law: two people would not always
agree."""
VIEW = "nearest"  # what the examples are about
GO = "use => explorer.neighbours.go(use)"
LIST_SENSE = "sense => explorer.neighbours.listSense(sense)"
FOLLOW = "explorer.neighbours.follow(element);"
FIRST_OF_ALL = "() => [0, 0]"
IF_OTHER = "word => explorer.isOther('word', word) ? [0, 0] : Array(2).fill({__type__: 'update'})"


def build(registry: Registry) -> LinkedTab:
    """Lay out the tab and wire it; returns what a link restores, too."""
    gallery = read_gallery()
    start = gallery[0]
    with gr.Tab("Neighbours", id="neighbours") as tab:
        build_question(QUESTION)
        with gr.Row(elem_classes="halves"):
            with gr.Column(scale=1, min_width=320, elem_classes="controls-side"):
                picker = build_picker_of(registry, registry.names(Ability.EMBED), start.model)
                word = gr.Dropdown(
                    list(sense_words()), value=start.word, label="Word", allow_custom_value=True,
                    info="Or any other, with sentences of your own.", elem_id="neighbours-word",
                )  # fmt: skip
                message = gr.HTML(padding=False, elem_classes="message-place")
                use = gr.Number(start.use, precision=0, minimum=0, visible="hidden", elem_id="neighbours-use")
                listed = gr.Number(0, precision=0, minimum=0, visible="hidden", elem_id="neighbours-listed")
                with gr.Column(elem_classes="settings"):  # on a phone they stand below the answer
                    which = build_which(FIRST_LAYERS, start.layer)
                    uses = gr.HTML(
                        use_list(read_uses(start.word, ""), start.use), js_on_load=FOLLOW, padding=False,
                        elem_id="use-list",
                    )  # fmt: skip
                    bring = build_own()
                    own, vectors = bring.text, shared_vectors()
                    desk = Desk(picker.name, word, own, use, bring.vectors, which, message, vectors, Static())
                    build_corpus(registry, desk)
            with gr.Column(scale=2, min_width=320, elem_classes=["result-side", "follows"]):
                told = build_look(start.look_for)
                with gr.Tabs(elem_classes="views") as sub_tabs:
                    views = _build_views(registry, desk)
        examples = build_gallery(gallery)
        build_why(WHY)

    with tab:  # Gradio numbers tabs by their place: a State beside them, rather than within one, shifts their labels
        shown = gr.Radio([view.tab.id for view in views], value=views[0].tab.id, visible="hidden")
        relisted = [box.change(_list_uses, [word, own, use], uses, **QUIET) for box in (word, own)]
        went = use.change(None, use, None, js=GO, **QUIET)
        listed.change(None, listed, None, js=LIST_SENSE, **QUIET)
        loaded = wire_own(bring, word, use, listed, desk.static)
        followed = follow_layers(registry, picker.name, which.layer, which.chosen, message, picker.changed)
        wire(message, views, shown, [*relisted, went, *loaded, followed, *which.changed])
        ahead = partial(_embed_ahead, registry, vectors, start)  # behind the page, which is drawn meanwhile
        tab.select(lambda: Thread(target=ahead, daemon=True).start(), None, None, **QUIET)
        # By hand: an example and a link say themselves which use they are about.
        own.input(None, None, [use, listed], js=FIRST_OF_ALL, **QUIET)
        word.focus(None, word, None, js="word => explorer.entered('word', word)", **QUIET)
        word.input(None, word, [use, listed], js=IF_OTHER, **QUIET)
    by_name = linked_fields(views)
    for press, example in examples:
        beside = [by_name[name] for name in ("query", "beside", "beside_layer")]
        filled = [told, picker.name, word, own, use, listed, which.layer, *beside, sub_tabs, shown]
        press.click(lambda example=example: _choose(example), None, filled, **QUIET)
    fields = {"model": picker.name, "word": word, "use": use, "listed": listed, "own": own} | which.fields
    terse = ("use", "listed", "own", "show", *which.fields, *by_name)
    looks = tuple((_fills(example), look_line(example.look_for)) for example in gallery)
    return LinkedTab(
        tab, fields | {"show": shown} | by_name, terse, (sub_tabs, "show"), stretching=("layer",), look=(told, looks)
    )


def _build_views(registry: Registry, desk: Desk) -> list[View]:
    """The views in page order. To add one, write its file and list it here."""
    return [
        nearest.build(registry, desk, read_first_neighbours(), read_gallery()[0]),
        use_map.build(registry, desk),
        sense_numbers.build(registry, desk),
        quiz.build(registry, desk),
    ]


def _embed_ahead(registry: Registry, vectors: Vectors, start: Start) -> None:
    """The first press on a sentence is answered at once, or waits for what is on its way already."""
    try:
        vectors.embed(registry, start.model, read_uses(start.word, ""))
    except ExplorerError as error:  # the press itself will say so
        LOG.info("nothing embedded ahead: %s", error)


def _list_uses(word: str, own: str, use: float) -> str:
    try:
        uses = read_uses(word, own)
        return use_list(uses, use_in_sight(uses, use))
    except ExplorerError:  # the view in sight, which reads the same, says what is wrong
        return ""


def _fills(start: Start) -> dict[str, object]:
    """What an example puts into fields, by their names in the address."""
    query = {"model": start.model, "word": start.word, "own": "", "use": start.use, "listed": 0, "query": ""}
    return query | {"layer": start.layer, "beside": start.compare, "beside_layer": start.other_layer, "show": VIEW}


def _choose(start: Start) -> tuple:
    beside = (start.compare, start.other_layer)
    view = (gr.Tabs(selected=VIEW), VIEW)
    return look_line(start.look_for), start.model, start.word, "", start.use, 0, start.layer, "", *beside, *view
