"""Sums over vectors from which a space is measured: batch after batch, exact over all pairs, without any pair.

The mean cosine of all pairs of n vectors of length 1 needs their sum s alone: (s·s - n) / (n (n - 1)). So time grows
with the number of vectors, and the memory does not. All sums are float64; second moments are taken about a point near
the mean, so that a dimension of large mean and small spread keeps its digits.

Source: Ethayarajh 2019, https://arxiv.org/abs/1909.00512; Welford 1962, https://doi.org/10.1080/00401706.1962.10490022
"""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from explorer.analysis.vector_spaces import NO_WORD, VectorSums
from explorer.errors import UnsuitableText

ROWS_AT_ONCE = 1024  # of one layer: they stay in the processor's cache


def accumulate(
    sums: VectorSums,
    vectors: Float[np.ndarray, "layer point dim"],
    words: Int[np.ndarray, " point"] | None = None,
    sentences: Int[np.ndarray, " point"] | None = None,
) -> None:
    """Add vectors to sums, in place.

    Args:
        sums: As vector_spaces.start_sums makes them.
        vectors: Of any length; none is fine.
        words: Which of the words that are followed each one is a use of; NO_WORD = none of them.
        sentences: The sentence of each one; those of a sentence are in one batch.

    Raises:
        UnsuitableText: A number is not finite; the message says in which layer.
    """
    count = vectors.shape[1]
    if not count:
        return
    is_first = sums.counts[0] == 0
    sums.counts[0] += count
    kept = of_word = of_sentence = None
    if words is not None:
        followed = words[words != NO_WORD]
        np.add.at(sums.word_counts, followed, 1)
        kept, of_word = torch.from_numpy(np.flatnonzero(words != NO_WORD)), torch.from_numpy(followed)
    if sentences is not None:
        _, numbers, sizes = np.unique(sentences, return_inverse=True, return_counts=True)
        sums.counts[1:] += len(sizes), (1 / np.sqrt(sizes)).sum()
        of_sentence = torch.from_numpy(numbers)
    for layer, numbers in enumerate(vectors):
        points = torch.tensor(numbers, dtype=torch.float64)
        lengths = torch.linalg.vector_norm(points, dim=1)
        if not lengths.isfinite().all():
            raise UnsuitableText(f"The vectors of layer {layer} hold numbers that are not finite. Use another model.")
        if is_first:
            sums.origin[layer, :-1], sums.origin[layer, -1] = points.mean(dim=0), lengths.mean()
        units = points / torch.where(lengths > 0, lengths, 1.0)[:, None]
        squares = units * units
        sums.units[layer] += units.sum(dim=0).numpy()
        sums.squares[layer] += squares.sum(dim=0).numpy()
        if of_word is not None:
            torch.from_numpy(sums.words[layer]).index_add_(0, of_word, units[kept])
            torch.from_numpy(sums.word_squares[layer]).index_add_(0, of_word, squares[kept].sum(dim=1))
        if of_sentence is not None:
            sums.sentences[layer] += _agreements(points, units, of_sentence, sizes)
        longer = lengths.numpy() - sums.origin[layer, -1]
        sums.lengths[layer] += longer.sum(), longer @ longer
        points -= torch.from_numpy(sums.origin[layer, :-1])
        sums.sums[layer] += points.sum(dim=0).numpy()
        products = torch.from_numpy(sums.products[layer])
        for some in points.split(ROWS_AT_ONCE):
            products.addmm_(some.T, some)


def _agreements(
    points: Float[Tensor, "point dim"],
    units: Float[Tensor, "point dim"],
    of_sentence: Int[Tensor, " point"],
    sizes: Int[np.ndarray, " sentence"],
) -> float:
    """The mean cosine of each sentence's vectors to their mean, summed over the sentences."""
    nothing = points.new_zeros(len(sizes), points.shape[1])
    middles = nothing.index_add(0, of_sentence, points)
    lengths = torch.linalg.vector_norm(middles, dim=1)
    dots = (nothing.index_add(0, of_sentence, units) * middles).sum(dim=1)
    shares = dots / torch.from_numpy(sizes) / torch.where(lengths > 0, lengths, 1.0)
    return float(torch.where(lengths > 0, shares, 0.0).sum())
