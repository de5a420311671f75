"""View: which of the visitor's own sentences are nearest to a query, as they are beside a cure."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter

import gradio as gr

from explorer import analysis
from explorer.analysis.anisotropy_results import FoundTexts
from explorer.analysis.cures import CURES
from explorer.analysis.pair_agreement import POOLING_LABELS
from explorer.errors import UnsuitableQuery
from explorer.figures.found_texts import found_columns
from explorer.figures.notes import foreign_note, note
from explorer.figures.sentences import caption
from explorer.models.card import Ability
from explorer.models.registry import Registry
from explorer.tabs.anisotropy.code import search_code
from explorer.tabs.anisotropy.material import read_corpus
from explorer.tabs.anisotropy.text_material import POOLINGS, SearchedTexts
from explorer.tabs.anisotropy.view import Desk
from explorer.tabs.layer_slider import count_layers, read_layer
from explorer.tabs.messages import error_box, in_place, refused_place
from explorer.tabs.taking_away import download_links
from explorer.tabs.views import View

PAPER = "https://arxiv.org/abs/1908.10084"
QUERY = "A man is fishing by the river."
SHOWN, TAKEN = 10, 50
SEE = (
    "Compare the cosines, not only the order: where all texts point much the same way, even the farthest one is near, "
    "and the nearest hardly nearer. Does the cure spread the cosines, and does it change which texts come first? To "
    "search sentences of your own, put them under “Corpus”; the cure is fitted on what is searched."
)
WHITENED = (
    "Whitening needs several times as many texts as a vector has numbers. With fewer texts than numbers it puts all of "
    "them equally far from each other."
)


def build(registry: Registry, desk: Desk) -> View:
    """Lay out the view."""
    searched = SearchedTexts()
    cures = [(cure.label, key) for key, cure in CURES.items()]
    with gr.Tab("Search", id="search") as tab:
        query = gr.Textbox(
            QUERY, label="Search for", lines=1, max_lines=3, placeholder="A word or a sentence", elem_id="search-query"
        )
        with gr.Row(elem_classes="controls"):
            cure = gr.Dropdown(
                cures,
                value="mean_removal",
                label="Cure",
                filterable=False,
                scale=2,
                elem_id="search-cure",
                min_width=200,
            )
            pooling = gr.Radio(
                [(POOLING_LABELS[key], key) for key in POOLINGS], value="mean", label="Pooling", scale=3,
                elem_id="search-pooling",
            )  # fmt: skip
        refused = refused_place("search-refused")
        columns = gr.HTML(padding=False, elem_classes="result", elem_id="search-columns")
        foot = gr.HTML(padding=False)

    @in_place(registry, outputs=3, ability=Ability.EMBED)
    def draw(
        models: Registry, model: str, own: str, layer: float, query: str, cure: str, pooling: str
    ) -> tuple:  # fmt: skip
        wanted = tuple(dict.fromkeys(["none", cure]))
        sentences = read_corpus(own)
        try:
            found = searched.find(
                models, model, sentences, query, pooling=pooling, layer=read_layer(layer), cures=wanted
            )  # fmt: skip
        except UnsuitableQuery as error:  # said where the query stands: the corpus is well
            return error_box(str(error)), gr.skip(), gr.skip()
        pieces = models.run(model, partial(analysis.tokenize_text, text=found[0].query)).pieces
        added = [piece.token for piece in pieces if piece.is_special]
        room = models.run(model, attrgetter("limit_tokens")) - len(added)
        read = [piece.token for piece in pieces if not piece.is_special][:room] + added
        at = min(read_layer(layer), count_layers(models, model) - 1)
        options = {"query": query, "pooling": pooling, "layer": at, "k": TAKEN}
        code = search_code(own, found[0].model, options, wanted)
        # Of the query, above what was found: else it is out of sight.
        above = "".join(map(note, found[0].remarks)) + foreign_note(read, found[0].query)
        said = note(SEE)
        said += note(WHITENED) if cure == "whitening" else ""
        return "", above + found_columns(found, wanted, SHOWN), said + _foot(found, sentences.name, code)

    inputs = [desk.model, desk.own, desk.layer, query, cure, pooling]
    return View(
        tab, draw, inputs, [refused, columns, foot], {"query": query, "search_cure": cure, "search_pooling": pooling}
    )


def _foot(found: Sequence[FoundTexts], corpus: str, code: str) -> str:
    """What was compared, and the nearest texts to take away."""
    parts = [
        found[0].model,
        *(one.vector for one in found),
        f"n = {found[0].count:,} different texts searched: {corpus}",
    ]
    taken = tuple(replace(one, found=one.found[:TAKEN]) for one in found)
    return caption(parts, PAPER) + download_links(taken, "search", code=code)
