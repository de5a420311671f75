"""How many of the uses nearest to a use mean the same, and how many would by chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from explorer.analysis.embedding_results import NearUses
from explorer.errors import UnsuitableText


@dataclass(frozen=True)
class SharedSense:
    """The sense of a use among those nearest to it.

    Attributes:
        sense: Of the use.
        shared: How many of the nearest have it.
        nearest: How many were looked at.
        expected: How many of so many would have it if they were drawn by lot from all other uses.
    """

    sense: str
    shared: int
    nearest: int
    expected: float


def count_shared_sense(near: NearUses, *, sense: str, senses: Sequence[str]) -> SharedSense:
    """Count the uses of the query's sense among its neighbours.

    Args:
        near: As find_near_uses finds them, with senses.
        sense: Of the query.
        senses: Of all uses, that of the query among them.

    Raises:
        UnsuitableText: The query has no sense, or there is no other use.
    """
    others = len(senses) - 1
    if not sense or sense not in senses or others < 1:
        raise UnsuitableText("To count what shares the sense of a use, give senses of it and of at least one other.")
    nearest = len(near.neighbours)
    shared = sum(one.sense == sense for one in near.neighbours)
    return SharedSense(sense, shared, nearest, nearest * (list(senses).count(sense) - 1) / others)
