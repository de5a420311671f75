"""The same uses by two models on one map."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from explorer.analysis.projection_results import PointMaps, Projection
from explorer.analysis.projections import turn_to
from explorer.errors import UnsuitableText

BESIDE = ", beside "  # between the names of the two models' vectors


def pair_projections(first: Projection, second: Projection) -> Projection:
    """Two models' maps of the same uses, laid on each other.

    All maps are around their middle and of one size already (project_points); each of the second model is rotated, and
    mirrored where needed, to the map of the first model that is as deep in its layers.

    Args:
        first: Of one model; its layers are kept.
        second: Of another one, made the same way; its uses are the same.

    Returns:
        Twice as many points: those of the first model, then those of the second. Quality is that of the first, with how
        alike the two maps of each layer are.

    Raises:
        UnsuitableText: They are not of the same uses, or not on maps of the same kind.
    """
    one, other = first.maps, second.maps
    if first.sentences != second.sentences or first.positions != second.positions:
        raise UnsuitableText("Two models are laid on one map by the same uses of a word; these are not the same.")
    if one.method != other.method or one.coordinates.shape[2] != other.coordinates.shape[2]:
        raise UnsuitableText("Two maps are laid on each other when they were made the same way.")
    count, last = len(first.sentences), len(other.coordinates) - 1
    deepest = max(1, len(one.coordinates) - 1)
    places = [round(place * last / deepest) if len(one.coordinates) > 1 else last for place in range(deepest + 1)]
    places = places[: len(one.coordinates)]
    turned = np.stack(
        [
            turn_to(other.coordinates[there].astype(np.float64), here)
            for there, here in zip(places, one.coordinates.astype(np.float64), strict=True)
        ]
    )
    alike = [_alike(here.astype(np.float64), there) for here, there in zip(one.coordinates, turned, strict=True)]
    coordinates = np.concatenate([one.coordinates, turned.astype(np.float32)], axis=1)
    coordinates.flags.writeable = False
    remarks = tuple(dict.fromkeys([*first.remarks, *second.remarks]))
    how = (
        "Both models’ maps are centred and of one size; each of the second is turned to the map of the first that is "
        "as deep in its layers. Only which uses lie together can be compared, not how far apart the models are."
    )
    return Projection(
        model=f"{first.model} and {second.model}",
        pieces=first.pieces,
        vectors=tuple(
            f"{words}{BESIDE}{second.vectors[place]}" for words, place in zip(first.vectors, places, strict=True)
        ),
        layers=first.layers,
        sentences=first.sentences * 2,
        positions=first.positions * 2,
        words=first.words * 2,
        senses=first.senses * 2,
        maps=PointMaps(one.method, one.seed, coordinates, one.shares, ()),
        quality=tuple(replace(quality, alike=value) for quality, value in zip(first.quality, alike, strict=True)),
        remarks=(*remarks, how),
        models=(first.model,) * count + (second.model,) * count,
    )


def _alike(one: np.ndarray, other: np.ndarray) -> float:
    """The share of one map's squared extent that the other, turned and scaled to it, explains; in [0, 1]."""
    sizes = float((one * one).sum() * (other * other).sum())
    return float((one * other).sum()) ** 2 / sizes if sizes > 0 else 0.0
