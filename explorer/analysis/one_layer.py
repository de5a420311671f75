"""One layer of a measurement of all, for whoever wants no more."""

from __future__ import annotations

from dataclasses import replace

from explorer.analysis.anisotropy_results import Anisotropy, RogueDimensions
from explorer.analysis.frozen_arrays import freeze_copy

LAYERED = ("spectrum", "random_pairs", "same_word", "top_dimensions", "covariance")
LAYERED_ROGUES = (
    "mean_cosine",
    "contributions",
    "centre",
    "top",
    "shares",
    "means",
    "deviations",
    "r_squared",
    "spearman",
)


def find_layer(layers: tuple[int, ...], layer: int) -> int:
    """Where a layer stands among those that were measured, or the one nearest to it."""
    return min(range(len(layers)), key=lambda index: abs(layers[index] - layer))


def take_layer(result: Anisotropy, layer: int) -> Anisotropy:
    """The measurement of one layer, or of the one nearest to it."""
    at = find_layer(result.layers, layer)
    arrays = {name: freeze_copy(getattr(result, name)[at : at + 1]) for name in LAYERED}
    metrics = {key: values[at : at + 1] for key, values in result.metrics.items()}
    return replace(result, layers=result.layers[at : at + 1], metrics=metrics, **arrays)


def take_rogue_layer(result: RogueDimensions, layer: int) -> RogueDimensions:
    """The rogue dimensions of one layer, or of the one nearest to it; what they do for predictions stays."""
    at = find_layer(result.layers, layer)
    arrays = {name: freeze_copy(getattr(result, name)[at : at + 1]) for name in LAYERED_ROGUES}
    return replace(result, layers=result.layers[at : at + 1], **arrays)
