"""How many of the uses nearest to a use mean the same; how many would by chance, and by the words around them alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from explorer.analysis.embedding_results import NearUses
from explorer.analysis.labelled_uses import LabelledUses
from explorer.analysis.word_bags import compare_bags, weigh_words
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


def count_by_words(uses: LabelledUses, use: int, *, nearest: int) -> float:
    """How many of the uses nearest to one by a bag of words have its sense: the baseline of count_shared_sense.

    Of those as near as the last, e.g. because they share no word with the query, as many count as would by lot.

    Args:
        uses: With senses.
        use: The query's place among them; it has a sense.
        nearest: How many are looked at; of fewer others, all are.

    Returns:
        From 0 to nearest; a whole number where nothing is tied.

    Raises:
        UnsuitableText: The query has no sense, or there is no other use.
    """
    sense, others = uses.senses[use], len(uses.senses) - 1
    if not sense or others < 1:
        raise UnsuitableText("To count what shares the sense of a use, give senses of it and of at least one other.")
    cosines = np.delete(compare_bags(weigh_words(uses.sentences, uses.positions), use), use)
    alike = np.delete(np.array([one == sense for one in uses.senses]), use)
    looked_at = min(nearest, others)
    last = np.partition(cosines, others - looked_at)[others - looked_at]
    above, tied = cosines > last, cosines == last
    return float(alike[above].sum() + (looked_at - above.sum()) * alike[tied].mean())
