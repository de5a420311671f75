"""View: the uses nearest to one use, beside the words nearest to the word whatever the sentence."""

from collections.abc import Iterator, Sequence

import gradio as gr

from explorer.analysis.embedding_results import NearUses, UseNeighbours
from explorer.analysis.labelled_uses import LabelledUses
from explorer.errors import UnsuitableText
from explorer.figures.neighbours import near_columns
from explorer.figures.sentences import caption
from explorer.figures.style import count_of
from explorer.models.card import Ability
from explorer.models.registry import Registry
from explorer.tabs.layer_slider import count_layers, read_layer, without_bounds
from explorer.tabs.messages import QUIET, error_box, in_place
from explorer.tabs.neighbours.code import near_code
from explorer.tabs.neighbours.finding import NEAREST, add_use, find_near, read_query
from explorer.tabs.neighbours.gallery import Start
from explorer.tabs.neighbours.material import read_uses, source_words, use_in_sight
from explorer.tabs.neighbours.view import Desk
from explorer.tabs.neighbours.which_vector import LAYER, choose_options, read_vector
from explorer.tabs.picker import beside_options, offer_own
from explorer.tabs.taking_away import download_links, name_after
from explorer.tabs.unread_words import told_unread_by
from explorer.tabs.views import View

PAPER = "https://arxiv.org/abs/1802.05365"
NOTHING, SAME = "nothing", "same"
BESIDE = [("nothing", NOTHING), ("another layer of the model", SAME)]
NOBODY = (NOTHING, "", None)  # what the field holds where nothing stands beside; it can be emptied
MOST_LAYERS = 48  # of a model that stands beside; one with fewer takes its last
BY_HAND = "(compare, by_hand, followed) => compare === followed ? '' : compare"  # input comes whenever a list is left


def build(registry: Registry, desk: Desk, first: UseNeighbours, start: Start) -> View:
    """Lay out the view.

    Args:
        registry: The models on offer.
        desk: What the views share.
        first: What it opens on.
        start: The example that it is of.
    """

    def offer() -> list[tuple[str, str]]:
        return [*BESIDE, *beside_options(registry, registry.names(Ability.EMBED))]

    with gr.Tab("Neighbours", id="nearest") as tab:
        with gr.Row(elem_classes="controls"):
            query = gr.Textbox(
                "", label="Or type a sentence with the word", lines=1, max_lines=3, scale=4, elem_id="near-query",
                placeholder="What is near it?",
            )  # fmt: skip
            compare = gr.Dropdown(
                offer(), value=start.compare, label="Compare with", scale=3, allow_custom_value=True,
                elem_id="near-compare", elem_classes="beside-model",
            )  # fmt: skip
            offer_own(compare, offer)
            other_layer = gr.Slider(
                0, MOST_LAYERS, start.other_layer, step=1, label="Its layer", scale=3,
                visible=start.compare != NOTHING, elem_id="near-other-layer",
            )  # fmt: skip
        chosen, _ = without_bounds(other_layer)
        wrong = gr.HTML(padding=False, elem_id="near-wrong")
        uses = read_uses(start.word, "")
        columns = gr.HTML(_draw(first, uses, start.use), padding=False, elem_classes="result", elem_id="near-columns")
        below = gr.HTML(_foot(first, start.word, "", _first_code(first, start)), padding=False)
        times = gr.Number(0, visible="hidden")  # makes an event of its own, for the reason that views.wire gives
        by_hand = gr.Textbox("", visible="hidden")  # what was chosen to stand beside by no link and no example
        followed = gr.Textbox(start.compare, visible="hidden")  # what the slider follows already

    @in_place(registry, outputs=3, ability=Ability.EMBED)
    def draw_all(
        models: Registry, names: list[str], word: str, own: str, use: float, query: str, other_layer: float,
        file: str | None, *values: object,
    ) -> tuple:  # fmt: skip
        uses = read_uses(word, own)
        try:
            typed = read_query(query, word, uses) if (query or "").strip() else None
        except UnsuitableText as error:  # said below its box
            return error_box(str(error)), gr.skip(), gr.skip()
        place = len(uses.sentences) if typed else use_in_sight(uses, use)
        vectors = [values, _beside(other_layer, *values)]
        near = [
            find_near(desk.vectors, models, name, uses, typed, place, *which)
            for name, which in zip(names, vectors, strict=False)
        ]
        found = desk.static.find(models, names[0], word or _form(near[0]), file, tuple(near))
        chosen = _chosen(desk, models, found.near, uses, vectors)
        code = near_code(word, own, typed, place, chosen, NEAREST, *_looked_up(found, file))
        unread = told_unread_by(models, names, typed.sentences[0]) if typed else ""
        return unread, _draw(found, add_use(uses, typed), place), _foot(found, word, own, code, has_file=bool(file))

    def draw(model: str, word: str, own: str, use: float, query: str, compare: str, *inputs: object) -> Iterator[tuple]:
        names = [model] if compare in NOBODY else [model, model if compare == SAME else compare]
        yield from draw_all(names, word, own, use, query, *inputs)

    @in_place(registry, outputs=3, ability=Ability.EMBED)
    def follow(models: Registry, name: str, compare: str, layer: float, by_hand: str) -> tuple:
        last = count_layers(models, name) - 1
        if by_hand == compare:  # another layer: the input embeddings; another model: what it knows in the end
            return gr.Slider(visible=True, maximum=last, value=0 if compare == SAME else last), "", compare
        if read_layer(layer) > last:
            return gr.Slider(visible=True, maximum=last, value=last), "", compare
        return gr.Slider(visible=True, maximum=last), "", compare  # its value may be on its way

    def follow_beside(compare: str, model: str, *inputs: object) -> Iterator[tuple]:
        if compare in NOBODY:
            yield gr.skip(), gr.Slider(visible=False), "", compare or ""
        else:
            yield from follow(model if compare == SAME else compare, compare, *inputs)

    compare.input(None, [compare, by_hand, followed], by_hand, js=BY_HAND, **QUIET)
    compare.change(None, times, times, js="times => times + 1", **QUIET)
    follows = [desk.message, other_layer, by_hand, followed]
    times.change(follow_beside, [compare, desk.model, chosen, by_hand], follows, **QUIET)
    inputs = [desk.model, desk.word, desk.own, desk.use, query, compare, chosen, desk.file, *desk.which.inputs]
    return View(
        tab, draw, inputs, [wrong, columns, below], {"query": query, "beside": compare, "beside_layer": other_layer}
    )


