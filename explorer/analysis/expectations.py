"""What a masked model expects at open blanks: from logits to the choices of a Blank."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from explorer.analysis.reading import Reading, tell_apart
from explorer.analysis.results import Blank, Choice


@dataclass(frozen=True)
class Expectation:
    """A distribution over the vocabulary, of which the most probable tokens are kept.

    Attributes:
        ids: Most probable first.
        probabilities: Softmax over the whole vocabulary; parallel to ids.
        entropy_bits: Of the whole distribution, in bits.
    """

    ids: tuple[int, ...]
    probabilities: tuple[float, ...]
    entropy_bits: float


def expectations(log_probabilities: Float[Tensor, "blank vocab"], top_k: int) -> list[Expectation]:
    """The most probable tokens of each blank.

    Args:
        log_probabilities: Log-softmax over the whole vocabulary, in nats.
        top_k: How many tokens to keep; all, if the vocabulary is smaller.

    Returns:
        One per blank.
    """
    best = log_probabilities.topk(min(top_k, log_probabilities.shape[-1]), dim=-1)
    probabilities = log_probabilities.exp()
    entropies = -(probabilities * log_probabilities.clamp_min(-1e4)).sum(dim=-1)  # 0 * -inf would be nan
    return [
        Expectation(tuple(ids), tuple(values), max(0.0, entropy) / math.log(2))
        for ids, values, entropy in zip(
            best.indices.tolist(), best.values.exp().tolist(), entropies.tolist(), strict=True
        )
    ]


def as_choice(token_id: int, probability: float, readings: Mapping[int, Reading]) -> Choice:
    """A token and its probability, as the visitor reads it."""
    reading = readings[token_id]
    return Choice(reading.text, reading.token, token_id, probability)


def as_blank(token_index: int, expectation: Expectation, readings: Mapping[int, Reading]) -> Blank:
    """A blank and what is expected there, as the visitor reads it: of two that read alike, one marked by a space."""
    known = dict(zip(expectation.ids, tell_apart([readings[one] for one in expectation.ids]), strict=True))
    return Blank(
        token_index=token_index,
        choices=tuple(
            as_choice(token_id, probability, known)
            for token_id, probability in zip(expectation.ids, expectation.probabilities, strict=True)
        ),
        entropy_bits=expectation.entropy_bits,
    )
