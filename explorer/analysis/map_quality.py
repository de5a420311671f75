"""How far a map of points may be believed: who is near on it, and who is near in the full space."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from explorer.analysis.neighbours import prepare_points
from explorer.analysis.projection_results import MapQuality

NEAREST = 10
MOST_POINTS = 2_000  # all pairs of so many are compared; of more, so many drawn at random
TIE = 1e-6  # distances that differ by less are the same


def measure_map(
    vectors: Float[np.ndarray, "point dim"],
    drawn: Float[np.ndarray, "point axis"],
    senses: Sequence[str],
    *,
    seed: int = 0,
) -> MapQuality:
    """Compare the neighbours on a map with those by cosine of the vectors.

    Args:
        vectors: In the full space.
        drawn: The same points on the map.
        senses: A label for each; "" = none.
        seed: Of the points that are drawn where there are more than 2,000.

    Source: Venna and Kaski 2001, https://doi.org/10.1007/3-540-44668-0_68
    """
    chosen = np.arange(len(vectors))
    if len(vectors) > MOST_POINTS:
        chosen = np.sort(np.random.default_rng(seed).choice(len(vectors), MOST_POINTS, replace=False))
    unit = prepare_points(vectors[chosen]).unit.astype(np.float64)
    in_space = 1 - unit @ unit.T
    on_map = _distances(drawn[chosen].astype(np.float64))
    labels = np.array([senses[index] for index in chosen], dtype=object)
    k = min(NEAREST, (len(chosen) - 1) // 2)
    same_in_space, tied = _same_sense(in_space, labels)
    return MapQuality(
        _trustworthiness(in_space, on_map, k) if k else None,
        k,
        _same_sense(on_map, labels)[0],
        same_in_space,
        len(chosen),
        tied=tied,
    )


def _trustworthiness(
    in_space: Float[np.ndarray, "point point"], on_map: Float[np.ndarray, "point point"], k: int
) -> float:
    """1, less for each of the k nearest on the map that is farther than the k-th in space, by how many ranks."""
    count = len(on_map)
    away = on_map.copy()
    np.fill_diagonal(away, np.inf)
    nearest = np.argpartition(away, k - 1, axis=1)[:, :k]
    penalty = 0
    for point, others in enumerate(nearest):
        distances = np.delete(in_space[point], point)
        ranks = 1 + (distances[None] < in_space[point, others][:, None] - TIE).sum(axis=1)
        penalty += int(np.maximum(ranks - k, 0).sum())
    return 1 - penalty * 2 / (count * k * (2 * count - 3 * k - 1))


def _same_sense(distances: Float[np.ndarray, "point point"], labels: np.ndarray) -> tuple[float | None, float | None]:
    """Share of labelled points whose nearest labelled one has their sense; of several as near, the share of these.

    Second, the share of labelled points that have several as near; None twice = fewer than two senses.
    """
    has_one = labels != ""
    labels = labels[has_one]
    if len(set(labels)) < 2:
        return None, None
    away = distances[np.ix_(has_one, has_one)].copy()
    np.fill_diagonal(away, np.inf)
    is_nearest = away <= away.min(axis=1, keepdims=True) + TIE
    is_same = labels[:, None] == labels[None]
    count = is_nearest.sum(axis=1)
    return float(((is_nearest & is_same).sum(axis=1) / count).mean()), float((count > 1).mean())


def _distances(points: Float[np.ndarray, "point axis"]) -> Float[np.ndarray, "point point"]:
    """Between all pairs, axis by axis: squares of differences, for a difference of squares would lose what is near."""
    total = np.zeros((len(points), len(points)))
    for axis in points.T:
        total += (axis[:, None] - axis[None]) ** 2
    return np.sqrt(total)
