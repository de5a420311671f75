"""The covariance of the dimensions that vary most, as a map: a number in each cell, a colour for its sign and size."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import plotly.graph_objects as go

from explorer.analysis.anisotropy_results import Anisotropy
from explorer.analysis.one_layer import find_layer
from explorer.figures.style import STYLE

HEIGHT_PIXELS = 380
MARK = "★"
TEXT_PIXELS = 10
# vermilion, nothing, blue: told apart with any kind of colour vision, and pale enough to be written on
SCALE = [[0.0, "rgba(213, 94, 0, 0.75)"], [0.5, "rgba(128, 134, 145, 0.06)"], [1.0, "rgba(0, 114, 178, 0.75)"]]
TICKS = (-1.0, -0.25, 0.0, 0.25, 1.0)  # of the largest covariance
SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
MOST_ZEROS = 6  # of a factor that is written out


def covariance_map(result: Anisotropy, layer: int, marked: Collection[int] = ()) -> go.Figure:
    """How the dimensions of a layer that vary most vary together.

    The colour goes with the root of the covariance, so that small ones are seen beside a large one; its scale is
    centred at 0.

    Args:
        result: With the dimensions that vary most.
        layer: 0 = input embeddings.
        marked: Dimensions that get a star.
    """
    at = find_layer(result.layers, layer)
    dims, covariance = result.top_dimensions[at].tolist(), result.covariance[at]
    most = float(np.abs(covariance).max()) or 1.0
    power = _power(most)
    spread = np.sqrt(np.diag(covariance))
    scale = np.outer(spread, spread)
    correlation = np.divide(covariance, scale, out=np.full_like(covariance, np.nan), where=scale > 0)
    says = [
        [
            _says(dim, other, float(covariance[row, column]), float(correlation[row, column]))
            for column, other in enumerate(dims)
        ]
        for row, dim in enumerate(dims)
    ]
    ticks = [float(np.sign(tick) * np.sqrt(abs(tick) * most)) for tick in TICKS]
    names = [f"{MARK} {dim}" if dim in marked else str(dim) for dim in dims]
    places = list(range(len(dims)))
    figure = go.Figure(
        go.Heatmap(
            z=np.sign(covariance) * np.sqrt(np.abs(covariance)),
            x=places,
            y=places,
            zmin=-np.sqrt(most),
            zmax=np.sqrt(most),
            zmid=0,
            colorscale=SCALE,
            text=[[_cell(value, power) for value in row] for row in covariance.tolist()],
            texttemplate="%{text}",
            textfont={"size": TEXT_PIXELS},
            customdata=says,
            hovertemplate="%{customdata}<extra></extra>",
            xgap=1,
            ygap=1,
            colorbar={
                "tickvals": ticks,
                "ticktext": [_cell(tick * most, power) for tick in TICKS],
                "thickness": 12,
                "outlinewidth": 0,
            },
        )
    )
    figure.update_xaxes(tickvals=places, ticktext=names, tickangle=-60, showgrid=False, title="dimension")
    figure.update_yaxes(tickvals=places, ticktext=names, autorange="reversed", showgrid=False)
    return figure.update_layout(template=STYLE, height=HEIGHT_PIXELS, margin={"t": 10, "b": 46, "r": 4})


def covariance_words(result: Anisotropy, layer: int) -> str:
    """How the numbers and the colours of the map are to be read."""
    at = find_layer(result.layers, layer)
    power = _power(float(np.abs(result.covariance[at]).max()) or 1.0)
    ten = f"10{str(abs(power)).translate(SUPERSCRIPTS)}"
    by = (
        ""
        if power == 0
        else f", {'÷' if power > 0 else '×'} {ten if abs(power) > MOST_ZEROS else f'{10 ** abs(power):,}'}"
    )
    return f"In the cells: covariance{by}; the colour goes with its root, no colour = 0."


def _power(most: float) -> int:
    """The power of ten by which the cells are divided, so that the largest has two digits: more run into each other."""
    return int(np.floor(np.log10(most))) - 1


def _cell(value: float, power: int) -> str:
    words = f"{value / 10.0**power:.0f}"
    return "0" if not float(words) else words.replace("-", "−")


def _says(dim: int, other: int, covariance: float, correlation: float) -> str:
    if dim == other:
        return f"dimension {dim}<br>variance {covariance:.6g}"
    known = "none" if np.isnan(correlation) else f"{correlation:+.3f}"
    return f"dimensions {dim} and {other}<br>covariance {covariance:+.6g}<br>correlation {known}".replace("-", "−")
