"""Uses of a word as points on a map: a figure of one layer, and what the page needs to move it to the others."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float
from numpy import ndarray

from explorer.analysis.projection_results import Projection
from explorer.figures.map_words import count_uses, hover_words, quality_words, title_words
from explorer.figures.sense_marks import SHAPES, UNLABELLED, SenseMark, mark_senses
from explorer.figures.style import GREY, GRID, STYLE

COLOURINGS = {
    "sense": "sense",
    "form": "form",
    "place": "place in the sentence",
    "model": "two models",
}
MOST_DRAWN_SLOWLY = 1_000  # points; more are drawn by WebGL
MOST_FORMS = 9
OTHER_FORMS = "other forms"
DECIMALS = 4  # of coordinates up to 1.6
HEIGHT_PIXELS = 440
POINT_PIXELS = {2: 9, 3: 3}
DRAWN_AS = {"x": "diamond-open"}  # in 3-D plotly writes an emoji for x, which some fonts lack
GLYPHS = SHAPES | {"diamond-open": "◇"}
OPACITY = {2: 0.85, 3: 0.6}  # in a cloud those behind are seen, too
MOST_STRETCHED = 4  # times, one axis against another: more would show noise
NEAR = np.array([1.08, 1.08, 0.6])  # where the eye is, seen from the middle of the cloud; how far off, the cloud says
HALF_VIEW = math.tan(math.pi / 8)  # plotly's camera sees 45° from top to bottom
LEAST_WIDE = 0.83  # times as wide as high the figure is on a telephone
AROUND = 1.04  # of the distance from which all points are seen: they have a size
HOVER_GROUND = "#1b1f24"  # whatever the colour of the point, light text is read on it
EDGE = 0.06  # around the points
KERNEL = 0.15  # of the frame, whose half height is 1: about an island
MOST_LOOKED_AT = 500
WIDE = 1.6  # times as wide as high, as the place for it is


@dataclass(frozen=True)
class Group:
    """Points that are drawn alike.

    Attributes:
        name: As the legend has it.
        mark: How they are drawn.
        points: Which, in order.
    """

    name: str
    mark: SenseMark
    points: tuple[int, ...]


def sense_map(projection: Projection, *, colour: str = "sense", key: str = "") -> go.Figure:
    """The map of the last layer; the page moves its points to the layer in sight.

    Args:
        projection: Of one use or more.
        colour: What colour and shape say: "sense", "form", "model", or "place" = how far into its sentence a use is.
        key: By which the page knows the figure that pack_map's data are for.
    """
    coordinates = _framed(projection)
    dimensions = coordinates.shape[2]
    figure = go.Figure()
    for group in group_points(projection, colour):
        figure.add_trace(_points(projection, group, coordinates[-1][list(group.points)], colour))
    figure.add_trace(_ring(dimensions))
    if groups := _labelled(projection, colour):
        figure.add_trace(_labels(groups, _centres(projection, colour, coordinates[-1])))
    figure.update_layout(
        template=STYLE,
        height=HEIGHT_PIXELS,
        margin={"l": 4, "r": 4, "t": 8, "b": 4},
        showlegend=False,
        hovermode="closest",
        modebar={"remove": ["select2d", "lasso2d"], "bgcolor": "rgba(0,0,0,0)", "color": GREY},
        meta=key,
    )
    if dimensions == 3:
        axis = {"showticklabels": False, "title": "", "gridcolor": GRID, "zeroline": False,
                "backgroundcolor": "rgba(0,0,0,0)", "showspikes": False}  # fmt: skip
        room = np.maximum(np.abs(coordinates).max(axis=(0, 1)), 1 / MOST_STRETCHED)  # of all layers
        sizes = dict(zip("xyz", (room + EDGE).tolist(), strict=True))
        axes = {f"{name}axis": axis | {"range": [-size, size]} for name, size in sizes.items()}
        scene = {"aspectmode": "manual", "aspectratio": sizes, "dragmode": "orbit", "camera": _see_all(coordinates)}
        return figure.update_layout(scene=scene | axes)
    plain = {"showticklabels": False, "showgrid": False, "zeroline": False, "ticks": ""}
    figure.update_xaxes(range=[-WIDE - EDGE, WIDE + EDGE], **plain)
    if projection.maps.method == "pca":
        plain |= {"scaleanchor": "x", "constrain": "domain"}
    return figure.update_yaxes(range=[-1 - EDGE, 1 + EDGE], **plain)


def _see_all(coordinates: Float[ndarray, "layer point axis"]) -> dict[str, dict[str, float]]:
    """Plotly's camera, so near that the points of all layers just fill the figure, and turned to their middle.

    Along each of the picture's axes a point is seen if |q·a - c| <= h (D - q·n): q is the point, n the way to the eye,
    D its distance, c how far the camera is moved along a, h half of what is seen at distance 1.
    """
    points = coordinates.reshape(-1, 3).astype(np.float64) / 2  # a range of 2 is as long as 1 of the scene
    towards = NEAR / np.linalg.norm(NEAR)
    right = np.cross([0.0, 0.0, 1.0], towards)
    right /= np.linalg.norm(right)
    depths, centre, distance = points @ towards, np.zeros(3), 0.0
    for axis, half in ((right, LEAST_WIDE * HALF_VIEW), (np.cross(towards, right), HALF_VIEW)):
        along = points @ axis / half
        most, least = (depths + along).max(), (depths - along).max()
        centre += half * (most - least) / 2 * axis
        distance = max(distance, (most + least) / 2)
    places = {"center": centre, "eye": centre + AROUND * distance * towards}
    return {name: dict(zip("xyz", place.tolist(), strict=True)) for name, place in places.items()}


def pack_map(projection: Projection, *, colour: str = "sense", key: str = "", word: str = "") -> str:
    """What assets/sense_map.js needs beside the figure: all layers' points once, rounded, and the words for each.

    Args:
        projection: As sense_map takes it.
        colour: Likewise.
        key: Likewise.
        word: Whose uses these are, for the title of a picture; "" = of several.
    """
    groups = group_points(projection, colour)
    coordinates = _framed(projection)
    has_labels = bool(_labelled(projection, colour))
    centres = [_centres(projection, colour, layer).round(DECIMALS).tolist() for layer in coordinates]
    packed = {
        "key": key,
        "dimensions": int(coordinates.shape[2]),
        "layers": projection.layers,
        "uses": count_uses(projection),
        "points": coordinates.round(DECIMALS).tolist(),
        "groups": [group.points for group in groups],
        "centres": centres if has_labels else None,
        "legend": "" if colour == "place" else _legend(groups),
        "says": [quality_words(projection, place) for place in range(len(coordinates))],
        "titles": [title_words(projection, place, word) for place in range(len(coordinates))],
    }
    return json.dumps(packed).replace("<", "\\u003c")


def group_points(projection: Projection, colour: str) -> tuple[Group, ...]:
    """Which points are drawn alike.

    Args:
        projection: As sense_map takes it.
        colour: Likewise.
    """
    count = len(projection.sentences)
    if colour == "place":
        return (Group("", SenseMark(GREY, "circle"), tuple(range(count))),)
    by_model = projection.models or (projection.model,) * count
    names = {"sense": projection.senses, "form": _forms(projection.words), "model": by_model}[colour]
    marks = mark_senses(names)
    if projection.maps.coordinates.shape[2] == 3:
        marks = {name: replace(mark, shape=DRAWN_AS.get(mark.shape, mark.shape)) for name, mark in marks.items()}
    order = [name for name in (*marks, "") if name in set(names)]
    return tuple(
        Group(name or UNLABELLED, marks[name], tuple(index for index in range(count) if names[index] == name))
        for name in dict.fromkeys(order)
    )


def places_in_sentences(projection: Projection) -> Float[ndarray, " point"]:
    """How far into its sentence each use stands, from 0 to 1."""
    return np.array(
        [
            start / max(1, len(sentence) - (end - start))
            for sentence, (start, end) in zip(projection.sentences, projection.positions, strict=True)
        ]
    )


def _points(projection: Projection, group: Group, at: Float[ndarray, "point axis"], colour: str) -> go.Scatter:
    dimensions, indices = at.shape[1], list(group.points)
    marker = {
        "size": POINT_PIXELS[dimensions],
        "color": group.mark.colour,
        "symbol": group.mark.shape,
        "opacity": OPACITY[dimensions],
    }
    marker["line"] = {"width": 0.5 if dimensions == 2 else 0, "color": GREY}
    if colour == "place":
        bar = {"title": {"text": "place"}, "tickvals": [0, 1], "ticktext": ["start", "end"], "thickness": 10,
               "len": 0.6, "outlinewidth": 0}  # fmt: skip
        marker |= {"color": places_in_sentences(projection)[indices], "colorscale": "Cividis", "cmin": 0, "cmax": 1}
        marker |= {"colorbar": bar}
    shared = {
        "mode": "markers",
        "name": escape(group.name, quote=False),
        "marker": marker,
        "customdata": [index % count_uses(projection) for index in indices],
        "text": [hover_words(projection, index) for index in indices],
        "hovertemplate": "%{text}<extra></extra>",
        "hoverlabel": {
            "align": "left",
            "bgcolor": HOVER_GROUND,
            "bordercolor": group.mark.colour,
            "font": {"color": "#ffffff"},
        },
    }
    if dimensions == 3:
        return go.Scatter3d(x=at[:, 0], y=at[:, 1], z=at[:, 2], **shared)
    if len(projection.sentences) > MOST_DRAWN_SLOWLY:
        return go.Scattergl(x=at[:, 0], y=at[:, 1], **shared)
    return go.Scatter(x=at[:, 0], y=at[:, 1], cliponaxis=False, **shared)


def _ring(dimensions: int) -> go.Scatter:
    """Around the query; the page puts it there."""
    marker = {"size": 20 if dimensions == 2 else 14, "symbol": "circle-open", "color": GREY, "line": {"width": 3}}
    shared = {"x": [None], "y": [None], "mode": "markers", "marker": marker, "hoverinfo": "skip", "name": "query"}
    shared["showlegend"] = False
    return go.Scatter3d(z=[None], **shared) if dimensions == 3 else go.Scatter(cliponaxis=False, **shared)


def _labels(groups: Sequence[Group], at: Float[ndarray, "label axis"]) -> go.Scatter:
    """Names beside the points, each behind its mark: where a name stands says nothing, the mark says whose it is."""
    texts = [  # in brackets: a mark alone looks like a point
        f"(<span style='color:{group.mark.colour}'>{GLYPHS[group.mark.shape]}</span>) {escape(group.name, quote=False)}"
        for group in groups
    ]
    return go.Scatter(
        x=at[:, 0],
        y=at[:, 1],
        mode="text",
        text=texts,
        textfont={"size": 13},
        hoverinfo="skip",
        name="labels",
        showlegend=False,
        cliponaxis=False,
    )


def _labelled(projection: Projection, colour: str) -> list[Group]:
    """What is written on the map: the groups, unless they are one alone; in a cloud they would cover each other."""
    if projection.maps.coordinates.shape[2] == 3:
        return []
    groups = [group for group in group_points(projection, colour) if colour not in ("place", "model")]
    return groups if len(groups) > 1 else []


def _centres(projection: Projection, colour: str, layer: Float[ndarray, "point axis"]) -> Float[ndarray, "label axis"]:
    """Where groups are: the point among them that has most of them around it; a middle may lie where none is."""
    groups = group_points(projection, colour)
    return np.array([_densest(layer[list(group.points)].astype(np.float64)) for group in groups])


def _densest(points: Float[ndarray, "point axis"]) -> Float[ndarray, " axis"]:
    """The point with the highest density of points, by a Gaussian kernel; of many points, some are looked at."""
    some = points[:: 1 + len(points) // MOST_LOOKED_AT]
    squared = np.square(some[:, None] - some).sum(axis=2)
    return some[np.exp(-squared / (2 * KERNEL**2)).sum(axis=1).argmax()]


def _legend(groups: Sequence[Group]) -> str:
    """Marks and names to press, so that one is looked at alone."""
    buttons = "".join(
        f"<button type='button' class='map-mark' data-group='{number}' aria-pressed='true'>"
        f"<span class='sense'><i style='color:{group.mark.colour}' aria-hidden='true'>{GLYPHS[group.mark.shape]}</i> "
        f"<bdi>{escape(group.name)}</bdi></span> <small>{len(group.points)}</small></button>"
        for number, group in enumerate(groups)
    )
    return f"<div class='use-senses' role='group' aria-label='Show and hide'>{buttons}</div>"


def _forms(words: Sequence[str]) -> list[str]:
    """Forms without regard to capitals; the rarest together where there are too many to tell apart."""
    forms = [word.casefold() for word in words]
    counts = {form: forms.count(form) for form in dict.fromkeys(forms)}
    kept = sorted(counts, key=lambda form: -counts[form])[:MOST_FORMS]
    return [form if form in kept else OTHER_FORMS for form in forms]


def _framed(projection: Projection) -> Float[ndarray, "layer point axis"]:
    """Maps in one frame: each fills it, and the longest way through the last one lies across.

    One turn for all layers, and sizes that say nothing. PCA keeps its shape; UMAP and t-SNE, whose distances say
    little, fill the frame along each axis.
    """
    maps = projection.maps.coordinates.astype(np.float64)
    _, _, turn = np.linalg.svd(maps[-1], full_matrices=True)
    maps = maps @ turn.T
    least, most = maps.min(axis=1, keepdims=True), maps.max(axis=1, keepdims=True)
    room = np.ones(maps.shape[2]) if maps.shape[2] == 3 else np.array([WIDE, 1.0])
    sizes = (most - least) / 2 / room
    size = sizes.max(axis=2, keepdims=True)
    if projection.maps.method != "pca":
        size = np.maximum(sizes, size / MOST_STRETCHED)
    return (maps - (most + least) / 2) / np.where(size > 0, size, 1)
