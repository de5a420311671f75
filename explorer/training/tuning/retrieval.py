"""Finding each query's own sentence among all: recall and reciprocal rank. Free of torch."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int


@dataclass(frozen=True, eq=False)
class Retrieval:
    """What is found for queries.

    Attributes:
        best: Index of the nearest candidate of each query.
        cosines: Its cosine.
        ranks: Of the right candidate, 1 = it is the nearest.
    """

    best: Int[np.ndarray, " query"]
    cosines: Float[np.ndarray, " query"]
    ranks: Int[np.ndarray, " query"]

    @property
    def recall_at_1(self) -> float:
        """Share of the queries whose nearest candidate is the right one."""
        return float((self.ranks == 1).mean())

    @property
    def mean_reciprocal_rank(self) -> float:
        """Mean of one over the rank of the right candidate."""
        return float((1.0 / self.ranks).mean())


def retrieve(
    queries: Float[np.ndarray, "query dim"],
    candidates: Float[np.ndarray, "candidate dim"],
    wanted: Int[np.ndarray, " query"],
) -> Retrieval:
    """Find the nearest candidate of each query by cosine.

    Args:
        queries: Vectors.
        candidates: Vectors; a sentence stands here once.
        wanted: Which candidate is the right one. A candidate that is as near as it counts as nearer: a model that gives
            all sentences one vector has found nothing.
    """
    cosines = _unit(queries) @ _unit(candidates).T
    rows = np.arange(len(queries))
    of_wanted = cosines[rows, wanted]
    others = cosines.copy()
    others[rows, wanted] = -np.inf
    ranks = 1 + (others >= of_wanted[:, None]).sum(axis=1)
    nearest = others.argmax(axis=1)
    best = np.where(ranks == 1, wanted, nearest)
    return Retrieval(best, cosines[rows, best], ranks)


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
