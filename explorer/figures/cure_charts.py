"""Before and after cures on the same axes: cosines and spectrum of a layer, and senses told by layer.

Each cure keeps its colour and shape, whichever others are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
import plotly.graph_objects as go

from explorer.analysis.anisotropy_metrics import isotropic_spectrum
from explorer.analysis.anisotropy_results import Anisotropy
from explorer.analysis.cures import CURES
from explorer.analysis.sense_results import CuredSenses
from explorer.figures.anisotropy_charts import cosine_histogram, place_of
from explorer.figures.layer_lines import LINE_PIXELS, LayerLine, layer_chart, mark_of
from explorer.figures.senses import SHARES, baseline_levels
from explorer.figures.style import GREY, SHARE, STYLE, percent_axis, percents

SPECTRUM_PIXELS = 260  # and a line for each name
RANKS = 30  # of a spectrum that are drawn, evenly on the logarithmic axis
LEAST_SHARE = 0.002  # of an even share; less is left out, as rounding would fill the axis
BELOW = 0.05  # the lowest line
NEAR_LINES_PIXELS = 60
HEADROOM = 1.25  # above the highest hill, for its name
ISOTROPIC = "isotropic"


def cure_mark(cure: str) -> int:
    """Which colour and shape a cure has: a place in layer_lines.MARKS."""
    return list(CURES).index(cure)


def cured_cosines_chart(found: Sequence[Anisotropy], layer: int) -> go.Figure:
    """The histograms of cosines of one layer, a row for each cure, all on the same axes."""
    at = place_of(found[0], layer)
    most = max(float(shares[at].max()) for one in found for shares in (one.random_pairs, one.same_word))
    return cosine_histogram(found, layer).update_yaxes(range=[0, HEADROOM * most])


def spectrum_chart(found: Sequence[Anisotropy], layer: int) -> go.Figure:
    """The share of variance along each principal component of one layer, both axes logarithmic.

    Args:
        found: After each cure.
        layer: Which; a model with fewer layers shows its last.
    """
    figure, dim = go.Figure(), found[0].dim
    ranks = np.unique(np.geomspace(1, dim, RANKS).round().astype(int))
    even = isotropic_spectrum(found[0].protocol.points - 1, dim)
    _draw(figure, ISOTROPIC, ranks, even / even.sum(), {"color": GREY, "dash": "dot", "width": 1.5}, None)
    for one in found:
        colour, shape, _ = mark_of(cure_mark(one.cure))
        spectrum = one.spectrum[place_of(one, layer)]
        _draw(figure, CURES[one.cure].label, ranks, spectrum, {"color": colour, "width": 2}, shape)
    names = [
        f"<span style='color:{mark_of(cure_mark(one.cure))[0]}'>{mark_of(cure_mark(one.cure))[2]}</span> "
        f"{escape(CURES[one.cure].label)}"
        for one in found
    ]
    figure.add_annotation(
        x=0, y=1, xref="paper", yref="paper", yanchor="bottom", xanchor="left", align="left", showarrow=False,
        text="<br>".join([*names, "┄ isotropic, of as many vectors"]), font={"size": 12.5}, yshift=6,
    )  # fmt: skip
    drawn = [value for trace in figure.data for value in trace.y if value is not None]
    span = [np.log10(min(drawn)) - 0.1, np.log10(max(drawn)) + 0.1]
    figure.update_xaxes(title="principal component, the largest first", type="log", tickformat=",d", dtick=1)
    figure.update_yaxes(
        title="share of variance", type="log", dtick=1, range=span, **percent_axis("~p")
    )  # fmt: skip
    margins = {"t": 14 + LINE_PIXELS * (len(found) + 1), "b": 46, "l": 8, "r": 12}
    return figure.update_layout(
        template=STYLE, height=SPECTRUM_PIXELS + LINE_PIXELS * (len(found) - 1), showlegend=False, margin=margins
    )


def cured_senses_chart(found: Sequence[CuredSenses], measure: str, layer: int | None) -> go.Figure:
    """How many uses are told right in each layer, a line for each cure, beside what is had without a model.

    Args:
        found: After each cure, of the same uses.
        measure: "nearest" or "centroid".
        layer: Marked as the one looked at; None = none.
    """
    lines = [
        LayerLine(
            CURES[one.cure].label,
            cure_mark(one.cure),
            tuple((at.layer, getattr(at, measure).value) for at in one.scores.layers),
        )
        for one in found
    ]
    levels = baseline_levels(found[0].scores, measure)
    values = [value for line in lines for _, value in line.points if value is not None]
    low = max(0.0, min([*values, *(level.value for level in levels)]) - BELOW)  # else near lines lie on each other
    figure = layer_chart(lines, SHARES, layer, number=SHARE, levels=levels, ends=(low, 1.02))
    return taller(figure.update_yaxes(percent_axis()))


def taller(figure: go.Figure) -> go.Figure:
    """The same with more room for lines that lie near each other, as those of cures do."""
    return figure.update_layout(height=figure.layout.height + NEAR_LINES_PIXELS)


def _draw(
    figure: go.Figure, name: str, ranks: np.ndarray, shares: np.ndarray, line: dict[str, object], shape: str | None
) -> None:
    least = LEAST_SHARE / len(shares)
    values = [share if share > least else None for share in shares[ranks - 1].tolist()]
    figure.add_trace(
        go.Scatter(
            x=ranks.tolist(),
            y=values,
            text=percents(values),
            name=name,
            mode="lines" if shape is None else "lines+markers",
            line=line,
            marker={"symbol": shape or "circle", "size": 6},
            hovertemplate=f"{escape(name)}<br>component %{{x}}: {SHARE}<extra></extra>",
        )
    )
