"""Rogue dimensions as charts: who makes up the cosine, and what similarities and predictions are without them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from explorer.analysis.anisotropy_results import DimensionAblation, RogueDimensions
from explorer.analysis.one_layer import find_layer
from explorer.figures.layer_lines import LayerLine
from explorer.figures.style import BLUE, GREY, ORANGE, STYLE, percent, two_decimals

HEIGHT_PIXELS = 300
BAR_PIXELS = 24
FRAME_PIXELS = 62  # below the bars
SPARE_FOR_NUMBERS = 1.4  # what the numbers behind the bars need on a phone
OTHERS = "others"


def share_words(share: float) -> str:
    """A share as a reader wants it; it may be below 0, or more than all. "–" = there is nothing to have a share of."""
    if not np.isfinite(share):
        return "–"
    return f"−{percent(-share)}" if share < 0 else percent(share)


def contribution_bars(result: RogueDimensions, layer: int, k: int) -> go.Figure:
    """What each of the top dimensions adds to the mean cosine of a layer, and all others together.

    Args:
        result: Of k dimensions or more.
        layer: 0 = input embeddings.
        k: How many bars, without the last.
    """
    at = find_layer(result.layers, layer)
    dims = result.top[at, :k].tolist()
    own = result.contributions[at]
    adds = [float(own[dim]) for dim in dims]
    others = float(own.sum() - sum(adds))
    whole = float(result.mean_cosine[at])
    has_shares = bool(np.isfinite(result.shares[at, 0]))
    shares = [value / whole if has_shares else np.nan for value in (*adds, others)]
    says = [
        f"dimension {dim}<br>adds {value:.6f} to the mean cosine{f', {share_words(share)} of it' if has_shares else ''}"
        f"<br>mean {two_decimals(mean)}, standard deviation {two_decimals(spread)}"
        for dim, value, share, mean, spread in zip(
            dims, adds, shares, result.means[at].tolist(), result.deviations[at].tolist(), strict=False
        )
    ]
    count = len(own) - len(dims)
    says.append(f"all {count:,} others together<br>add {others:.6f} to the mean cosine")
    figure = go.Figure(
        go.Bar(
            x=[*adds, others],
            y=list(range(len(dims) + 1)),
            orientation="h",
            text=[
                share_words(share) if has_shares else f"{value:.4f}".replace("-", "−")
                for share, value in zip(shares, (*adds, others), strict=True)
            ],
            textposition="outside",
            cliponaxis=False,
            marker={
                "color": [BLUE] * len(dims) + [GREY],
                "pattern": {"shape": [""] * len(dims) + ["/"], "fgcolor": GREY, "bgcolor": "rgba(0,0,0,0)"},
            },
            customdata=says,
            hovertemplate="%{customdata}<extra></extra>",
        )
    )
    most, least = max(*adds, others, 0.0), min(*adds, others, 0.0)
    figure.update_xaxes(
        title="adds to the mean cosine",
        range=[least * SPARE_FOR_NUMBERS, (most or 1e-6) * SPARE_FOR_NUMBERS],
        nticks=5,
        tickangle=0,
        zerolinecolor=GREY,
    )
    names = [*map(str, dims), f"{count:,} {OTHERS}"]
    figure.update_yaxes(title="dimension", tickvals=list(range(len(names))), ticktext=names, autorange="reversed")
    height = max(HEIGHT_PIXELS, FRAME_PIXELS + BAR_PIXELS * len(names))
    return figure.update_layout(template=STYLE, height=height, margin={"t": 10, "b": 46}, showlegend=False)


def without_chart(result: RogueDimensions, layer: int, k: int) -> go.Figure:
    """How far the cosines of pairs go with those without the top 1, 2, … dimensions of a layer.

    Args:
        result: Of k dimensions or more.
        layer: 0 = input embeddings.
        k: How many are left out at most.
    """
    at = find_layer(result.layers, layer)
    dims = result.top[at, :k].tolist()
    out = ["none left out", *(f"without {_named(dims[: number + 1])}" for number in range(k))]
    figure = go.Figure()
    squared, ranked = [1.0, *result.r_squared[at, :k].tolist()], [1.0, *result.spearman[at, :k].tolist()]
    sides = ("bottom", "top") if squared[-1] < ranked[-1] else ("top", "bottom")  # each on the far side of the other
    lines = (
        ("r²", squared, BLUE, "circle", "solid", sides[0]),
        ("rank correlation", ranked, ORANGE, "diamond", "dash", sides[1]),
    )
    for name, values, colour, symbol, dash, side in lines:
        _line(figure, name, list(range(k + 1)), values, colour, symbol, dash, out, f"{name} %{{y:.4f}}")
        _name(figure, name, list(range(k + 1)), values, side)
    known = [value for _, values, *_ in lines for value in values if np.isfinite(value)]
    figure.update_yaxes(title="with the cosines of all dimensions", range=[min(0.0, *known) - 0.02, 1.06])
    return _finish(figure, k, "top dimensions left out", first=0)


def layer_lines(result: RogueDimensions, k: int) -> list[LayerLine]:
    """The mean cosine of each layer, and what of it its top dimensions add, for layer_lines.layer_chart."""
    own = np.take_along_axis(result.contributions, result.top[:, :k], axis=1)
    lines = [("mean cosine", result.mean_cosine), ("of it the top dimension", own[:, 0])]
    if k > 1:
        lines.append((f"of it the top {k}", own.sum(axis=1)))
    return [
        LayerLine(name, mark, tuple(zip(result.layers, values.tolist(), strict=True)))
        for mark, (name, values) in enumerate(lines)
    ]


def ablation_chart(ablation: DimensionAblation, k: int) -> go.Figure:
    """How far predictions move without the top 1, 2, … dimensions, beside as many random ones, each within its band:
    the interval that so few predictions allow, and the least and the most of the draws.

    Args:
        ablation: Of k dimensions or more.
        k: How many are taken away at most.
    """
    numbers = list(range(1, k + 1))
    rogue = ablation.rogue[:k]
    bits, random = [one.divergence_bits for one in rogue], list(ablation.random[:k])
    says = [f"{_named(one.dimensions)} {_put(ablation)}<br>same first choice {percent(one.kept)}" for one in rogue]
    others = [
        f"{number} random, mean of {ablation.draws} draws<br>same first choice {percent(kept)}"
        for number, kept in zip(numbers, ablation.random_kept, strict=False)
    ]
    lows, highs = [one.low_bits for one in rogue], [one.high_bits for one in rogue]
    least, greatest = list(ablation.random_least[:k]), list(ablation.random_most[:k])
    figure = go.Figure()
    _band(figure, "interval", numbers, lows, highs, BLUE)
    _band(figure, "draws", numbers, least, greatest, ORANGE)
    _line(figure, "top", numbers, bits, BLUE, "circle", "solid", says, "%{y:.6f} bits")
    _line(figure, "random", numbers, random, ORANGE, "diamond", "dash", others, "%{y:.6f} bits")
    is_above = bits[-1] >= random[-1]
    _name(figure, "the top dimensions", numbers, highs if is_above else lows, "top" if is_above else "bottom")
    _name(figure, "as many at random", numbers, least if is_above else greatest, "bottom" if is_above else "top")
    most = max(*highs, *greatest) or 1.0
    figure.update_yaxes(title="bits of divergence, mean", range=[-0.14 * most, 1.2 * most], nticks=6)
    return _finish(figure, k, f"dimensions {_put(ablation)}", first=1)


def _put(ablation: DimensionAblation) -> str:
    return "set to their mean" if ablation.value == "mean" else "set to 0"


def _named(dims: Sequence[int]) -> str:
    return f"{'dimension' if len(dims) == 1 else 'dimensions'} {', '.join(map(str, dims))}"


def _line(
    figure: go.Figure,
    name: str,
    numbers: list[int],
    values: list[float],
    colour: str,
    symbol: str,
    dash: str,
    says: list[str],
    number: str,
) -> None:
    figure.add_trace(
        go.Scatter(
            x=numbers,
            y=values,
            name=name,
            mode="lines+markers",
            line={"color": colour, "dash": dash, "width": 2},
            marker={"symbol": symbol, "size": 8},
            customdata=says,
            hovertemplate=f"%{{customdata}}<br>{number}<extra></extra>",
        )
    )


def _band(figure: go.Figure, name: str, numbers: list[int], lows: list[float], highs: list[float], colour: str) -> None:
    """From the lowest to the highest at each number, as bars with ends: bands that overlap would hide each other."""
    middle = [(low + high) / 2 for low, high in zip(lows, highs, strict=True)]
    half = [(high - low) / 2 for low, high in zip(lows, highs, strict=True)]
    figure.add_trace(
        go.Scatter(
            x=numbers,
            y=middle,
            name=name,
            mode="markers",
            marker={"color": colour, "size": 1},
            error_y={"array": half, "color": colour, "thickness": 1.5, "width": 5},
            hoverinfo="skip",
        )
    )


def _name(figure: go.Figure, name: str, numbers: list[int], values: list[float], side: str) -> None:
    """Write the name of a line at its last point that there is, beyond all of those that it stands above or below."""
    known = [(number, value) for number, value in zip(numbers, values, strict=True) if np.isfinite(value)]
    if known:
        at, beyond = known[-1][0], max if side == "top" else min
        value = beyond(value for _, value in known[-(len(known) + 2) // 2 :])
        figure.add_annotation(
            x=at, y=value, text=name, showarrow=False, font={"size": 12}, yanchor="bottom" if side == "top" else "top",
            yshift=7 if side == "top" else -7, xanchor="right" if at > numbers[0] else "left",
        )  # fmt: skip


def _finish(figure: go.Figure, k: int, title: str, *, first: int) -> go.Figure:
    figure.update_xaxes(title=title, dtick=1, range=[first - 0.3, max(k, first + 1) + 0.3])
    return figure.update_layout(template=STYLE, height=HEIGHT_PIXELS, showlegend=False, margin={"t": 10, "b": 46})
