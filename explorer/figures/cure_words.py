"""What cures do, in words: each in a sentence, what of it is so by construction, and whether senses are told better."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from explorer.analysis.anisotropy_metrics import METRICS
from explorer.analysis.anisotropy_results import Anisotropy
from explorer.analysis.cures import CURES
from explorer.analysis.sense_results import CuredSenses, Estimate, PairedUses
from explorer.figures.anisotropy_charts import number_words, place_of
from explorer.figures.cure_charts import cure_mark
from explorer.figures.layer_lines import mark_of
from explorer.figures.notes import note
from explorer.figures.style import percent, two_decimals

CLEAR = 0.05  # a difference that chance makes more rarely is called clear
MEASURES = {"centroid": "nearest centroid of a sense", "nearest": "nearest other use"}
SPECTRAL = ("isoscore", "effective_rank", "top_1_variance", "top_3_variance", "top_10_variance")
LENGTHS = ("mean_norm", "norm_spread")
CENTRED = ("mean_removal", "z_score", "all_but_the_top", "whitening")
BY_CONSTRUCTION = (  # metrics, cures, and what the one cannot show after the other
    (
        ("mean_cosine",),
        CENTRED,
        "Once the mean is taken off, the vectors cancel out: but for their differing lengths their mean cosine is "
        "{balanced}, whatever they were like before. So it cannot tell these cures apart.",
    ),
    (
        tuple(key for key in METRICS if f"{key}_adjusted" in METRICS),
        CENTRED,
        "Part of it is what any two vectors share, which taking the mean off removes, whatever they were like: choose "
        "the adjusted one as well before you call it a cure.",
    ),
    (
        SPECTRAL,
        ("mean_removal",),
        "It is measured about the mean, so that mean removal cannot change it.",
    ),
    (
        SPECTRAL,
        ("all_but_the_top",),
        "All but the top takes the first components away, by definition: those that come after stand in their place.",
    ),
    (
        SPECTRAL,
        ("whitening",),
        "Whitening gives the same variance to every direction that the corpus has, by construction (IsoScore is 1 "
        "where it has as many as a vector has numbers): that proves nothing by itself.",
    ),
    (
        LENGTHS,
        ("z_score", "whitening", "rank"),
        "Z-scores, whitening and ranks measure in another unit: lengths before and after cannot be compared.",
    ),
)


def cure_list(cures: Sequence[str]) -> str:
    """What each cure does, in a sentence, and who proposed it."""
    rows = ""
    for cure in (CURES[key] for key in cures if key != "none"):
        paper, _, link = cure.source.rpartition(", ")
        source = f" <a href='{escape(link)}' target='_blank' rel='noopener'>{escape(paper)}</a>" if link else ""
        rows += f"<li>{_sign(cure.key)} <b>{escape(cure.label)}.</b> {escape(cure.says)}{source}</li>"
    return f"<ul class='cure-list'>{rows}</ul>" if rows else note("No cure is chosen: the vectors stand as they are.")


def cured_metric_words(found: Sequence[Anisotropy], key: str, layer: int) -> str:
    """The value of a metric in the layer looked at, before and after each cure."""
    at = place_of(found[0], layer)
    parts = ", ".join(
        f"{_sign(one.cure)} {escape(CURES[one.cure].label.lower())} "
        f"<b title='{one.metrics[key][at]!r}'>{number_words(one.metrics[key][at])}</b>"
        for one in found
    )
    isotropic = found[0].isotropic[key]
    beside = "" if isotropic is None else f"; isotropic {number_words(isotropic)}"
    name = f"{escape(METRICS[key].label)}, layer {found[0].layers[at]} of <bdi>{escape(found[0].model)}</bdi>"
    return f"<p class='senses-said'>{name}: {parts}{beside}.</p>"


def spectrum_words(found: Sequence[Anisotropy], layer: int) -> str:
    """How much of the variance the first component has, before and after."""
    at, even = place_of(found[0], layer), 1 / min(found[0].dim, found[0].protocol.points - 1)
    shares = ", ".join(f"{CURES[one.cure].label.lower()} {percent(one.spectrum[at, 0].item())}" for one in found)
    removed = any(one.cure == "mean_removal" for one in found)
    same = " Variance is about the mean: the line of mean removal lies on that of the vectors as they are."
    return note(
        f"Variance along the first component of layer {found[0].layers[at]}: {shares}; all alike it would be "
        f"{percent(even)}. A flat line is an even space; a steep start is a few directions that have most of it."
        + same
        * removed
    )


def cosines_words(found: Sequence[Anisotropy], layer: int) -> str:
    """How far apart the two hills of each histogram are."""
    at = place_of(found[0], layer)
    gaps = [(CURES[one.cure].label.lower(), one.metrics["self_similarity_adjusted"][at]) for one in found]
    said = "What to see: whether the hills draw apart, not only whether the filled one moves to 0."
    if all(gap is not None for _, gap in gaps):
        parts = ", ".join(f"{label} {number_words(gap)}" for label, gap in gaps)
        unit = found[0].protocol.unit
        below = " (below 0: farther)" if min(gap for _, gap in gaps) < 0 else ""
        said = f"Two uses of one word are nearer{below} than any two {unit}, in mean cosine, by: {parts}. {said}"
    return note(said)


def construction_notes(key: str, cures: Sequence[str], points: int) -> str:
    """What a metric cannot show after these cures, whatever the model.

    Args:
        key: Of METRICS.
        cures: Keys of CURES.
        points: How many vectors were measured.
    """
    said = [words for keys, after, words in BY_CONSTRUCTION if key in keys and set(after) & set(cures)]
    balanced = _balanced_cosine(points)
    return "".join(f"<p class='note by-construction'>{escape(words.format(balanced=balanced))}</p>" for words in said)


def _balanced_cosine(points: int) -> str:
    """The mean cosine of vectors of one length that cancel out, in words: of few it is clearly below 0."""
    value = number_words(-1 / (points - 1))
    return f"−1/{points - 1:,}, or {value}, as there are only {points:,} of them" if float(value[1:]) else "0"


def cured_senses_words(found: Sequence[CuredSenses], layer: int, word: str) -> str:
    """Whether each cure tells the senses of a word better in the layer looked at, in plain sentences.

    Args:
        found: After each cure, of the same uses; one of them is "none".
        layer: Which; a model with fewer layers shows its last.
        word: Whose uses these are.
    """
    before, at = _before(found), _place(found[0], layer)
    scores = before.scores
    said = f"“<bdi>{escape(word)}</bdi>”, layer {scores.layers[at].layer} of <bdi>{escape(scores.model)}</bdi>"
    if not found[1:]:
        one = scores.layers[at]
        return (
            f"<p class='senses-said'>{said}, as they are: {percent(one.centroid.value)} of the {scores.uses:,} uses "
            f"are nearest to the centroid of their sense, and {percent(one.nearest.value)} to a use of it. Choose a "
            f"cure to see whether it helps.</p>"
        )
    lines = "".join(f"<li>{_verdict(found, measure, at)}</li>" for measure in MEASURES)
    return f"<p class='senses-said'>Does it help? {said}:</p><ul class='cure-verdict'>{lines}</ul>"


def cured_senses_table(found: Sequence[CuredSenses], layer: int) -> str:
    """How many uses are told right before and after, and how many of them changed, in the layer looked at."""
    at = _place(found[0], layer)
    tops = "".join(f"<th scope='colgroup' class='number' colspan='3'>{escape(name)}</th>" for name in MEASURES.values())
    heads = "".join(f"<th scope='col' class='number'>{head}</th>" for head in ("right", "+ / −", "p")) * len(MEASURES)
    rows = ""
    for one in found:
        cells = "".join(
            _cells(getattr(one.scores.layers[at], measure), getattr(one.layers[at], measure), one.cure)
            for measure in MEASURES
        )
        rows += f"<tr><th scope='row'>{_sign(one.cure)} {escape(cure_words(one))}</th>{cells}</tr>"
    return (
        "<div class='scores-scroll' tabindex='0' role='region' aria-label='Senses before and after cures'>"
        f"<table class='scores sense-scores'><thead><tr><th scope='col' rowspan='2'>Cure</th>{tops}</tr>"
        f"<tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def cure_words(one: CuredSenses) -> str:
    """A cure with what it was set to."""
    return CURES[one.cure].label + (f" {one.components}" if one.components else "")


def _verdict(found: Sequence[CuredSenses], measure: str, at: int) -> str:
    """Which cures help, which hurt, and which do neither clearly, by one measure in one layer."""
    groups: dict[str, list[str]] = {"helps": [], "hurts": [], "makes no clear difference": []}
    start: Estimate = getattr(_before(found).scores.layers[at], measure)
    for one in found:
        if one.cure == "none":
            continue
        changed: PairedUses = getattr(one.layers[at], measure)
        share = percent(getattr(one.scores.layers[at], measure).value)
        verdict = "makes no clear difference"
        if changed.p < CLEAR:
            verdict = "helps" if changed.gained > changed.lost else "hurts"
        groups[verdict].append(f"{escape(cure_words(one).lower())} ({share})")
    parts = "; ".join(f"<b>{verdict}</b>: {', '.join(names)}" for verdict, names in groups.items() if names)
    return f"By the {MEASURES[measure]}, {percent(start.value)} right as they are; {parts}."


def _cells(right: Estimate, changed: PairedUses, cure: str) -> str:
    share = f"<td class='number' title='{right.value!r}'>{percent(right.value)}</td>"
    if cure == "none":
        return f"{share}<td class='number quiet'>–</td><td class='number quiet'>–</td>"
    p = "&lt; 0.01" if changed.p < 0.01 else two_decimals(changed.p)
    words = f"{changed.gained} uses became right, {changed.lost} wrong"
    return (
        f"{share}<td class='number' title='{words}'>+{changed.gained} / −{changed.lost}</td>"
        f"<td class='number' title='{changed.p!r}'>{p}</td>"
    )


def _before(found: Sequence[CuredSenses]) -> CuredSenses:
    return next(one for one in found if one.cure == "none")


def _place(one: CuredSenses, layer: int) -> int:
    known = [at.layer for at in one.layers]
    return known.index(layer) if layer in known else len(known) - 1


def _sign(cure: str) -> str:
    colour, _, glyph = mark_of(cure_mark(cure))
    return f"<i style='color:{colour}' aria-hidden='true'>{glyph}</i>"
