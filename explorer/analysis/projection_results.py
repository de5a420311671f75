"""Maps of uses in two or three dimensions, one for each layer: plain values and arrays, free of torch."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float
from numpy import ndarray

from explorer.analysis.embedding_results import Span


@dataclass(frozen=True, eq=False)
class PointMaps:
    """The same points on a map for each layer, turned so that they stay where they were as far as they can.

    Attributes:
        method: What the maps were made by: "pca", "umap" or "tsne". Not what was asked for where that cannot be done.
        seed: Of what is drawn at random; PCA draws nothing.
        coordinates: Float32, not writeable; each map has its middle at 0 and the root mean square distance from it 1.
        shares: Of the variance of each layer, the part that each principal component has, largest first, in [0, 1];
            None = not by PCA. The axes of a map are these components turned together, so that only their sum is its.
        remarks: What a reader of the maps must know.
    """

    method: str
    seed: int
    coordinates: Float[ndarray, "layer point axis"]
    shares: Float[ndarray, "layer axis"] | None
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class MapQuality:
    """How far a map may be believed.

    Attributes:
        trustworthiness: 1 = whoever is among the k nearest of a point on the map is so in the full space; 0.5 = as if
            the points lay at random; None = too few points.
        k: How many nearest points that looks at.
        nearest_on_map: Share of labelled points whose nearest other one on the map has the same sense, in [0, 1]; of
            several as near, the share of these; None = fewer than two senses.
        nearest_in_space: The same by cosine of the vectors themselves.
        points: How many were looked at.
        alike: Of two models on one map: 1 = both maps have the same shape, 0 = nothing in common (Procrustes' R²).
        tied: Share of labelled points that have several others equally near by cosine; None = fewer than two senses.
    """

    trustworthiness: float | None
    k: int
    nearest_on_map: float | None
    nearest_in_space: float | None
    points: int
    alike: float | None = None
    tied: float | None = None


@dataclass(frozen=True, eq=False)
class Projection:
    """Uses of a word on maps, one for each layer or for one vector that was made of several.

    Attributes:
        model: Its name.
        pieces: How the vectors of several tokens became one.
        vectors: Which vectors each map is of, in words, e.g. "layer 4, centred".
        layers: Their layers; none = one map of a vector made of several layers.
        sentences: One for each use.
        positions: Where each use stands in its sentence, in characters.
        words: The uses as they are written.
        senses: Their labels; "" = none.
        maps: The points themselves.
        quality: Of each map.
        remarks: What a reader must know.
        models: Of two models on one map: whose each point is; none = all are of the same.
    """

    model: str
    pieces: str
    vectors: tuple[str, ...]
    layers: tuple[int, ...]
    sentences: tuple[str, ...]
    positions: tuple[Span, ...]
    words: tuple[str, ...]
    senses: tuple[str, ...]
    maps: PointMaps
    quality: tuple[MapQuality, ...]
    remarks: tuple[str, ...]
    models: tuple[str, ...] = ()
