"""What a sample can tell: intervals of shares and of means, and a test of changes one by one. Free of torch."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from jaxtyping import Float
from numpy import ndarray

LEVEL = 0.95
RESAMPLES = 2_000


def share_interval(share: float, count: int, *, level: float = LEVEL) -> tuple[float, float]:
    """Between which shares the true one lies, by what was counted: Wilson's score interval.

    Args:
        share: Counted, in [0, 1].
        count: Of so many, from 1.
        level: How many of all such intervals hold the true share, in (0, 1).

    Source: Wilson 1927, https://doi.org/10.1080/01621459.1927.10502953
    """
    z = NormalDist().inv_cdf((1 + level) / 2)
    middle, half = share + z**2 / (2 * count), z * math.sqrt(share * (1 - share) / count + (z / (2 * count)) ** 2)
    low, high = ((middle + side * half) / (1 + z**2 / count) for side in (-1, 1))
    return max(low, 0.0), min(high, 1.0)


def mean_intervals(
    values: Float[ndarray, "row sample"], *, level: float = LEVEL, seed: int = 0
) -> Float[ndarray, "row 2"]:
    """Between which numbers the mean of each row lies when its samples are drawn again, the same ones for all rows.

    Args:
        values: Samples in columns, at least one.
        level: Share of the means that lie between, in (0, 1).
        seed: Of the drawing.

    Source: the percentile bootstrap, Efron 1979, https://doi.org/10.1214/aos/1176344552
    """
    count = values.shape[1]
    weights = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), size=RESAMPLES) / count
    tail = (1 - level) / 2
    return np.quantile(values @ weights.T, (tail, 1 - tail), axis=1).T


def sign_test(gained: int, lost: int) -> float:
    """How probable a split as uneven as this one is where each change is as likely for the better as for the worse.

    Args:
        gained: Changes for the better.
        lost: Changes for the worse.

    Returns:
        The two-sided p, exact: McNemar's test by the binomial distribution.

    Source: McNemar 1947, https://doi.org/10.1007/BF02295996
    """
    changed = gained + lost
    tail = sum(math.comb(changed, count) for count in range(min(gained, lost) + 1)) / 2**changed
    return min(1.0, 2 * tail)
