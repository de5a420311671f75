"""View: whether cosines agree with the scores of pairs of texts, by pooling, layer and cure."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import gradio as gr

from explorer.analysis.anisotropy_results import SimilarityScores
from explorer.analysis.cures import CURES
from explorer.analysis.pair_agreement import POOLING_LABELS, rank_pairs
from explorer.analysis.pair_files import read_pair_file
from explorer.analysis.pair_results import PairCosines, RankedPairs
from explorer.errors import UnsuitableText
from explorer.figures.anisotropy_words import pairs_note
from explorer.figures.notes import itself_note, note
from explorer.figures.sentences import caption
from explorer.figures.similarity import (
    BEST,
    CHOSEN,
    LAST,
    agreement_words,
    cures_chart,
    disagreements,
    score_at,
    similarity_table,
)
from explorer.models.card import Ability
from explorer.models.catalogue import VECTOR_MODEL
from explorer.models.registry import Registry
from explorer.tabs.anisotropy.code import similarity_code
from explorer.tabs.anisotropy.material import read_corpus
from explorer.tabs.anisotropy.text_material import OWN, POOLINGS, ComparedPairs, read_pair_set
from explorer.tabs.anisotropy.view import Desk
from explorer.tabs.later import later_figure
from explorer.tabs.layer_slider import read_layer
from explorer.tabs.messages import QUIET, error_box, explain, in_place, refused_place
from explorer.tabs.picker import beside_options, offer_own
from explorer.tabs.taking_away import download_links
from explorer.tabs.uploads import file_button
from explorer.tabs.views import View

PAIR_FILES = (".txt", ".tsv", ".csv")
PAPER = "https://arxiv.org/abs/1908.10084"
MOST_BESIDE = 3
SENTENCE_MODEL = VECTOR_MODEL  # trained to compare sentences: the one the others are to be set beside
SETS = [("sentences", "sentences"), ("words", "words"), ("your own", OWN)]
LAYERS = [("last", LAST), ("slider’s", CHOSEN), ("best", BEST)]
CURE_CHOICES = [(cure.label, key) for key, cure in CURES.items()]
POOLING_CHOICES = [(POOLING_LABELS[key], key) for key in POOLINGS]
SCALE = "100 = the cosines put the pairs in the order of their scores, 0 = no relation. "
OF_SENTENCES = (
    "Sentence-BERT: the last layer of a model that was trained to compare sentences, pooled as in its training; other "
    "models have none."
)
DRAWN_AGAIN = "Behind each number the interval in which 95 of 100 lie when the pairs are drawn again. "
CHANGED = (
    " A change in bold keeps its sign in its interval. Changes are taken before anything is rounded, so that they may "
    "seem a tenth off."
)
OF_LAYERS = "Behind each number the layer that it is of: 0 = the input embeddings. "
CHART = (
    "The chosen model layer by layer, by the pooling above: where is the line highest, and does a cure lift it in all "
    "layers or only in some?"
)
LOOK_FOR = {
    "sentences": "What to look for: a negation or two swapped roles leave nearly all words the same, and change what "
    "is said; a paraphrase changes the words and leaves it.",
    "words": "What to look for: opposites stand in the same places of sentences, so that a model that learned from "
    "places may have them near each other.",
    OWN: "",
}
SHIPPED = (
    "One author wrote these pairs and scored them, for teaching: no panel of people stands behind the scores, and a "
    "number here cannot be set beside a published one. Published sets (STS-B, SimLex-999, WordSim-353 and the like) "
    "can be loaded under “your own”."
)
FEWEST_PAIRS = 20  # whose intervals are told without a warning
FEW_PAIRS = "So few pairs are drawn again and again that the intervals hardly say how other pairs would come out."
FEW_FITTED = (
    "The cures were fitted on {texts:,} texts, and a vector of {model} has {dim:,} numbers: whitening brings only "
    "{rank:,} directions to the same variance, and takes all else away."
)


def build(registry: Registry, desk: Desk) -> View:
    """Lay out the view."""
    compared, names = ComparedPairs(), registry.names(Ability.EMBED)
    offer = partial(beside_options, registry, names)
    with gr.Tab("Similarity", id="similarity") as tab:
        with gr.Row(elem_classes="controls"):
            which = gr.Radio(SETS, value="sentences", label="Pairs", scale=4, elem_id="similarity-pairs")
            pooling = gr.Radio(POOLING_CHOICES, value="mean", label="Pooling", scale=3, elem_id="similarity-pooling")
        with gr.Row(elem_classes="controls"):
            cure = gr.Dropdown(
                CURE_CHOICES,
                value="mean_removal",
                label="Cure",
                filterable=False,
                scale=2,
                min_width=180,
                elem_id="similarity-cure",
            )
            at = gr.Radio(LAYERS, value=LAST, label="Layer", scale=3, elem_id="similarity-layer")
            beside = gr.Dropdown(
                offer(), value=[name for name in names if name == SENTENCE_MODEL], multiselect=True,
                max_choices=MOST_BESIDE, label=f"Beside it, up to {MOST_BESIDE}", allow_custom_value=True,
                scale=3, elem_id="similarity-beside",
            )  # fmt: skip
            offer_own(beside, offer)
        with gr.Column(visible=False) as bring:
            text = gr.Textbox(
                "", lines=4, max_lines=8, label="Your pairs: two texts and a score in each line",
                info="With tabs, semicolons or commas between. More = more alike, on any scale. With more columns, the "
                "first line names them.",
                placeholder="a small cat\ta kitten\t8.5", elem_id="similarity-own",
            )  # fmt: skip
            file = file_button("Pairs from a file", PAIR_FILES, "similarity-file")
        refused = refused_place("similarity-refused")
        table = gr.HTML(padding=False, elem_classes="result", elem_id="similarity-table")
        with gr.Column(elem_classes="with-figure"):
            gr.HTML("<h3 class='chart-title'>Layer by layer</h3>", padding=False)
            plot = later_figure("similarity-plot")
            gr.HTML(note(CHART), padding=False)
            taken = gr.HTML(padding=False)
        gr.HTML("<h3 class='chart-title'>Where model and scores part</h3>", padding=False)
        parting = gr.HTML(padding=False, elem_classes="result", elem_id="similarity-parting")
        foot = gr.HTML(padding=False)

    @in_place(registry, outputs=6, ability=Ability.EMBED)
    def draw_all(
        models: Registry, names: list[str], which: str, own: str, layer: float, typed: str, cure: str, pooling: str,
        at: str,
    ) -> tuple:  # fmt: skip
        _check(cure, pooling, at)
        sentences, layer = read_corpus(own), read_layer(layer)
        try:
            pairs = read_pair_set(which, typed)
        except UnsuitableText as error:  # said below their box: all else is well
            return error_box(str(error)), *[gr.skip()] * 5
        wanted = [tuple(CURES) if cure != "none" else ("none",), ("none", cure)]
        found = [
            compared.compare(models, name, pairs, sentences, tuple(dict.fromkeys(wanted[min(place, 1)])))
            for place, name in enumerate(dict.fromkeys(names))
        ]
        cosines, scores = found[0][0], [one for _, one in found]
        chosen = score_at(scores[0], pooling, cure, at, layer)
        looked = chosen.layer if chosen else scores[0].layer_count - 1
        ranked = rank_pairs(cosines, pooling=pooling, cure=cure, layer=looked, kinds=pairs.kinds)
        code = similarity_code(own, which, typed, scores)
        *drawn, foot = _drawn(found, ranked, (pooling, cure, at, layer), looked, which, code)
        drawn[0] += pairs_note(map(models.card, names))
        return "", *drawn, itself_note(names) + foot

    def draw(model: str, beside: Sequence[str], which: str, *inputs: object) -> Iterator[tuple]:
        box = gr.Column(visible=which == OWN)  # before anything is read: it is where own pairs are put
        models = [model, *(beside or [])[:MOST_BESIDE]]
        for message, *drawn in draw_all(models, which, *inputs):
            yield message, box, *drawn

    def take(path: str | None) -> tuple:
        if not path:
            return gr.skip(), gr.skip()
        try:
            pairs = read_pair_file(Path(path))
            return "", "\n".join(f"{_cell(one.first)}\t{_cell(one.second)}\t{one.score!r}" for one in pairs)
        except Exception as error:
            return explain(error), gr.skip()

    file.upload(take, file, [refused, text], **QUIET)
    inputs = [desk.model, beside, which, desk.own, desk.layer, text, cure, pooling, at]
    own = {"pairs": which, "own_pairs": text, "pair_cure": cure, "pair_pooling": pooling, "pair_layer": at}
    own |= {"pair_models": beside}
    return View(tab, draw, inputs, [bring, refused, table, plot, taken, parting, foot], own)


def how_to_read(cure: str, at: str) -> str:
    """What the numbers of the table are, and what stands in small behind them.

    Args:
        cure: As similarity_table takes it.
        at: Likewise.
    """
    if at == BEST:
        return SCALE + OF_LAYERS + OF_SENTENCES
    return SCALE + DRAWN_AGAIN + OF_SENTENCES + CHANGED * (cure != "none")


def _drawn(
    found: Sequence[tuple[PairCosines, SimilarityScores]],
    ranked: RankedPairs,
    chosen: tuple,
    looked: int,
    which: str,
    code: str,
) -> tuple:
    """What the view shows: the table, the chart and what it is taken away by, the pairs."""
    pooling, cure, at, layer = chosen
    scores = [one for _, one in found]
    has_few = at != BEST and scores[0].pairs < FEWEST_PAIRS
    said = agreement_words(scores[0], pooling, cure, at, layer) + note(how_to_read(cure, at))
    said += (note(SHIPPED) if which != OWN else "") + (note(FEW_PAIRS) if has_few else "")
    remarks = "".join(note(f"{one.model}: {remark}") for one in scores for remark in one.remarks)
    pairs = f"{scores[0].name}: n = {scores[0].pairs:,} pairs of {scores[0].texts:,} texts"
    drawn_again = [scores[0].intervals] if at != BEST else []
    fitted = [f"cures fitted on {scores[0].fitted_on}"] if cure != "none" else []
    if fitted:  # then the chart has all of them
        remarks += "".join(
            note(FEW_FITTED.format(texts=one.fit_texts, model=one.model, dim=one.dim, rank=one.fit_texts - 1))
            for one, _ in found
            if one.fit_texts <= one.dim
        )
    models = ", ".join(one.model for one in scores)
    title = (f"Agreement with the scores, {scores[0].model}, pooling {POOLING_LABELS[pooling]}", pairs)
    return (
        similarity_table(scores, cure, at, layer) + said + remarks,
        gr.Plot(cures_chart(scores[0], pooling, looked), visible=True),
        caption([models, pairs, *drawn_again, *fitted], PAPER)
        + download_links(tuple(scores), "similarity", title, code=code),
        disagreements(ranked) + (note(LOOK_FOR[which]) if LOOK_FOR[which] else ""),
        caption([ranked.model, ranked.vector, pairs, *fitted]) + download_links(ranked, "pairs", with_link=False),
    )


def _check(cure: str, pooling: str, at: str) -> None:
    """Refuse what the controls do not offer; every handler can be called by anyone."""
    for value, choices in ((cure, CURE_CHOICES), (pooling, POOLING_CHOICES), (at, LAYERS)):
        known = [key for _, key in choices]
        if value not in known:
            raise UnsuitableText(f"There is no {value!r} here. Choose one of: {', '.join(known)}.")


def _cell(text: str) -> str:
    return " ".join(text.split())
