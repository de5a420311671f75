"""Distributions over a vocabulary, read as tokens: the likeliest, how unsure they are, and where a token ranks."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

from explorer.analysis.reading import Reading, read_tokens
from explorer.analysis.scoring_results import NextToken
from explorer.models.backend import LoadedModel


def entropies(scores: Float[Tensor, "row vocab"]) -> Float[Tensor, " row"]:
    """Entropy of each distribution, in nats.

    Args:
        scores: Log-probabilities in nats; -inf where a token cannot be.
    """
    return torch.special.entr(scores.exp()).sum(dim=-1)


def ranks(scores: Float[Tensor, "row vocab"], ids: Int[Tensor, " row"]) -> Int[Tensor, " row"]:
    """The place of one token of each distribution; 1 = the likeliest.

    Args:
        scores: Logits or log-probabilities.
        ids: One token for each row.
    """
    own = scores.gather(1, ids[:, None])
    return (scores > own).sum(dim=-1) + 1


def likeliest(
    model: LoadedModel, scores: Float[Tensor, "row vocab"], count: int, *, begins: bool = False
) -> list[tuple[NextToken, ...]]:
    """The likeliest tokens of each distribution, best first.

    Args:
        model: For how they read.
        scores: Log-probabilities in nats.
        count: How many; fewer where the vocabulary has fewer.
        begins: Whether they would begin the text, so that none has a space before it.
    """
    best = scores.topk(min(count, scores.shape[-1]), dim=-1)
    readings = read_tokens(model, best.indices.flatten().tolist())
    return [
        tuple(
            NextToken(token_id, added_text(readings[token_id], begins=begins), readings[token_id].token, probability)
            for token_id, probability in zip(ids, probabilities, strict=True)
        )
        for ids, probabilities in zip(best.indices.tolist(), best.values.exp().tolist(), strict=True)
    ]


def added_text(reading: Reading, *, begins: bool = False) -> str:
    """What a token adds to a text, the space before it included."""
    is_apart = reading.starts_word and not begins and not reading.body.isspace()
    return f" {reading.body}" if is_apart else reading.body
