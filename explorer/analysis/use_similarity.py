"""How alike the uses of a word are, whatever they mean: measured without any label."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from explorer.analysis.embedding_results import Occurrences
from explorer.analysis.neighbours import prepare_points
from explorer.analysis.sense_results import Estimate, LayerSimilarity, UseSimilarity
from explorer.analysis.sense_scoring import INTERVALS, estimate_similarity
from explorer.errors import UnsuitableText


def measure_similarity(
    occurrences: Occurrences, *, random_words: Float[np.ndarray, "layer word dim"] | None = None, seed: int = 0
) -> UseSimilarity:
    """Self-similarity of the uses of a word in each layer that they are of.

    Args:
        occurrences: Uses of one word; two or more.
        random_words: Vectors of other words in the same layers, for the baseline; None = without.
        seed: Of the resampling.

    Raises:
        UnsuitableText: There is only one use.

    Source: Ethayarajh 2019, https://arxiv.org/abs/1909.00512
    """
    if len(occurrences.sentences) < 2:
        raise UnsuitableText("There is one use alone: nothing can be measured of it. Give at least two sentences.")
    others = occurrences.vectors[:, :0] if random_words is None else random_words
    layers = tuple(
        LayerSimilarity(layer, _estimate(vectors, seed), _estimate(words, seed) if len(words) > 1 else None)
        for layer, vectors, words in zip(occurrences.layers, occurrences.vectors, others, strict=True)
    )
    return UseSimilarity(
        occurrences.model, occurrences.pieces, len(occurrences.sentences), layers, INTERVALS, occurrences.remarks
    )


def _estimate(vectors: Float[np.ndarray, "point dim"], seed: int) -> Estimate:
    return estimate_similarity(prepare_points(vectors).unit.astype(np.float64), seed)
