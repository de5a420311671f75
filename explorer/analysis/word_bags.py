"""The words around a use as a bag: what a sentence gives away without being understood."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

TOKEN = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*|[^\w\s]|_")
DECIMALS = 9  # of cosines; what differs by less is a tie


@dataclass(frozen=True, eq=False)
class WordBags:
    """Sentences as sparse vectors of length 1, or 0 where every word is in all of them.

    Attributes:
        rows: Of each sentence the columns of its words, and the weight of each.
        columns: How many different words there are.
    """

    rows: tuple[tuple[Int[np.ndarray, " _"], Float[np.ndarray, " _"]], ...]
    columns: int


def weigh_words(sentences: Sequence[str], positions: Sequence[tuple[int, int]]) -> WordBags:
    """Casefolded words and punctuation marks without the use itself, weighed by the logarithm of how rare each is here.

    Args:
        sentences: One for each use.
        positions: Where each use stands, in characters, the end exclusive.
    """
    bags = [_count_tokens(sentence, *place) for sentence, place in zip(sentences, positions, strict=True)]
    held_by = Counter(token for bag in bags for token in bag)
    column = {token: index for index, token in enumerate(held_by)}
    rarity = {token: math.log(len(bags) / number) for token, number in held_by.items()}
    rows = []
    for bag in bags:
        weights = np.array([number * rarity[token] for token, number in bag.items()], dtype=float)
        length = float(np.sqrt(weights @ weights))
        rows.append((np.array([column[token] for token in bag], dtype=int), weights / length if length else weights))
    return WordBags(tuple(rows), len(column))


def compare_bags(bags: WordBags, query: int) -> Float[np.ndarray, " sentence"]:
    """The cosine of each sentence to one of them, itself among them, to 9 decimals.

    Args:
        bags: Of weigh_words.
        query: Which sentence, counted from 0.
    """
    weighed = np.zeros(bags.columns)
    columns, weights = bags.rows[query]
    weighed[columns] = weights
    return np.array([weighed[places] @ row for places, row in bags.rows]).round(DECIMALS)


def _count_tokens(sentence: str, start: int, end: int) -> Counter[str]:
    return Counter(token.casefold() for token in TOKEN.findall(f"{sentence[:start]} {sentence[end:]}"))