def _beside(layer: object, *values: object) -> tuple:
    """Which vector of the model that stands beside: one layer, else as in the first."""
    vector = read_vector(*values)
    return read_layer(layer), LAYER, "", vector.adjust, vector.pieces


def _chosen(
    desk: Desk, models: Registry, near: Sequence[NearUses], uses: LabelledUses, vectors: Sequence[Sequence[object]]
) -> list[tuple[NearUses, dict[str, object]]]:
    """What was found, and in which of the vectors, as near_code takes it."""
    which = [read_vector(*values) for values in vectors[: len(near)]]
    return [
        (one, choose_options(vector, desk.vectors.embed(models, one.model, uses, vector.pieces)))
        for one, vector in zip(near, which, strict=True)
    ]


def _first_code(first: UseNeighbours, start: Start) -> str:
    which = [{"layer": layer, "combine": LAYER, "adjust": "none"} for layer in (start.layer, start.other_layer)]
    chosen = list(zip(first.near, which, strict=False))
    return near_code(start.word, "", None, start.use, chosen, NEAREST, *_looked_up(first))


def _looked_up(found: UseNeighbours, file: str | None = None) -> tuple[str, str]:
    """Which word's nearest words were found, and in which file of the visitor's; "" = none."""
    return (found.static.word, found.static.source if file else "") if found.static else ("", "")


def _form(near: NearUses) -> str:
    return near.sentence[near.start : near.end].lower()


def _draw(found: UseNeighbours, uses: LabelledUses, place: int) -> str:
    return near_columns(found.near, found.static, found.why_no_static, uses, place)


def _foot(found: UseNeighbours, word: str, own: str, code: str, *, has_file: bool = False) -> str:
    """What was compared, and all of it to take away."""
    compared = [f"{near.model}: {near.vector}" for near in found.near]
    searched = f"n = {count_of(found.near[0].count, 'other use')} searched"
    entries = "word" if has_file else "token"  # a model's vocabulary has pieces of words, too
    static = f"static: {found.static.source}, {count_of(found.static.count, entries)} searched" if found.static else ""
    parts = [*compared, "cosine", searched, source_words(word, own), static]
    parts += ["a link does not hold your file of word vectors"] if has_file else []
    return caption(parts, PAPER) + download_links(
        found, name_after("neighbours", [word or _form(found.near[0])]), code=code
    )
