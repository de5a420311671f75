"""The points nearest to a point by cosine, exactly: every point is compared."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from explorer.analysis.embedding_results import NearUse, NearUses, Neighbours, Occurrences, Points
from explorer.errors import UnsuitableText

BLOCK_NUMBERS = 2**22  # cosines that are held at once
ROWS_AT_ONCE = 4096  # as many as stay in the processor's cache
SLACK = 4e-6  # cosines by float32 are wrong by less: what is nearer than this to the last place is computed again
DECIMALS = 9  # of cosines by float64; what differs by less is a tie


def prepare_points(vectors: Float[np.ndarray, "point dim"]) -> Points:
    """Vectors as find_neighbours takes them, each divided by its length once.

    Args:
        vectors: Finite; at least one. A vector of zeros stays one, and is at cosine 0 to everything.

    Raises:
        UnsuitableText: There is none, or a number is not finite.
    """
    if not vectors.size:
        raise UnsuitableText("There are no points to search. Give at least one.")
    unit = np.array(vectors, dtype=np.float32, order="C")
    for first in range(0, len(unit), ROWS_AT_ONCE):
        _normalise(unit[first : first + ROWS_AT_ONCE])
    unit.flags.writeable = False
    return Points(unit)


def find_neighbours(
    query: Float[np.ndarray, "query dim"] | Float[np.ndarray, " dim"],
    points: Points,
    *,
    k: int = 10,
    exclude: Int[np.ndarray, " query"] | None = None,
) -> Neighbours:
    """The k points of highest cosine to each query.

    Args:
        query: One vector, or several; of any length.
        points: As prepare_points makes them.
        k: How many, 1 or more; fewer are found where there are fewer points.
        exclude: For each query the index of a point that does not count, e.g. the query itself; -1 = none.

    Raises:
        UnsuitableText: k is below 1, nothing is left to search, or the query is of another width or not finite.
    """
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise UnsuitableText(f"k must be a whole number from 1; it is {k!r}.")
    queries = prepare_points(np.atleast_2d(query)).unit
    count, dim = points.unit.shape
    if queries.shape[1] != dim:
        raise UnsuitableText(f"The query has {queries.shape[1]} numbers, and the points have {dim}.")
    left_out = np.full(len(queries), -1) if exclude is None else np.asarray(exclude)
    most = min(k, count - int((left_out >= 0).any()))
    if most < 1:
        raise UnsuitableText("There is only one sentence, and so no other that it could be near. Give at least two.")
    indices = np.empty((len(queries), most), dtype=np.int64)
    cosines = np.empty((len(queries), most), dtype=np.float64)
    step = max(1, BLOCK_NUMBERS // count)
    for first in range(0, len(queries), step):
        block = queries[first : first + step]
        similar = block @ points.unit.T if len(block) > 1 else (points.unit @ block[0])[None]
        for row, one in enumerate(similar, start=first):
            if left_out[row] >= 0:
                one[left_out[row]] = -np.inf
            indices[row], cosines[row] = _best(one, queries[row], points.unit, most)
    return Neighbours(indices, np.clip(cosines, -1, 1).astype(np.float32))


def find_near_uses(
    occurrences: Occurrences, points: Points, *, use: int, vector: str, k: int = 10, senses: Sequence[str] = ()
) -> NearUses:
    """The uses nearest to one of them, with their sentences.

    Args:
        occurrences: At least two.
        points: One vector of each, as vectors.choose_vectors chooses it, made ready to be searched.
        use: Which is the query, counted from 0.
        vector: In words, which vectors these are: vectors.describe_vectors.
        k: How many.
        senses: A label for each use, or none.

    Raises:
        UnsuitableText: There is no such use, or no other one.
    """
    count = len(occurrences.sentences)
    if isinstance(use, bool) or not isinstance(use, int) or not 0 <= use < count:
        raise UnsuitableText(f"There is no use {use!r}: they are counted from 0 to {count - 1}.")
    if senses and len(senses) != count:
        raise UnsuitableText(f"There are {count} uses and {len(senses)} senses. Give one sense for each use.")
    near = find_neighbours(points.unit[use], points, k=k, exclude=np.array([use]))
    neighbours = tuple(
        NearUse(
            int(index),
            occurrences.sentences[index],
            *occurrences.positions[index],
            senses[index] if senses else "",
            float(cosine),
        )
        for index, cosine in zip(near.indices[0], near.cosines[0], strict=True)
    )
    return NearUses(
        occurrences.model,
        vector,
        occurrences.pieces,
        occurrences.sentences[use],
        *occurrences.positions[use],
        count - 1,
        neighbours,
        occurrences.remarks,
    )


def _normalise(rows: Float[np.ndarray, "point dim"]) -> None:
    """Divide rows by their lengths, in place."""
    largest = np.maximum(rows.max(axis=1), -rows.min(axis=1))  # divided by first: the square of it might overflow
    if not np.isfinite(largest).all():
        raise UnsuitableText("A vector holds a number that is not finite.")
    rows /= np.where(largest > 0, largest, 1)[:, None]
    lengths = np.sqrt(np.einsum("pd,pd->p", rows, rows))
    rows /= np.where(lengths > 0, lengths, 1)[:, None]


def _best(
    similar: Float[np.ndarray, " point"], query: Float[np.ndarray, " dim"], unit: Float[np.ndarray, "point dim"], k: int
) -> tuple[Int[np.ndarray, " rank"], Float[np.ndarray, " rank"]]:
    """The k most similar points; those near the last place are compared anew, in float64, so that ties are ties."""
    last = np.partition(similar, len(similar) - k)[len(similar) - k]
    candidates = np.flatnonzero(similar >= last - SLACK)
    if np.isneginf(last):  # k reaches as far as a point that does not count
        candidates = np.flatnonzero(~np.isneginf(similar))
    exact = np.empty(len(candidates))
    for first in range(0, len(candidates), ROWS_AT_ONCE):
        some = candidates[first : first + ROWS_AT_ONCE]
        exact[first : first + ROWS_AT_ONCE] = (unit[some].astype(np.float64) * query).sum(axis=1)
    order = np.lexsort((candidates, -exact.round(DECIMALS)))[:k]
    return candidates[order], exact[order]
