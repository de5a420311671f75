"""Senses in numbers: one chart for each score, layer by layer, with 95 % bands beside what is had without a model."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from explorer.analysis.sense_results import Estimate, SenseScores, UseSimilarity
from explorer.figures.layer_lines import LayerLine, Level, layer_chart
from explorer.figures.style import SHARE, percent, percent_axis
from explorer.rounding import half_up

ALIKE = 0.01  # shares that differ by less have one label

SHARES, COSINES = "share of uses", "mean cosine"
RANDOM_WORDS = "random words"


def accuracy_chart(scores: Sequence[SenseScores], measure: str, layer: int | None) -> go.Figure:
    """How many uses are told right, in each layer of one model or two.

    Args:
        scores: Of the same uses.
        measure: "nearest" or "centroid".
        layer: Marked as the one looked at; None = none.
    """
    levels = baseline_levels(scores[0], measure)
    figure = layer_chart(_lines(scores, measure), SHARES, layer, number=SHARE, levels=levels, ends=(0, 1.02))
    return figure.update_yaxes(percent_axis())


def silhouette_chart(scores: Sequence[SenseScores], layer: int | None) -> go.Figure:
    """How tight and how far apart the senses are, in each layer of one model or two."""
    return layer_chart(
        _lines(scores, "silhouette"), "silhouette", layer, number="%{y:+.2f}", levels=[Level(0, "")]
    )  # fmt: skip


def similarity_chart(scores: Sequence[SenseScores | UseSimilarity], layer: int | None) -> go.Figure:
    """How alike all uses are, beside random words of the same sentences."""
    lines = _lines(scores, "self_similarity")
    for mark, score in enumerate(scores):
        points = [(one.layer, one.baseline) for one in score.layers if one.baseline is not None]
        lines.append(_line(f"{score.model}, {RANDOM_WORDS}", mark, points, is_baseline=True))
    has_baseline = any(line.is_baseline and line.points for line in lines)
    figure = layer_chart(lines, COSINES, layer, number="%{y:+.2f}", dashed=RANDOM_WORDS if has_baseline else "")
    if len(scores) == 1:
        _name_lines(figure, [one for one in lines if one.points])
    return figure


def _name_lines(figure: go.Figure, lines: Sequence[LayerLine]) -> None:
    """Say which line is the word's, where they are apart: the upper one's name above it, the other's below."""
    values = [dict(line.points) for line in lines]
    common = sorted(set.intersection(*map(set, values))) if lines else []
    if not common:
        return
    gaps = {layer: max(one[layer] for one in values) - min(one[layer] for one in values) for layer in common}
    inner = common[1:-1] or common
    x = inner[len(inner) // 2]
    if gaps[x] < max(gaps[one] for one in inner) / 2:
        x = max(inner, key=lambda layer: gaps[layer])
    for line, value in zip(lines, values, strict=True):
        is_upper = value[x] == max(one[x] for one in values)
        low, high = line.band[[layer for layer, _ in line.points].index(x)]
        figure.add_annotation(
            x=x, y=high if is_upper else low, yanchor="bottom" if is_upper else "top", yshift=4 if is_upper else -4,
            text=RANDOM_WORDS if line.is_baseline else "the word", font={"size": 12}, showarrow=False,
        )  # fmt: skip


def baseline_levels(scores: SenseScores, measure: str) -> list[Level]:
    """What is had without a model as levels of a chart, labelled so that they keep clear of each other.

    Args:
        scores: As of baselines.
        measure: Likewise.
    """
    without = baselines(scores, measure)
    last = len(without) - 1
    return [
        Level(share, names, at="middle" if 0 < number < last else "right")
        for number, (share, names) in enumerate(without)
    ]


def baselines(scores: SenseScores, measure: str = "") -> list[tuple[float, str]]:
    """What is had without a model: (share, names of all that give about it, each with its percentage), highest first.

    Args:
        scores: Of any model: they depend on the sentences alone.
        measure: "nearest" or "centroid", whose chance is wanted; "" = both.
    """
    chances = {"nearest": scores.chance_nearest, "centroid": scores.chance_centroid}
    known = [(scores.most_frequent, "most frequent sense")]
    if measure or _are_one(scores.chance_nearest, scores.chance_centroid):
        known.insert(0, (chances[measure or "centroid"], "chance"))
    else:
        known += [(chances["nearest"], "chance (nearest use)"), (chances["centroid"], "chance (sense centroid)")]
    known += [] if scores.bag_of_words is None else [(scores.bag_of_words, "bag of words")]
    grouped: list[list[tuple[float, list[str]]]] = []  # of a label: of a percentage: its names
    for share, name in sorted(known, key=lambda one: -one[0]):
        if grouped and _are_one(grouped[-1][-1][0], share):
            grouped[-1][-1][1].insert(0, name)
        elif grouped and grouped[-1][0][0] - share < ALIKE:
            grouped[-1].append((share, [name]))
        else:
            grouped.append([(share, [name])])
    return [(label[0][0], ", ".join(f"{_told(names)} {percent(share)}" for share, names in label)) for label in grouped]


def _told(names: list[str]) -> str:
    return ", ".join([*names[:-2], " and ".join(names[-2:])])


def _are_one(share: float, other: float) -> bool:
    """Whether two shares are told as one: they are the same whole percentage."""
    return half_up(100 * share, 0) == half_up(100 * other, 0)


def _lines(scores: Sequence[SenseScores | UseSimilarity], measure: str) -> list[LayerLine]:
    return [
        _line(score.model, mark, [(layer.layer, getattr(layer, measure)) for layer in score.layers])
        for mark, score in enumerate(scores)
    ]


def _line(name: str, mark: int, found: Sequence[tuple[int, Estimate]], *, is_baseline: bool = False) -> LayerLine:
    points = tuple((at, one.value) for at, one in found)
    return LayerLine(name, mark, points, tuple((one.low, one.high) for _, one in found), is_baseline)
