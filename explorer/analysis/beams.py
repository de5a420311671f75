"""Searches that fill blanks in an order, or without one: independent, left to right, most confident first."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from explorer.analysis.search import Filling, Search, Start, allowed_log_probabilities, best_first
from explorer.models.batching import Row


@dataclass(frozen=True)
class Beam:
    """A text of which some blanks are filled.

    Attributes:
        fills: One per blank; None = open.
        score: Log-probability of the fills so far, in nats.
    """

    fills: tuple[int | None, ...]
    score: float


def fill_independently(start: Start, count: int) -> list[Filling]:
    """The best combinations of fills chosen without regard to each other, exactly.

    Args:
        start: Where the search starts.
        count: How many combinations.

    Returns:
        At most `count` fillings, best first, scored by the sum of the marginal log-probabilities.

    Source: Huang and Chiang 2005 (k-best by a frontier of neighbours), https://aclanthology.org/W05-1506
    """
    scores, ids = _best_tokens(start.log_probabilities, count)
    first = (0,) * len(ids)
    frontier = [(-sum(row[0] for row in scores), first)]
    seen = {first}
    fillings: list[Filling] = []
    while frontier and len(fillings) < count:
        _, ranks = heapq.heappop(frontier)
        score = sum(row[rank] for row, rank in zip(scores, ranks, strict=True))
        fillings.append(Filling(tuple(row[rank] for row, rank in zip(ids, ranks, strict=True)), score))
        for blank, rank in enumerate(ranks):
            following = (*ranks[:blank], rank + 1, *ranks[blank + 1 :])
            if rank + 1 < len(scores[blank]) and following not in seen:
                seen.add(following)
                cost = score - scores[blank][rank] + scores[blank][rank + 1]
                heapq.heappush(frontier, (-cost, following))
    return fillings


def fill_left_to_right(start: Start, width: int) -> Search:
    """Beam search over the blanks in the order of the text.

    Args:
        start: Where the search starts.
        width: How many beginnings are kept.

    Returns:
        At most `width` fillings, best first, scored by the chain rule.

    Source: Wang and Cho 2019, https://arxiv.org/abs/1902.04094
    """
    text = start.text
    blanks = len(text.positions)
    beams = _grow([Beam((None,) * blanks, 0.0)], [0], start.log_probabilities[:1], width)
    for blank in range(1, blanks):
        logits = yield [Row(text.with_fills(beam.fills), (text.positions[blank],)) for beam in beams]
        scores = allowed_log_probabilities(torch.cat(logits), start.forbidden)
        beams = _grow(beams, [blank] * len(beams), scores, width)
    return best_first([Filling(beam.fills, beam.score) for beam in beams])


def fill_most_confident_first(start: Start, width: int) -> Search:
    """Beam search that at each step fills the open blank whose best token is most probable.

    Args:
        start: Where the search starts.
        width: How many partly filled texts are kept.

    Returns:
        At most `width` fillings, best first, scored by the chain rule in the order of filling.

    Source: Ghazvininejad et al. 2019, https://arxiv.org/abs/1904.09324
    """
    text = start.text
    blanks = len(text.positions)
    beams = [Beam((None,) * blanks, 0.0)]
    expected = [start.log_probabilities]
    for step in range(blanks):
        if step:
            rows = [Row(text.with_fills(beam.fills), tuple(text.positions[i] for i in _open(beam))) for beam in beams]
            expected = [allowed_log_probabilities(logits, start.forbidden) for logits in (yield rows)]
        chosen = [int(scores.amax(dim=-1).argmax()) for scores in expected]  # rows of the open blanks
        scores = torch.stack([scores[row] for scores, row in zip(expected, chosen, strict=True)])
        beams = _grow(beams, [_open(beam)[row] for beam, row in zip(beams, chosen, strict=True)], scores, width)
    return best_first([Filling(beam.fills, beam.score) for beam in beams])


def _open(beam: Beam) -> list[int]:
    return [blank for blank, fill in enumerate(beam.fills) if fill is None]


def _grow(beams: list[Beam], blanks: list[int], scores: Float[Tensor, "beam vocab"], width: int) -> list[Beam]:
    """Fill one blank of each beam in the best ways; where two orders lead to the same fills, keep the better."""
    values, ids = _best_tokens(scores, width)
    grown: dict[tuple[int | None, ...], Beam] = {}
    for beam, blank, row_values, row_ids in zip(beams, blanks, values, ids, strict=True):
        for value, token_id in zip(row_values, row_ids, strict=True):
            fills = (*beam.fills[:blank], token_id, *beam.fills[blank + 1 :])
            score = beam.score + value
            if fills not in grown or score > grown[fills].score:
                grown[fills] = Beam(fills, score)
    return heapq.nsmallest(
        width, grown.values(), key=lambda beam: (-beam.score, tuple(fill or -1 for fill in beam.fills))
    )


def _best_tokens(scores: Float[Tensor, "row vocab"], count: int) -> tuple[list[list[float]], list[list[int]]]:
    """The best tokens of each row and their scores, without those that are forbidden."""
    best = scores.topk(min(count, scores.shape[-1]), dim=-1)
    values, ids = best.values.tolist(), best.indices.tolist()
    allowed = [sum(value > -torch.inf for value in row) for row in values]
    return (
        [row[:size] for row, size in zip(values, allowed, strict=True)],
        [row[:size] for row, size in zip(ids, allowed, strict=True)],
    )
