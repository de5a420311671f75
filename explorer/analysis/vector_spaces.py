"""What is known of the space of a layer once its vectors are summed: means, spectrum, uses of words. Free of torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from explorer.errors import UnsuitableText

LEAST_VECTORS = 3
NO_WORD = -1  # no word that is followed
ROUNDING = 1e-12  # of the second moment about the origin: less variance is rounding


@dataclass(frozen=True, eq=False)
class VectorSums:
    """Sums that grow in place with accumulate; as large for a million vectors as for two.

    A vector of zeros has no direction: it is at cosine 0 to everything.

    Attributes:
        counts: Vectors; sentences; the sum over sentences of 1 / sqrt(their vectors).
        origin: Second moments are taken about this point: the mean of the first vectors. Last, of their lengths.
        sums: Of vectors less origin.
        products: Of pairs of numbers of a vector less origin.
        units: Of vectors at length 1.
        squares: Of the squared numbers of vectors at length 1.
        lengths: Of lengths less those of the origin, and of their squares.
        sentences: Of the mean cosine of a sentence's vectors to their mean.
        word_counts: Uses of each word that is followed.
        words: Of the uses of each word, at length 1.
        word_squares: Of their squared lengths: 1, or 0 for a vector of zeros.
    """

    counts: Float[np.ndarray, " number"]
    origin: Float[np.ndarray, "layer more"]
    sums: Float[np.ndarray, "layer dim"]
    products: Float[np.ndarray, "layer dim dim"]
    units: Float[np.ndarray, "layer dim"]
    squares: Float[np.ndarray, "layer dim"]
    lengths: Float[np.ndarray, "layer power"]
    sentences: Float[np.ndarray, " layer"]
    word_counts: Float[np.ndarray, " word"]
    words: Float[np.ndarray, "layer word dim"]
    word_squares: Float[np.ndarray, "layer word"]


def start_sums(layers: int, dim: int, *, words: int = 0) -> VectorSums:
    """Sums of nothing yet.

    Args:
        layers: How many.
        dim: Numbers of a vector.
        words: How many different words are followed, for self-similarity.
    """
    return VectorSums(
        counts=np.zeros(3),
        origin=np.zeros((layers, dim + 1)),
        sums=np.zeros((layers, dim)),
        products=np.zeros((layers, dim, dim)),
        units=np.zeros((layers, dim)),
        squares=np.zeros((layers, dim)),
        lengths=np.zeros((layers, 2)),
        sentences=np.zeros(layers),
        word_counts=np.zeros(words),
        words=np.zeros((layers, words, dim)),
        word_squares=np.zeros((layers, words)),
    )


@dataclass(frozen=True, eq=False)
class LayerSpace:
    """A layer, as far as sums over its vectors tell.

    Attributes:
        count: Vectors.
        dim: Numbers of each.
        mean_cosine: Of all pairs of different vectors.
        contributions: What each number adds to it.
        mean: Of the vectors.
        covariance: Of the vectors, divided by their count.
        spectrum: Variances along the principal components, the largest first; never negative.
        components: The principal components, one in each column.
        mean_norm: Mean length.
        norm_spread: Standard deviation of the lengths.
        sentence_agreement: Mean over sentences of the mean cosine of a sentence's vectors to their mean; None without
            sentences.
        random_agreement: What that would be in random directions.
        self_similarities: For each word, the mean cosine of all pairs of its uses.
        explained: For each word whose uses were kept, the largest share of their sum of squares along one direction.
        explained_uses: How many uses of it were kept.
        baseline_explained: The same share, of all vectors together.
    """

    count: int
    dim: int
    mean_cosine: float
    contributions: Float[np.ndarray, " dim"]
    mean: Float[np.ndarray, " dim"]
    covariance: Float[np.ndarray, "dim dim"]
    spectrum: Float[np.ndarray, " dim"]
    components: Float[np.ndarray, "dim component"]
    mean_norm: float
    norm_spread: float
    sentence_agreement: float | None
    random_agreement: float | None
    self_similarities: Float[np.ndarray, " word"]
    explained: Float[np.ndarray, " kept"]
    explained_uses: Float[np.ndarray, " kept"]
    baseline_explained: float


def describe_space(sums: VectorSums, layer: int, uses: Sequence[Float[np.ndarray, "_ dim"]] = ()) -> LayerSpace:
    """What the sums say of one layer.

    Args:
        sums: Of three vectors or more.
        layer: Index into those that were summed.
        uses: Of each word whose uses were kept, their vectors in this layer.

    Raises:
        UnsuitableText: There are too few vectors, or all of them are zeros.
    """
    count = int(sums.counts[0])
    if count < LEAST_VECTORS:
        raise UnsuitableText(
            f"{'There is only 1 vector' if count == 1 else f'There are only {count} vectors'}, and {LEAST_VECTORS} are "
            "needed at least. Give more sentences."
        )
    squares = sums.squares[layer]
    if squares.sum() == 0:
        raise UnsuitableText(f"All vectors of layer {layer} are zeros: they have no direction. Use another model.")
    origin = sums.origin[layer, :-1]
    apart = sums.sums[layer] / count
    second = sums.products[layer] / count
    mean, covariance = origin + apart, second - np.outer(apart, apart)
    spectrum, components = np.linalg.eigh(covariance)
    least = ROUNDING * max(float(np.trace(second)), float(np.finfo(np.float64).tiny))
    spectrum = np.where(spectrum > least, spectrum, 0.0)[::-1]
    contributions = (sums.units[layer] ** 2 - squares) / (count * (count - 1))
    raw = covariance + np.outer(mean, mean)
    longer, squared = sums.lengths[layer] / count
    sentences = sums.counts[1]
    repeated = sums.word_counts > 1
    return LayerSpace(
        count=count,
        dim=len(mean),
        mean_cosine=float(contributions.sum()),
        contributions=contributions,
        mean=mean,
        covariance=covariance,
        spectrum=spectrum,
        components=components[:, ::-1],
        mean_norm=float(sums.origin[layer, -1] + longer),
        norm_spread=float(np.sqrt(max(squared - longer * longer, 0.0))),
        sentence_agreement=float(sums.sentences[layer] / sentences) if sentences else None,
        random_agreement=float(sums.counts[2] / sentences) if sentences else None,
        self_similarities=_self_similarities(sums, layer)[repeated],
        explained=np.array([share for one in uses if (share := explain_uses(one)) is not None], dtype=np.float64),
        explained_uses=np.array([len(one) for one in uses if one.any()], dtype=np.float64),
        baseline_explained=float(np.linalg.eigvalsh(raw)[-1] / np.trace(raw)),
    )


def unit_rows(vectors: Float[np.ndarray, "point dim"]) -> Float[np.ndarray, "point dim"]:
    """Vectors at length 1, in float64; zeros stay zeros."""
    exact = vectors.astype(np.float64)
    lengths = np.sqrt((exact * exact).sum(axis=1, keepdims=True))
    return np.divide(exact, lengths, out=np.zeros_like(exact), where=lengths > 0)


def explain_uses(uses: Float[np.ndarray, "use dim"]) -> float | None:
    """How much of the uses of a word one vector can stand for at best: the largest squared singular value over all.

    Args:
        uses: The vectors of some uses of a word; None is what only has zeros.

    Source: Ethayarajh 2019, section 3.3, https://arxiv.org/abs/1909.00512
    """
    exact = uses.astype(np.float64)
    largest = np.abs(exact).max(initial=0.0)
    if largest == 0:
        return None
    exact /= largest
    product = exact @ exact.T if len(exact) < exact.shape[1] else exact.T @ exact
    return float(min(np.linalg.eigvalsh(product)[-1] / np.trace(product), 1.0))


def _self_similarities(sums: VectorSums, layer: int) -> Float[np.ndarray, " word"]:
    words = sums.words[layer]
    pairs = sums.word_counts * (sums.word_counts - 1)
    cosines = (words * words).sum(axis=1) - sums.word_squares[layer]
    return np.divide(cosines, pairs, out=np.zeros_like(cosines), where=pairs > 0)
