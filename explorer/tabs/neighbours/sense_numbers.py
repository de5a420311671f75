"""View: how well each layer tells the senses of a word apart, beside what can be had without a model."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape

import gradio as gr

from explorer.analysis.sense_results import LayerSenses, SenseConfusion, SenseScores, UseSimilarity
from explorer.figures.notes import note
from explorer.figures.sense_tables import (
    baseline_words,
    confusion_table,
    foreign_words,
    score_words,
    senses_table,
    similarity_table,
)
from explorer.figures.senses import accuracy_chart, silhouette_chart, similarity_chart
from explorer.figures.sentences import caption
from explorer.figures.style import count_of
from explorer.models.card import Ability
from explorer.models.registry import Registry
from explorer.tabs.later import later_figure
from explorer.tabs.messages import in_place
from explorer.tabs.neighbours.code import scores_code
from explorer.tabs.neighbours.material import read_uses, source_words
from explorer.tabs.neighbours.measuring import SEED, Labels, Measured, read_labels
from explorer.tabs.neighbours.view import Desk
from explorer.tabs.neighbours.which_vector import LAYER, read_vector
from explorer.tabs.picker import beside_options, offer_own
from explorer.tabs.taking_away import download_links, models_of, name_after, picture_link
from explorer.tabs.views import View

PAPER = "https://arxiv.org/abs/1802.05365"
NOTHING = "nothing"
NEAREST, CENTROID = "nearest", "centroid"
CONFUSED = [("the sense of the nearest use", NEAREST), ("the nearest sense centroid", CENTROID)]
ALL, ENGLISH = "all", "english"
LANGUAGES = [("all", ALL), ("without the German ones", ENGLISH)]


@dataclass(frozen=True)
class Chart:
    """One chart and what is said of it.

    Attributes:
        key: In its file's name.
        title: Above it.
        words: Below it: what to see, and how it was measured.
        needs_labels: Whether it shows how senses differ.
    """

    key: str
    title: str
    words: str
    needs_labels: bool = True


CHARTS = (
    Chart(
        NEAREST,
        "Does the nearest use mean the same?",
        "Each use is taken in turn, and the use at the highest cosine is looked up among all others. Share of uses "
        "whose nearest has their sense. At layer 0 only the form and the place in the sentence are known.",
    ),
    Chart(
        CENTROID,
        "Is the centroid of its sense the nearest?",
        "A sense’s centroid is the mean of its uses; the use in question is left out of it. Share of uses whose own "
        "sense has the nearest centroid. High where a sense is one cloud, even if its uses mix with others.",
    ),
    Chart(
        "silhouette",
        "Are senses tight, and far apart?",
        "Silhouette: 1 = each use is near its own sense and far from the next one, 0 = senses overlap, below 0 = the "
        "use is nearer to another sense. Mean over uses, distance = 1 − cosine.",
    ),
    Chart(
        "self-similarity",
        "How alike are all uses?",
        "Mean cosine of all pairs of uses, whatever they mean. Random other words of these sentences say what any two "
        "words have: only what is above that is owed to the word.",
        needs_labels=False,
    ),
)
SIMILARITY_PAPER = "https://arxiv.org/abs/1909.00512"
ADJUST_WORDS = {"none": "", "centred": "each layer centred", "z_scored": "each layer z-scored"}
ADJUSTED = (
    "The vectors are centred, so that mean cosines are near 0 by construction: self-similarity says nothing here."
)
MISSING = (
    "Your sentences have no labels of two senses or more, so that nobody can say which answers are right: accuracies, "
    "silhouette and confusions need them. Write a sense and | before each sentence. What can be measured without "
    "labels is how alike the uses are."
)


@dataclass(frozen=True)
class Found:
    """What was measured.

    Attributes:
        scores: Of one model or two.
        chosen: Of each: the scores of the chosen vector, where it is no single layer, and what it confuses.
        english: The first model's scores without sentences of another language; None = there are none, or all are.
        labels: Which uses were scored.
    """

    scores: tuple[SenseScores, ...]
    chosen: tuple[tuple[LayerSenses | None, SenseConfusion], ...]
    english: SenseScores | None
    labels: Labels


def build(registry: Registry, desk: Desk) -> View:
    """Lay out the view."""
    measured = Measured(desk.vectors)

    def offer() -> list[tuple[str, str]]:
        return [("nothing", NOTHING), *beside_options(registry, registry.names(Ability.EMBED))]

    with gr.Tab("Senses in numbers", id="numbers") as tab:
        with gr.Row(elem_classes="controls"):
            beside = gr.Dropdown(
                offer(), value=NOTHING, label="Compare with", scale=3, allow_custom_value=True,
                elem_id="numbers-beside", elem_classes="beside-model",
            )  # fmt: skip
            offer_own(beside, offer)
            language = gr.Radio(
                LANGUAGES, value=ALL, label="Sentences", scale=3, visible=False, elem_id="numbers-language"
            )
        said = gr.HTML(padding=False, elem_classes="result", elem_id="numbers-said")
        boxes, plots, links = [], [], []
        for pair in (CHARTS[:2], CHARTS[2:]):
            with gr.Row(elem_classes="chart-pair"):
                for chart in pair:
                    with gr.Column(min_width=300, elem_classes="with-figure") as box:
                        gr.HTML(f"<h3 class='chart-title'>{chart.title}</h3>", padding=False)
                        plots.append(later_figure(f"numbers-{chart.key}"))
                        gr.HTML(note(chart.words), padding=False)
                        links.append(gr.HTML(padding=False))
                    boxes += [box] if chart.needs_labels else []
        with gr.Column(visible=False) as confusions:
            gr.HTML("<h3 class='chart-title'>Which senses are confused?</h3>", padding=False)
            by = gr.Radio(CONFUSED, value=CENTROID, label="A use is taken for", elem_id="numbers-by")
            confused = gr.HTML(padding=False, elem_classes="result", elem_id="numbers-confused")
        table = gr.HTML(padding=False, elem_classes="result", elem_id="numbers-table")
        foot = gr.HTML(padding=False)

    @in_place(registry, outputs=len(plots) + len(links) + len(boxes) + 6, ability=Ability.EMBED)
    def draw_all(
        models: Registry, names: list[str], word: str, own: str, language: str, by: str, *values: object
    ) -> tuple:
        uses, vector = read_uses(word, own), read_vector(*values)
        labels = read_labels(uses, without_foreign=language == ENGLISH)
        source = source_words(word, own)
        layer = vector.layer if vector.combine == LAYER else None
        offer = gr.Radio(visible=bool(labels.foreign))
        if not labels.suffice:
            found = tuple(measured.similarity(models, name, uses, vector) for name in names)
            drawn = _unlabelled(found, word, source, layer)
            return (offer, *drawn, *(gr.Column(visible=False) for _ in boxes), gr.Column(visible=False))
        options = {"without_foreign": language == ENGLISH}
        scores = tuple(measured.scores(models, name, uses, vector, **options) for name in names)
        chosen = [measured.chosen(models, name, uses, labels, *values) for name in names]
        english = None
        if labels.foreign and language != ENGLISH:
            english = measured.scores(models, names[0], uses, vector, without_foreign=True)
        code = ""
        if len(labels.kept) == len(uses.senses):  # no use is left out
            embedded = {name: desk.vectors.embed(models, name, uses, vector.pieces) for name in models_of(scores)}
            code = scores_code(word, own, embedded, vector, SEED)
        drawn = _labelled(Found(scores, tuple(chosen), english, labels), word, source, layer, vector.adjust, by, code)
        return (offer, *drawn, *(gr.Column(visible=True) for _ in boxes), gr.Column(visible=True))

    def draw(model: str, beside: str, *inputs: object) -> Iterator[tuple]:
        yield from draw_all([model] if beside in (NOTHING, model, "", None) else [model, beside], *inputs)

    outputs = [language, said, *plots, *links, confused, table, foot, *boxes, confusions]
    inputs = [desk.model, beside, desk.word, desk.own, language, by, *desk.which.inputs]
    return View(tab, draw, inputs, outputs, {"against": beside, "sentences": language, "taken_for": by})


def _labelled(found: Found, word: str, source: str, layer: int | None, adjust: str, by: str, code: str) -> tuple:
    """What the view shows of labelled uses: words, four charts, their pictures, confusions, the table, the foot."""
    scores = found.scores
    at = [
        (score, confusion.vector, one or score.layers[min(layer or 0, len(score.layers) - 1)])
        for score, (one, confusion) in zip(scores, found.chosen, strict=True)
    ]
    said = "".join(score_words(score, vector, one) for score, vector, one in at) + baseline_words(scores[0])
    if found.labels.unlabelled:
        said += note(f"Left out: {count_of(found.labels.unlabelled, 'use')} without a label.")
    if found.english:
        said += foreign_words(found.english, layer)
    said += "".join(note(remark) for score in scores for remark in score.remarks)
    charts = (
        accuracy_chart(scores, NEAREST, layer),
        accuracy_chart(scores, CENTROID, layer),
        silhouette_chart(scores, layer),
        similarity_chart(scores, layer),
    )
    n = f"n = {scores[0].uses:,} uses, {len(scores[0].senses)} senses"
    joined = [(confusion.model, confusion.vector, one) for one, confusion in found.chosen if one]
    parts = [*(score.model for score in scores), f"{n}, {source}", f"pieces: {scores[0].pieces}", ADJUST_WORDS[adjust]]
    parts += [f"leave one out; {scores[0].intervals}, seed {SEED}"]
    foot = (note(ADJUSTED) if adjust != "none" else "") + caption(parts, PAPER)
    confusions = tuple(one for _, one in found.chosen)
    scored = tuple(
        replace(score, joined=(confusion.vector, one)) if one else score
        for score, (one, confusion) in zip(scores, found.chosen, strict=True)
    )
    links = download_links(scored, name_after("senses", [word]), of="scores", with_link=False)
    links += download_links(confusions, name_after("confusion", [word]), of="confusions", code=code)
    return (
        said,
        *(gr.Plot(chart, visible=True) for chart in charts),
        *_pictures(scores, word, n),
        "".join(
            f"<h4>{escape(one.model)}, {escape(one.vector)}</h4>{confusion_table(one, by)}" for _, one in found.chosen
        ),
        senses_table(scores, joined, layer),
        foot + f"<div class='two-takes'>{links}</div>",
    )


def _unlabelled(found: tuple[UseSimilarity, ...], word: str, source: str, layer: int | None) -> tuple:
    """The same where nobody has labelled the uses: how alike they are, and what is missing."""
    n = f"n = {found[0].uses:,} uses"
    parts = [*(one.model for one in found), f"{n}, {source}", f"pieces: {found[0].pieces}"]
    parts += [f"{found[0].intervals}, seed {SEED}"]
    hidden = [gr.Plot(None, visible=False)] * 3
    said = f"<p class='missing'>{MISSING}</p>" + "".join(note(remark) for one in found for remark in one.remarks)
    foot = caption(parts, SIMILARITY_PAPER) + download_links(found, name_after("self-similarity", [word]))
    pictures = _pictures(found, word, n)
    chart = gr.Plot(similarity_chart(found, layer), visible=True)
    return said, *hidden, chart, *pictures, "", similarity_table(found, layer), foot


def _pictures(scores: Sequence[SenseScores | UseSimilarity], word: str, n: str) -> list[str]:
    """The button of each chart's PNG."""
    names = models_of(tuple(scores))
    under = f"{' and '.join(names)}, {n}"
    return [picture_link(chart.key, (f"“{word}”: {chart.title}", under), names) for chart in CHARTS]
