"""Correlation of two lists of numbers, and of their ranks. Free of torch."""

import numpy as np
from jaxtyping import Float

from explorer.analysis.cures import rank_numbers


def measure_correlation(first: Float[np.ndarray, " pair"], second: Float[np.ndarray, " pair"]) -> float | None:
    """Pearson's correlation, in [-1, 1]; None where all numbers of a list are the same, or there are fewer than two."""
    if len(first) < 2:
        return None
    a, b = first - first.mean(), second - second.mean()
    lengths = np.sqrt((a @ a) * (b @ b))
    least = 1e-14 * len(a) * (np.abs(first).max() * np.abs(second).max())  # less is rounding
    return float(np.clip(a @ b / lengths, -1, 1)) if lengths > least else None


def measure_spearman(first: Float[np.ndarray, " pair"], second: Float[np.ndarray, " pair"]) -> float | None:
    """Spearman's rank correlation, in [-1, 1]; equal numbers share a rank; None as for measure_correlation.

    Source: Spearman 1904, https://doi.org/10.2307/1412159
    """
    ranks = rank_numbers(np.stack([first, second]).astype(np.float64))
    return measure_correlation(*ranks)
