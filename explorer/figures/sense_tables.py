"""Senses in numbers as tables: the scores of every layer, and which senses are taken for which. HTML, all escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from explorer.analysis.sense_results import Estimate, LayerSenses, SenseConfusion, SenseScores, UseSimilarity
from explorer.figures.notes import note
from explorer.figures.sense_marks import mark_senses, sense_label
from explorer.figures.senses import baselines
from explorer.figures.style import percent, two_decimals

HEADS = ("nearest use", "sense centroid", "silhouette", "self-similarity", "random words")
NOTHING = "<td class='number quiet'>–</td>"
MOST_CHARACTERS = 24  # of the weights of a sum, and of a name in one line


def senses_table(
    scores: Sequence[SenseScores], chosen: Sequence[tuple[str, str, LayerSenses]] = (), layer: int | None = None
) -> str:
    """The scores of each layer with their intervals.

    Args:
        scores: Of one model or two.
        chosen: Further vectors: the model, which vector in words, its scores.
        layer: The one looked at.
    """
    several = len(scores) > 1
    rows = ""
    for score in scores:
        rows += _model_row(score.model, len(HEADS) + 1) if several else ""
        last = score.layers[-1].layer
        for one in score.layers:
            is_at = layer is not None and one.layer == min(layer, last)
            name = "0, input" if one.layer == 0 else str(one.layer)
            rows += _score_row(name, one, is_at=is_at)
        rows += "".join(_score_row(words, one, is_at=True) for model, words, one in chosen if model == score.model)
    heads = "".join(f"<th scope='col' class='number'>{head}</th>" for head in HEADS)
    return _table(f"<th scope='col'>Layer</th>{heads}", rows, "Scores of every layer")


def similarity_table(scores: Sequence[UseSimilarity], layer: int | None = None) -> str:
    """Self-similarity of each layer, where there are no labels.

    Args:
        scores: Of one model or two.
        layer: The one looked at.
    """
    rows = ""
    for score in scores:
        rows += _model_row(score.model, 3) if len(scores) > 1 else ""
        for one in score.layers:
            is_at = layer is not None and one.layer == min(layer, score.layers[-1].layer)
            cells = _cosine(one.self_similarity) + _cosine(one.baseline)
            rows += f"<tr{' class=at' if is_at else ''}><th scope='row'>{one.layer}</th>{cells}</tr>"
    heads = "".join(f"<th scope='col' class='number'>{head}</th>" for head in HEADS[-2:])
    return _table(f"<th scope='col'>Layer</th>{heads}", rows, "Self-similarity of every layer")


def score_words(scores: SenseScores, vector: str, at: LayerSenses) -> str:
    """The chosen vector's two accuracies in a sentence."""
    return (
        f"<p class='senses-said'><b>{escape(scores.model)}, {escape(vector)}:</b> "
        f"<b title='{at.nearest.value!r}'>{percent(at.nearest.value)}</b> of the uses have a nearest use that means "
        f"the same, and <b title='{at.centroid.value!r}'>{percent(at.centroid.value)}</b> are nearest to the centroid "
        f"of their sense.</p>"
    )


def baseline_words(scores: SenseScores) -> str:
    """What is had without a model, in a sentence."""
    without = ", ".join(told for _, told in baselines(scores))
    return note(f"Without a model: {without}. Bag of words: the sense whose sentences share most words.")


def foreign_words(english: SenseScores, layer: int | None) -> str:
    """What is left where the German sentences are left out, of one layer; None = the last."""
    last = len(english.layers) - 1
    at = english.layers[last if layer is None else min(layer, last)]
    without = ", ".join(told for _, told in baselines(english))
    return note(
        "The German sentences are told by all their other words, which says little about the word. "
        f"Without them (n = {english.uses:,}, {len(english.senses)} senses), layer {at.layer} of "
        f"{english.model}: nearest use {percent(at.nearest.value)}, sense centroid {percent(at.centroid.value)} "
        f"({without})."
    )


def confusion_table(confusion: SenseConfusion, by: str) -> str:
    """How many uses of each sense are taken for which; right ones on the diagonal.

    Args:
        confusion: Of one vector of each use.
        by: "nearest" or "centroid".
    """
    counts = getattr(confusion, by)
    marks = mark_senses(confusion.senses)
    heads = "".join(
        f"<th scope='col' class='number' title='{escape(sense)}'><bdi class='over'>{escape(sense)}</bdi>"
        f"<i style='color:{marks[sense].colour}'>{marks[sense].glyph}</i></th>"
        for sense in confusion.senses
    )
    rows = ""
    for sense, row in zip(confusion.senses, counts, strict=True):
        total = sum(row)
        cells = "".join(_count(confusion.senses[place], sense, count, total) for place, count in enumerate(row))
        right = row[confusion.senses.index(sense)]
        rows += (
            f"<tr><th scope='row'>{sense_label(sense, marks)}</th>{cells}"
            f"<td class='number' title='{right / total!r}'>{percent(right / total)}</td></tr>"
        )
    corner = "<th scope='col'>meant ↓ taken for →</th>"
    return _table(
        f"{corner}{heads}<th scope='col' class='number'>right</th>",
        rows,
        "Which senses are confused",
        "sense-confusion",
    )


def _count(other: str, sense: str, count: int, total: int) -> str:
    if not count:
        return "<td class='number quiet'>·</td>"
    kind = "heat right" if other == sense else "heat"
    words = f"{count} of {total} uses of “{sense}” taken for “{other}”"
    return f"<td class='number {kind}' style='--c:{count / total:.2f}' title='{escape(words)}'>{count}</td>"


def _model_row(model: str, columns: int) -> str:
    return f"<tr><th scope='rowgroup' colspan='{columns}'><b>{escape(model)}</b></th></tr>"


def _score_row(name: str, one: LayerSenses, *, is_at: bool) -> str:
    shares = "".join(_share(estimate) for estimate in (one.nearest, one.centroid))
    cosines = "".join(_cosine(estimate) for estimate in (one.silhouette, one.self_similarity, one.baseline))
    short, _, weights = name.partition(" (")  # which stand in the words above the table, too
    wide = f" class='wraps' title='{escape(name)}'" if weights or len(name) > MOST_CHARACTERS else ""
    head = f"<th scope='row'{wide}>{escape(short if len(weights) > MOST_CHARACTERS else name)}</th>"
    return f"<tr{' class=at' if is_at else ''}>{head}{shares}{cosines}</tr>"


def _share(estimate: Estimate) -> str:
    interval = f"{100 * estimate.low:.0f}–{100 * estimate.high:.0f}"
    return f"<td class='number' title='{estimate.value!r}'>{percent(estimate.value)} <small>{interval}</small></td>"


def _cosine(estimate: Estimate | None) -> str:
    if estimate is None:
        return NOTHING
    value, low, high = (two_decimals(one) for one in (estimate.value, estimate.low, estimate.high))
    return f"<td class='number' title='{estimate.value!r}'>{value} <small>{low} to {high}</small></td>"


def _table(heads: str, rows: str, label: str, kind: str = "sense-scores") -> str:
    return (
        f"<div class='scores-scroll' tabindex='0' role='region' aria-label='{label}'><table class='scores {kind}'>"
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
    )
