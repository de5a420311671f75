"""A score against the number of labelled examples: what pre-training saves in labels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

import plotly.graph_objects as go

from explorer.analysis.intervals import sign_test
from explorer.figures.layer_lines import LINE_PIXELS, Level, add_levels, mark_of
from explorer.figures.notes import note
from explorer.figures.style import SHARE, STANDOFF_PIXELS, STYLE, percent_axis, percents, two_decimals
from explorer.figures.tuning_words import is_better_lower, is_share, score_label, score_words, shown_score

HEIGHT_PIXELS = 320
ROOM = 0.12
ROOM_FOR_TICK = 1.35  # so many times as many examples: nearer ones would print over each other
TOP_PIXELS, BOTTOM_PIXELS = 16, 46
SO_FAR = "So far, of the sizes that all methods have been through: "
CLEAR = 0.05  # a difference that chance makes more rarely is called clear
ONE_RUN = "One run each: another seed moves the points, most of all those on the left."


@dataclass(frozen=True)
class LabelCurve:
    """One method on ever more examples.

    Attributes:
        name: Of the method.
        points: (examples, score), of the runs that are done.
        is_baseline: Whether it is no model of ours: dashed.
        mark: Place in layer_lines.MARKS.
        right: (examples, which of the held-out ones are right), in one order for all; () = not known.
    """

    name: str
    points: tuple[tuple[int, float], ...]
    is_baseline: bool = False
    mark: int = 0
    right: tuple[tuple[int, tuple[bool, ...]], ...] = ()


def label_chart(curves: Sequence[LabelCurve], score: str, chance: Mapping[str, float]) -> go.Figure:
    """The score of each method over the number of examples, on a log axis.

    Args:
        curves: Of each method; baselines that learn, such as a bag of words, too.
        score: Name of the score.
        chance: What needs no example, e.g. the most frequent class: name -> score.
    """
    figure = go.Figure()
    for curve in curves:
        colour, symbol, _ = mark_of(curve.mark)
        figure.add_trace(
            go.Scatter(
                x=[count for count, _ in curve.points],
                y=[value for _, value in curve.points],
                text=percents(value for _, value in curve.points) if is_share(score) else None,
                name=curve.name,
                mode="lines+markers",
                line={"color": colour, "width": 2, "dash": "dash" if curve.is_baseline else "solid"},
                marker={"symbol": symbol, "size": 9},
                hovertemplate=f"{escape(curve.name)}<br>%{{x:,}} examples: "
                f"{SHARE if is_share(score) else '%{y:.3f}'}<extra></extra>",
            )
        )
    names = [
        f"<span style='color:{mark_of(curve.mark)[0]}'>{mark_of(curve.mark)[2]}</span> {escape(curve.name)}"
        for curve in curves
    ]
    figure.add_annotation(
        x=0, y=1, xref="paper", yref="paper", yanchor="bottom", xanchor="left", align="left",
        text="<br>".join(names), showarrow=False, font={"size": 12.5}, yshift=6,
    )  # fmt: skip
    counts = sorted({count for curve in curves for count, _ in curve.points})
    after = [*counts[1:], math.inf]
    ticks = [f"{count:,}" if more >= ROOM_FOR_TICK * count else "" for count, more in zip(counts, after, strict=True)]
    figure.update_xaxes(
        type="log", title="labelled examples, on a log scale", tickvals=counts, ticktext=ticks, tickangle=0
    )
    values = [value for curve in curves for _, value in curve.points] + list(chance.values())
    if values:
        room = ROOM * (max(values) - min(values)) or ROOM
        levels = [Level(value, f"{name} {score_words(score, value)}") for name, value in chance.items()]
        height = HEIGHT_PIXELS - TOP_PIXELS - LINE_PIXELS * len(names) - BOTTOM_PIXELS
        add_levels(figure, levels, (min(values) - room, max(values) + room), height)
    figure.update_yaxes(title={"text": f"held-out {score_label(score)}", "standoff": STANDOFF_PIXELS})
    if is_share(score):
        figure.update_yaxes(percent_axis())
    margins = {"t": TOP_PIXELS + LINE_PIXELS * len(names), "b": BOTTOM_PIXELS, "l": 8, "r": 12}
    return figure.update_layout(template=STYLE, height=HEIGHT_PIXELS, showlegend=False, margin=margins)


def label_words(curves: Sequence[LabelCurve], score: str) -> str:
    """How many examples each method needs for what another reaches with all: the lectures' point, where it holds.

    Args:
        curves: Of each method.
        score: Name of the score.
    """
    drawn = [
        (curve.name, {count: shown_score(score, value) for count, value in curve.points})
        for curve in curves
        if not curve.is_baseline
    ]
    sizes = sorted(set.intersection(*(set(scores) for _, scores in drawn))) if drawn else []
    if len(sizes) < 2:
        return note("The curves are drawn as the runs end.")
    if len(drawn) < 2:  # nothing to compare with
        return ""
    most, sign = sizes[-1], -1 if is_better_lower(score) else 1
    ends = sorted(drawn, key=lambda curve: sign * curve[1][most])[:: len(drawn) - 1]
    (low, low_scores), (high, high_scores) = ends
    best = sign * max(sign * low_scores[count] for count in sizes)
    at, needed = (next((count for count in sizes if sign * (has[count] - best) >= 0), most) for _, has in ends)
    if needed < at and not (score == "accuracy" and _too_close(curves, low, high, needed)):
        times = f": {at // needed} times fewer labels" if at >= 2 * needed else ""
        said = (
            f"{low} does best with {at:,} examples, {score_words(score, best)}; {high} is as good or better with "
            f"{needed:,}{times}"
        )
    else:
        said = f"with {most:,} examples: " + ", ".join(f"{name} {score_words(score, has[most])}" for name, has in ends)
        said += _too_close(curves, low, high, most) if score == "accuracy" else ""
    is_over = all(set(scores) == set(sizes) for _, scores in drawn)
    return note(f"{said[:1].upper() + said[1:] if is_over else SO_FAR + said}. {ONE_RUN}")


def _too_close(curves: Sequence[LabelCurve], low: str, high: str, examples: int) -> str:
    """That the same held-out examples do not tell two methods apart, one by one; "" = they do, or nobody knows."""
    known = {curve.name: dict(curve.right) for curve in curves if not curve.is_baseline}
    before, after = known[low].get(examples, ()), known[high].get(examples, ())
    if not before or len(before) != len(after):
        return ""
    lost, gained = (sum(one and not other for one, other in zip(*pair, strict=True))
                    for pair in ((before, after), (after, before)))  # fmt: skip
    p = sign_test(gained, lost)
    if p < CLEAR:
        return ""
    return (
        f"; too close for {len(before):,} held-out examples to tell: {lost} are right with the former alone, {gained} "
        f"with the latter alone (sign test, p = {two_decimals(p)})"
    )
