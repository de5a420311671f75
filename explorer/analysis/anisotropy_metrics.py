"""How the directions that a layer uses are measured: a table. Free of torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from explorer.analysis.vector_spaces import LayerSpace

ETHAYARAJH = "Ethayarajh 2019, https://arxiv.org/abs/1909.00512"
RUDMAN = "Rudman et al. 2022, https://arxiv.org/abs/2108.07344"
ROY = "Roy and Vetterli 2007, https://ieeexplore.ieee.org/document/7098875"
MU = "Mu and Viswanath 2018, https://arxiv.org/abs/1702.01417"
TIMKEY = "Timkey and van Schijndel 2021, https://arxiv.org/abs/2109.04404"
Spectrum = Float[np.ndarray, " dim"]


@dataclass(frozen=True)
class Metric:
    """One number of a layer.

    Attributes:
        key: Its name in results.
        label: As a visitor chooses it.
        says: What it says, in one sentence.
        isotropic: What it would be if as many vectors, of the same words and sentences, pointed in random directions;
            None where no direction decides it, or where nothing is there to be measured.
        measure: The number; None where nothing is there to be measured.
        source: Paper and link.
    """

    key: str
    label: str
    says: str
    isotropic: Callable[[LayerSpace], float | None]
    measure: Callable[[LayerSpace], float | None]
    source: str


def iso_score(spectrum: Spectrum) -> float | None:
    """IsoScore from the variances along the principal components: 1 = all alike, 0 = one has it all.

    The paper's steps (normalise, distance to the identity, rescale) come to (participation ratio - 1) / (dim - 1), with
    the participation ratio (sum of variances)² / (sum of squared variances).

    Args:
        spectrum: Variances, in any unit; None is what has no variance, or one dimension.
    """
    if spectrum.sum() <= 0 or len(spectrum) < 2:
        return None
    shares = spectrum / spectrum.sum()
    return float((1 / (shares * shares).sum() - 1) / (len(shares) - 1))


def effective_rank(spectrum: Spectrum) -> float | None:
    """The exponential of the entropy of the shares of variance: how many dimensions are in use.

    Args:
        spectrum: Variances along the principal components.
    """
    if spectrum.sum() <= 0:
        return None
    shares = spectrum[spectrum > 0] / spectrum.sum()
    return float(np.exp(-(shares * np.log(shares)).sum()))


def top_share(spectrum: Spectrum, k: int) -> float | None:
    """How much of the variance the k largest principal components have.

    Args:
        spectrum: Variances along the principal components, the largest first.
        k: How many.
    """
    return float(spectrum[:k].sum() / spectrum.sum()) if spectrum.sum() > 0 else None


def isotropic_spectrum(count: int, dim: int) -> Spectrum:
    """The variances along the principal components of a sample of vectors whose true variances are all 1.

    Few vectors seem less isotropic than they are: the law of Marchenko and Pastur says by how much.

    Args:
        count: Vectors, their mean taken off.
        dim: Numbers of each.

    Returns:
        The largest first.

    Source: Marchenko and Pastur 1967, https://doi.org/10.1070/SM1967v001n04ABEH001994
    """
    ratio = dim / count
    low, high = (1 - np.sqrt(ratio)) ** 2, (1 + np.sqrt(ratio)) ** 2
    steps = 20_000
    angles = (np.arange(steps) + 0.5) * np.pi / steps
    values = (low + high) / 2 + (high - low) / 2 * np.cos(angles)  # finest at both ends, where the density bends
    mass = np.sin(angles) ** 2 / np.maximum(values, 1e-300)
    used = min(count, dim)
    place = (np.cumsum(mass) - mass / 2) / mass.sum() * used
    which = np.minimum(place.astype(int), used - 1)
    sums, sizes = np.bincount(which, mass * values, used), np.bincount(which, mass, used)
    means = np.divide(sums, sizes, out=np.interp(np.arange(used) + 0.5, place, values), where=sizes > 0)
    return np.concatenate([means, np.zeros(dim - used)])


def first_share(counts: Float[np.ndarray, " word"], dim: int) -> Float[np.ndarray, " word"]:
    """How much of the sum of squares of random vectors lies along the best direction, the mean not taken off.

    Args:
        counts: Numbers of vectors, 1 or more.
        dim: Numbers of each vector.

    Source: Johnstone 2001, https://doi.org/10.1214/aos/1009210544
    """
    n, d = counts, float(dim)
    shorter, longer = np.minimum(n, d), np.maximum(n, d)
    edge = np.sqrt(longer - 0.5) + np.sqrt(np.maximum(shorter - 0.5, 0.25))
    spread = edge * (1 / np.sqrt(longer - 0.5) + 1 / np.sqrt(np.maximum(shorter - 0.5, 0.25))) ** (1 / 3)
    return np.minimum((edge**2 - 1.2065 * spread) / (n * d), 1.0)  # 1.2065: the mean of Tracy and Widom's law


def _mean(values: Sequence[float] | np.ndarray) -> float | None:
    return float(np.mean(values)) if len(values) else None


def _less(value: float | None, baseline: float) -> float | None:
    return None if value is None else value - baseline


def _explained(space: LayerSpace) -> float | None:
    return _mean(space.explained)


def _random_explained(space: LayerSpace) -> float | None:
    return _mean(first_share(space.explained_uses, space.dim)) if len(space.explained) else None


def _spectral(measure: Callable[[Spectrum], float | None]) -> tuple[Callable, Callable]:
    """Of random directions, and of the layer."""
    return (
        lambda space: measure(isotropic_spectrum(space.count - 1, space.dim)),
        lambda space: measure(space.spectrum),
    )


def _zero(space: LayerSpace) -> float:
    return 0.0


def _zero_if_repeated(space: LayerSpace) -> float | None:
    return 0.0 if len(space.self_similarities) else None


def _nothing(space: LayerSpace) -> None:
    return None


METRICS = {
    metric.key: metric
    for metric in (
        Metric(
            "mean_cosine",
            "Mean cosine",
            "Mean cosine of any two tokens (or words) of the corpus, two uses of one word among them: how far all "
            "vectors point the same way.",
            _zero,
            lambda space: space.mean_cosine,
            ETHAYARAJH,
        ),
        Metric(
            "self_similarity",
            "Self-similarity",
            "Mean cosine of two uses of one word, over the words: 1 if nothing around it changes it. In layer 0 many "
            "models have no context yet, but the place in the sentence.",
            _zero_if_repeated,
            lambda space: _mean(space.self_similarities),
            ETHAYARAJH,
        ),
        Metric(
            "self_similarity_adjusted",
            "Self-similarity, adjusted",
            "Self-similarity less the mean cosine: how much nearer two uses of one word are than any two tokens.",
            _zero_if_repeated,
            lambda space: _less(_mean(space.self_similarities), space.mean_cosine),
            ETHAYARAJH,
        ),
        Metric(
            "intra_sentence_similarity",
            "Intra-sentence similarity",
            "Mean cosine of the tokens of a sentence to their mean, over sentences: how alike a sentence makes them.",
            lambda space: space.random_agreement,
            lambda space: space.sentence_agreement,
            ETHAYARAJH,
        ),
        Metric(
            "intra_sentence_similarity_adjusted",
            "Intra-sentence similarity, adjusted",
            "Intra-sentence similarity less the mean cosine.",
            lambda space: space.random_agreement,
            lambda space: space.sentence_agreement - space.mean_cosine,
            ETHAYARAJH,
        ),
        Metric(
            "maximum_explainable_variance",
            "Maximum explainable variance",
            "How much of a word’s uses one vector can stand for, at best, over the words: σ₁² / Σσ² of its uses.",
            _random_explained,
            _explained,
            ETHAYARAJH,
        ),
        Metric(
            "maximum_explainable_variance_adjusted",
            "Maximum explainable variance, adjusted",
            "The same less that of all tokens together: what is left is due to the word.",
            lambda space: _less(
                _random_explained(space), float(first_share(np.array([float(space.count)]), space.dim)[0])
            ),
            lambda space: _less(_explained(space), space.baseline_explained),
            ETHAYARAJH,
        ),
        Metric(
            "isoscore",
            "IsoScore",
            "How evenly the variance is spread over the dimensions, whatever the mean: 1 = evenly, 0 = all in one.",
            *_spectral(iso_score),
            RUDMAN,
        ),
        Metric(
            "effective_rank",
            "Effective rank",
            "How many dimensions the variance is spread over: the exponential of the entropy of its shares.",
            *_spectral(effective_rank),
            ROY,
        ),
        Metric(
            "top_1_variance",
            "Variance in the first component",
            "Share of the variance along the first principal component.",
            *_spectral(lambda spectrum: top_share(spectrum, 1)),
            MU,
        ),
        Metric(
            "top_3_variance",
            "Variance in the first three components",
            "Share of the variance along the first three principal components.",
            *_spectral(lambda spectrum: top_share(spectrum, 3)),
            MU,
        ),
        Metric(
            "top_10_variance",
            "Variance in the first ten components",
            "Share of the variance along the first ten principal components.",
            *_spectral(lambda spectrum: top_share(spectrum, 10)),
            MU,
        ),
        Metric(
            "mean_norm",
            "Mean length",
            "Mean length of a vector; directions do not decide it.",
            _nothing,
            lambda space: space.mean_norm,
            TIMKEY,
        ),
        Metric(
            "norm_spread",
            "Spread of lengths",
            "Standard deviation of the lengths of vectors; a few giant tokens make it large.",
            _nothing,
            lambda space: space.norm_spread,
            TIMKEY,
        ),
    )
}
