"""Searches for fills that share forward passes.

A search is a generator: it yields the rows whose logits it needs and is sent them, and at its end returns its fillings.
So several searches, of one text or of many, are advanced together, and each step is one call of masked_logits.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import torch
from jaxtyping import Float, Int
from torch import Tensor

from explorer.analysis.blanks import BlankedText
from explorer.models.backend import LoadedModel
from explorer.models.batching import Row, masked_logits

# Logits held at once, as numbers: 128 MiB in fp32, however large the vocabulary.
MOST_LOGITS = 2**25
# Tokens that the searches for one text have the model read, however many blanks and completions are asked for, and
# however long it is: twenty seconds of a small model on two cores. Within it a search is narrowed, and says so.
MOST_TOKENS = 100_000

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


@dataclass(frozen=True)
class Filling:
    """A token in every blank.

    Attributes:
        ids: One token id per blank.
        score: Log-probability in nats; its meaning depends on the search.
    """

    ids: tuple[int, ...]
    score: float


Answers = list[Float[Tensor, "_ vocab"]]  # rows ask for different numbers of positions
Search = Generator[list[Row], Answers, list[Filling]]


@dataclass(frozen=True)
class Found:
    """What a search within bounds found.

    Attributes:
        fillings: Best first.
        is_cut: Whether a bound ended it, so that better ones may exist.
    """

    fillings: list[Filling]
    is_cut: bool


@dataclass(frozen=True, eq=False)
class Start:
    """Where every search of a text starts.

    Attributes:
        text: The text.
        log_probabilities: What stands at each blank while all are open, in nats; -inf for forbidden tokens.
        forbidden: Ids that are never put into a text.
    """

    text: BlankedText
    log_probabilities: Float[Tensor, "blank vocab"]
    forbidden: Int[Tensor, " token"]


def forbidden_ids(model: LoadedModel, vocabulary: int) -> Int[Tensor, " token"]:
    """Tokens that are no filling: special ones, and rows of the head that no token belongs to."""
    special = {token_id for token_id in model.tokenizer.all_special_ids if token_id < vocabulary}
    missing = range(len(model.tokenizer), vocabulary)
    return torch.tensor(sorted({*special, *missing}), dtype=torch.long, device=model.network.device)


def allowed_log_probabilities(
    logits: Float[Tensor, "row vocab"], forbidden: Int[Tensor, " token"]
) -> Float[Tensor, "row vocab"]:
    """Log-softmax over the whole vocabulary, then -inf for forbidden tokens: they lose, but nothing is renormalised."""
    return logits.log_softmax(dim=-1).index_fill_(-1, forbidden, -torch.inf)


def best_first(fillings: Sequence[Filling]) -> list[Filling]:
    """Sorted by score; equal scores by ids, so that the order never depends on chance."""
    return sorted(fillings, key=lambda filling: (-filling.score, filling.ids))


def rows_at_once(vocabulary: int) -> int:
    """How many rows of logits may be held at once."""
    return max(1, MOST_LOGITS // vocabulary)


def affordable_rows(row_tokens: int) -> int:
    """How many rows of so many tokens the searches for one text may ask for."""
    return MOST_TOKENS // row_tokens


def widest(most: int, narrowest: int, rows: int, row_tokens: int) -> int:
    """How many alternatives a search can keep at a time with the rows that it may ask for.

    Args:
        most: As many as are asked for.
        narrowest: As many as it keeps in any case.
        rows: That it has the model read for each.
        row_tokens: Tokens of a row.
    """
    return min(most, max(narrowest, affordable_rows(row_tokens) // max(1, rows)))


def in_step(
    searches: Sequence[Generator[list[Row], Answers, Outcome]], most_rows: int
) -> Generator[list[Row], Answers, list[Outcome]]:
    """Advance searches together, as one search.

    Args:
        searches: Not started yet.
        most_rows: A step asks for more rows than this only if a single search does.

    Returns:
        What each search returned.
    """
    results: list[Outcome | None] = [None] * len(searches)
    asked: dict[int, list[Row]] = {}

    def advance(index: int, answers: Answers | None) -> None:
        try:
            asked[index] = searches[index].send(answers)
        except StopIteration as end:
            asked.pop(index, None)
            results[index] = end.value

    for index in range(len(searches)):
        advance(index, None)
    while asked:
        for group in groups_within(list(asked.items()), _positions_asked, most_rows):
            answers = iter((yield [row for _, rows in group for row in rows]))
            for index, rows in group:
                advance(index, [next(answers) for _ in rows])
    return results


def _positions_asked(asked: tuple[int, list[Row]]) -> int:
    return sum(len(row.positions) for row in asked[1])


def run_search(
    model: LoadedModel, searches: Sequence[Generator[list[Row], Answers, Outcome]], vocabulary: int
) -> list[Outcome]:
    """Run searches to their ends on a model.

    Args:
        model: A model with a masked language modelling head.
        searches: Not started yet.
        vocabulary: Size of the head.

    Returns:
        What each search returned.
    """
    together = in_step(searches, rows_at_once(vocabulary))
    answers = None
    while True:
        try:
            rows = together.send(answers)
        except StopIteration as end:
            return end.value
        answers = masked_logits(model, rows)


def groups_within(items: Iterable[Item], size: Callable[[Item], int], most: int) -> Iterator[list[Item]]:
    """Items in order, cut into groups whose sizes together stay within a bound; one that is larger stands alone.

    Args:
        items: What to group.
        size: How many rows of logits one takes.
        most: As rows_at_once returns it.
    """
    group: list[Item] = []
    taken = 0
    for item in items:
        wanted = size(item)
        if group and taken + wanted > most:
            yield group
            group, taken = [], 0
        group.append(item)
        taken += wanted
    if group:
        yield group
