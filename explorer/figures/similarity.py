"""How far cosines agree with scores: the lectures' table, the layers, and where model and scores part. HTML escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import plotly.graph_objects as go

from explorer.analysis.anisotropy_results import SimilarityScore, SimilarityScores
from explorer.analysis.cures import CURES
from explorer.analysis.pair_agreement import POOLING_LABELS, best_layer
from explorer.analysis.pair_results import RankedPair, RankedPairs
from explorer.figures.layer_lines import HEIGHT_PIXELS, LINE_PIXELS, LayerLine, layer_chart
from explorer.figures.notes import note
from explorer.figures.style import count_of
from explorer.figures.use_marks import cosine_bar

COLUMNS = ("cls", "mean", "max")
OWN = "Sentence-BERT"  # the column of a model's own pooling
NOTHING = "<td class='number quiet'>–</td>"
LAST, BEST, CHOSEN = "last", "best", "chosen"
SHOWN_PAIRS = 5  # on each side
RANKED = (
    "All pairs are ranked twice, by score and by cosine; rank 1 = the most alike, and equal ones share the mean of "
    "their ranks."
)
BEST_FLATTERS = (
    "The best layer was chosen by the same pairs it is judged by, for each number alone. That flatters: on other pairs "
    "it would do worse, and no intervals can be given for such a choice."
)


def similarity_table(scores: Sequence[SimilarityScores], cure: str, at: str, layer: int) -> str:
    """Spearman's correlation x 100, as Reimers and Gurevych print it: a row for each model, a column for each pooling.

    Args:
        scores: Of the same pairs.
        cure: Stands below the vectors as they are.
        at: Which layer: "last", "best" or "chosen".
        layer: The chosen one; the last of a model that has fewer.
    """
    columns = (*COLUMNS, OWN) if any(one.own_pooling for one in scores) else COLUMNS
    rows = "".join(_model_rows(one, cure, at, layer, columns) for one in scores)
    heads = "".join(f"<th scope='col' class='number'>{POOLING_LABELS.get(pooling, OWN)}</th>" for pooling in columns)
    return (
        "<div class='scores-scroll' tabindex='0' role='region' aria-label='Agreement with the scores'>"
        f"<table class='scores similarity-scores'><thead><tr><th scope='col'>Spearman × 100</th>{heads}</tr></thead>"
        f"<tbody>{rows}</tbody></table></div>"
    )


def score_at(scores: SimilarityScores, pooling: str, cure: str, at: str, layer: int) -> SimilarityScore | None:
    """The number of one cell; None where there is none.

    Args:
        scores: Of a model.
        pooling: One of its.
        cure: One of its.
        at: As similarity_table takes it.
        layer: Likewise.
    """
    last = scores.layer_count - 1
    place = {LAST: last, CHOSEN: min(layer, last), BEST: best_layer(scores, pooling, cure)}[at]
    own = (pooling, cure, place)
    return next((one for one in scores.scores if (one.pooling, one.cure, one.layer) == own), None)


def agreement_words(scores: SimilarityScores, pooling: str, cure: str, at: str, layer: int) -> str:
    """What the chosen number says, and whether the cure did anything that these pairs can tell."""
    plain = score_at(scores, pooling, "none", at, layer)
    if plain is None or plain.spearman is None:
        return note("All cosines are the same here, so that nothing can be ranked.")
    cured = None if cure == "none" else score_at(scores, pooling, cure, at, layer)
    is_cured = cured is not None and cured.spearman is not None
    is_one_layer = not is_cured or cured.layer == plain.layer  # the best layer may be another after the cure
    name = f"{escape(scores.model)}, {_layer(plain)}" if is_one_layer else escape(scores.model)
    number = "{}" if is_one_layer else "{} of {}"
    words = (
        f"<b>{name}, pooling {escape(POOLING_LABELS[pooling])}:</b> "
        f"{number.format(_hundred(plain.spearman), _layer(plain))} as they are"
    )
    if is_cured:
        after = escape(CURES[cure].label.lower())
        words += f", {number.format(_hundred(cured.spearman), _layer(cured))} after {after}"
        change = cured.change if cured.layer == plain.layer and at != BEST else None
        if change and change.low == change.value == change.high == 0:
            words += ": the pairs keep their order"
        elif change:
            is_clear = change.low > 0 or change.high < 0
            ends = f"{_signed(change.low)} and {_signed(change.high)}"
            words += f". The change of {_signed(change.value)} lies between {ends} when the pairs are drawn again: "
            words += "more than the choice of pairs explains" if is_clear else "too little for these pairs to tell"
    return f"<p class='senses-said'>{words}.</p>" + (note(BEST_FLATTERS) if at == BEST else "")


def _layer(score: SimilarityScore) -> str:
    return "the input embeddings" if score.layer == 0 else f"layer {score.layer}"


def cures_chart(scores: SimilarityScores, pooling: str, layer: int | None) -> go.Figure:
    """The correlation in each layer, a line for each cure, or for each pooling where only one cure was measured.

    Args:
        scores: Of a model.
        pooling: Whose cures are drawn.
        layer: Marked as the one looked at; None = none.
    """
    cures = list(dict.fromkeys(one.cure for one in scores.scores))
    if len(cures) > 1:
        wanted = [((pooling, cure), CURES[cure].label) for cure in cures]
    else:
        poolings = dict.fromkeys(one.pooling for one in scores.scores)
        wanted = [((one, cures[0]), f"pooling {POOLING_LABELS[one]}") for one in poolings]
    lines = [
        LayerLine(
            name,
            mark,
            tuple(
                (one.layer, None if one.spearman is None else 100 * one.spearman)
                for one in scores.scores
                if (one.pooling, one.cure) == key
            ),
        )
        for mark, (key, name) in enumerate(wanted)
    ]
    figure = layer_chart(lines, "Spearman × 100", layer, number="%{y:.0f}")
    return figure.update_layout(height=HEIGHT_PIXELS + LINE_PIXELS * len(lines))  # else their names leave no room


def disagreements(ranked: RankedPairs) -> str:
    """The pairs that a model places farthest from where their scores do, and the kinds of pairs it does so to."""
    if not any(one.shift for one in ranked.pairs):
        return note(f"{RANKED} Both put every pair in the same place.")
    sides = (
        ("Nearer than scored", [one for one in ranked.pairs if one.shift > 0]),
        ("Farther than scored", [one for one in ranked.pairs if one.shift < 0]),
    )
    columns = "".join(
        f"<section><h3>{title}</h3><ol class='near-uses'>"
        f"{''.join(_pair(one) for one in pairs[:SHOWN_PAIRS])}</ol></section>"
        for title, pairs in sides
        if pairs
    )
    near = f"<div class='near' data-sides='2'><div class='near-columns'>{columns}</div></div>"
    return note(f"{RANKED} Those farthest apart:") + near + _kinds(ranked)


def _kinds(ranked: RankedPairs) -> str:
    if not ranked.kinds:
        return ""
    most = max(abs(one.shift) for one in ranked.kinds) or 1
    rows = "".join(
        f"<tr><th scope='row'>{escape(one.kind)}</th><td class='number'>{one.pairs}</td>"
        f"<td class='difference'><i class='{'other' if one.shift > 0 else 'first'}' "
        f"style='--w:{50 * abs(one.shift) / most:.1f}%'></i></td>"
        f"<td class='number' title='{one.shift!r}'>{_places(one.shift)}</td></tr>"
        for one in ranked.kinds
    )
    head = (
        "<th scope='col'>Kind of pair</th><th scope='col' class='number'>pairs</th>"
        "<th scope='col'><span class='hidden-words'>farther or nearer</span></th>"
        "<th scope='col' class='number'>mean shift</th>"
    )
    return (
        "<div class='scores-scroll' tabindex='0' role='region' aria-label='Kinds of pairs'><table class='scores "
        f"similarity-kinds'><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _pair(one: RankedPair) -> str:
    kind = f"<span class='pair-kind'>{escape(one.kind)}</span>" if one.kind else ""
    return (
        f"<li><span><span class='use-sentence pair-text' dir='auto'>{escape(one.first)}</span>"
        f"<span class='use-sentence pair-text' dir='auto'>{escape(one.second)}</span></span>"
        f"<span class='near-foot'>{cosine_bar(one.cosine)}<span>score: {one.score:g}, rank {one.by_score:g}"
        f"</span><span>model: rank {one.by_model:g}</span>{kind}</span></li>"
    )


def _model_rows(scores: SimilarityScores, cure: str, at: str, layer: int, columns: Sequence[str]) -> str:
    """One row of a model as it is; with a cure, that below it, and the change."""
    if cure == "none":
        return _row(scores, f"<b>{escape(scores.model)}</b>", "none", at, layer, columns)
    title = f"<tr><th scope='rowgroup' colspan='{len(columns) + 1}'><b>{escape(scores.model)}</b></th></tr>"
    rows = title + _row(scores, "as they are", "none", at, layer, columns)
    rows += _row(scores, escape(CURES[cure].label.lower()), cure, at, layer, columns)
    return rows + ("" if at == BEST else _row(scores, "change", cure, at, layer, columns, is_change=True))


def _row(
    scores: SimilarityScores, head: str, cure: str, at: str, layer: int, columns: Sequence[str], *,
    is_change: bool = False,
) -> str:  # fmt: skip
    found = [score_at(scores, pooling, cure, at, layer) for pooling in COLUMNS]
    if OWN in columns:
        found.append(score_at(scores, scores.own_pooling, cure, LAST, layer) if scores.own_pooling else None)
    cells = "".join(_change(one) if is_change else _score(one, with_layer=at == BEST) for one in found)
    return f"<tr{' class=change' if is_change else ''}><th scope='row'>{head}</th>{cells}</tr>"


def _score(one: SimilarityScore | None, *, with_layer: bool) -> str:
    if one is None or one.spearman is None:
        return NOTHING
    small = f"layer {one.layer}" if with_layer else f"{_whole(one.low)} to {_whole(one.high)}"
    return f"<td class='number' title='{one.spearman!r}'>{_hundred(one.spearman)} <small>{small}</small></td>"


def _change(one: SimilarityScore | None) -> str:
    if one is None or one.change is None:
        return NOTHING
    ends = f"{_signed(one.change.low)} to {_signed(one.change.high)}"
    is_clear = one.change.low > 0 or one.change.high < 0
    value = f"<b>{_signed(one.change.value)}</b>" if is_clear else _signed(one.change.value)
    return f"<td class='number' title='{one.change.value!r}'>{value} <small>{ends}</small></td>"


def _hundred(correlation: float) -> str:
    """With one decimal, so that two and their change agree but for a tenth."""
    number = f"{100 * correlation:.1f}"
    return "0" if number in ("0.0", "-0.0") else number.replace("-", "−")


def _whole(correlation: float) -> str:
    """The end of an interval, which is wide: with no decimal."""
    return f"{100 * correlation:.0f}".replace("-0", "0").replace("-", "−")


def _signed(difference: float) -> str:
    number = f"{100 * difference:+.1f}"
    return "0" if number in ("+0.0", "-0.0") else number.replace("-", "−")


def _places(shift: float) -> str:
    count = round(abs(shift))
    return "as scored" if not count else f"{count_of(count, 'rank')} {'nearer' if shift > 0 else 'farther'}"
