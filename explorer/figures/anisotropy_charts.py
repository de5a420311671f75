"""How far vectors point the same way: a number of each layer beside its isotropic value, and the cosines behind it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from explorer.analysis.anisotropy_metrics import METRICS
from explorer.analysis.anisotropy_results import Anisotropy
from explorer.analysis.cures import CURES
from explorer.figures.layer_lines import LINE_PIXELS, LayerLine, Level, layer_chart, mark_of
from explorer.figures.style import GREY, SHARE, STYLE, percent_axis, percents

ADJUSTED = "_adjusted"
HILL_PIXELS = 120  # of the histogram of one model
FRAME_PIXELS = 96  # names and axis around them
SAME_DASH = "5px,3px"
SIDES = ("filled: random pairs", "dashed: two uses of one word")  # one below the other: a phone is narrow


def adjusted_of(key: str) -> str:
    """The key of a metric less what any two tokens have; "" = it has none."""
    return key + ADJUSTED if key + ADJUSTED in METRICS else ""


def number_words(value: float | None) -> str:
    """A value of a metric: 0, 0.238, 12.4, 347; a real minus sign."""
    if value is None:
        return "–"
    if value == 0:
        return "0"
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 3
    return f"{round(value, digits) + 0:.{digits}f}".replace("-", "−")  # + 0: what rounds to 0 has no sign


def line_names(found: Sequence[Anisotropy]) -> list[str]:
    """What tells measurements apart: the model, what was counted where that differs for one model, or the cure."""
    if _are_cured(found):
        return [CURES[one.cure].label for one in found]
    models = [one.model for one in found]
    return [
        one.model if models.count(one.model) == 1 else f"{one.model}, {_counted(one)}" for one in found
    ]  # fmt: skip


def line_marks(found: Sequence[Anisotropy]) -> list[int]:
    """Places in layer_lines.MARKS, in their order; each cure keeps its own, whichever others are there."""
    return [list(CURES).index(one.cure) for one in found] if _are_cured(found) else list(range(len(found)))


def metric_chart(found: Sequence[Anisotropy], key: str, layer: int | None) -> go.Figure:
    """A metric in each layer of one model or several.

    Args:
        found: Of each model, or of one by several protocols or after several cures.
        key: Of METRICS.
        layer: Marked as the one looked at; None = none.
    """
    lines = [
        LayerLine(name, mark, tuple(zip(one.layers, one.metrics[key], strict=True)))
        for mark, name, one in zip(line_marks(found), line_names(found), found, strict=True)
    ]
    return layer_chart(lines, METRICS[key].label, layer, number="%{y:.3f}", levels=isotropic_levels(found, key))


def isotropic_levels(found: Sequence[Anisotropy], key: str) -> list[Level]:
    """What random directions would give: one level where all models share it, else one for each."""
    values = [
        (mark, value)
        for mark, one in zip(line_marks(found), found, strict=True)
        if (value := one.isotropic[key]) is not None
    ]
    if len({number_words(value) for _, value in values}) == 1:
        return [Level(values[0][1], f"isotropic {number_words(values[0][1])}")]
    return [
        Level(value, f"isotropic {number_words(value)}", mark=mark, at="middle" if mark % 2 else "right")
        for mark, value in values
    ]


def cosine_histogram(found: Sequence[Anisotropy], layer: int) -> go.Figure:
    """Cosines of random pairs and of pairs of uses of one word in one layer, a row for each model on the same axis.

    Args:
        found: As metric_chart takes it.
        layer: Which; a model with fewer layers shows its last.
    """
    marks = line_marks(found)
    is_dashed = any(one.same_word[place_of(one, layer)].any() for one in found)
    legend = SIDES if is_dashed else SIDES[:1]
    figure = make_subplots(len(found), 1, shared_xaxes=True, vertical_spacing=0.24 / len(found))
    for row, (model, one) in enumerate(zip(line_names(found), found, strict=True), start=1):
        at = place_of(one, layer)
        middles = ((one.edges[:-1] + one.edges[1:]) / 2).tolist()
        colour, _, glyph = mark_of(marks[row - 1])
        sides = (("random pairs", one.random_pairs[at], "solid", "tozeroy"),
                 ("same word", one.same_word[at], SAME_DASH, "none"))  # fmt: skip
        for name, shares, dash, fill in sides:
            if not shares.any():
                continue
            figure.add_trace(
                go.Scatter(
                    x=middles,
                    y=shares.tolist(),
                    text=percents(shares.tolist()),
                    name=f"{model}, {name}",
                    mode="lines",
                    line={"color": colour, "width": 2, "dash": dash, "shape": "hvh"},
                    fill=fill,
                    hovertemplate=f"{escape(model)}, {name}<br>cosine near %{{x:.2f}}: {SHARE}<extra></extra>",
                ),
                row=row,
                col=1,
            )
        if len(found) > 1:
            figure.add_annotation(
                x=0, xref="x domain", y=1, yref="y domain" if row == 1 else f"y{row} domain", showarrow=False,
                xanchor="left", yanchor="bottom", font={"size": 12},
                text=f"<span style='color:{colour}'>{glyph}</span> {escape(model)}, "
                f"layer {one.layers[at]}",
            )  # fmt: skip
    figure.add_annotation(
        x=0, y=1, xref="paper", yref="paper", yanchor="bottom", xanchor="left", showarrow=False, align="left",
        yshift=6 if len(found) == 1 else 6 + LINE_PIXELS, text="<br>".join(legend), font={"size": 12.5},
    )  # fmt: skip
    figure.update_xaxes(range=_span(found, layer), zeroline=True, zerolinecolor=GREY)
    figure.update_xaxes(title="cosine", row=len(found), col=1)
    figure.update_yaxes(nticks=3, rangemode="tozero", **percent_axis())
    figure.update_yaxes(title="share of pairs", row=(len(found) + 1) // 2, col=1)
    top = 16 + LINE_PIXELS * (len(legend) + (len(found) > 1))
    height = FRAME_PIXELS + LINE_PIXELS + HILL_PIXELS * len(found) + (HILL_PIXELS // 2 if len(found) == 1 else 0)
    margins = {"t": top, "b": 46, "l": 8, "r": 12}
    return figure.update_layout(template=STYLE, height=height, showlegend=False, margin=margins)


def place_of(found: Anisotropy, layer: int) -> int:
    """Where a layer stands among those that were measured; the last where there is no such layer."""
    return found.layers.index(layer) if layer in found.layers else len(found.layers) - 1


def _are_cured(found: Sequence[Anisotropy]) -> bool:
    return any(one.cure != "none" for one in found)


def _counted(found: Anisotropy) -> str:
    if found.protocol.unit == "words":
        return "words"
    return "tokens and special ones" if found.protocol.specials else "tokens"


def _span(found: Sequence[Anisotropy], layer: int) -> tuple[float, float]:
    """Of cosines that are there, and 0."""
    lows, highs = [0.0], [0.1]
    for one in found:
        at = place_of(one, layer)
        used = ((one.random_pairs[at] + one.same_word[at]) > 0).nonzero()[0]
        lows.append(float(one.edges[used[0]]))
        highs.append(float(one.edges[used[-1] + 1]))
    return min(lows) - 0.02, max(highs) + 0.02
