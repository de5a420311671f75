"""Attention weights of a batch, added up on their device to the few numbers that measure heads; nothing is kept."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

SHARES = ("previous", "next", "same", "first", "end", "punctuation")
NUMBERS = (*SHARES, "far", "near", "entropy")  # far: attention times distance; near: what it is to be divided by


@dataclass(frozen=True, eq=False)
class Marks:
    """What stands where in a batch of texts, padded to the right.

    Attributes:
        places: Where each token stands, to tell how far apart two are: in the text, or just in its row.
        read: Tokens that are no padding.
        text: Tokens of the texts themselves: neither padding nor special.
        punctuation: Which of these are punctuation marks.
        end: The special tokens behind the texts.
        is_causal: Whether each token sees only those before it, and itself.
    """

    places: Int[Tensor, "batch key"]
    read: Bool[Tensor, "batch key"]
    text: Bool[Tensor, "batch key"]
    punctuation: Bool[Tensor, "batch key"]
    end: Bool[Tensor, "batch key"]
    is_causal: bool


@dataclass(frozen=True, eq=False)
class Weighing:
    """How the weights of a batch are added up.

    Attributes:
        columns: What each weight counts for: for the shares 1 where the key is that place for the query; last, the
            distance in tokens, and 1, between tokens of the text.
        queries: Whose attention is measured: tokens of the text that see at least one token besides themselves.
        sight: Which keys each query sees.
        counts: For each of NUMBERS, how many queries it is defined for.
    """

    columns: Float[Tensor, "batch pair column"]
    queries: Bool[Tensor, "batch query"]
    sight: Bool[Tensor, "batch query key"]
    counts: Float[Tensor, " number"]


def weigh_marks(marks: Marks, looking: Marks | None = None) -> Weighing:
    """Work out once for all layers what each weight counts for.

    Args:
        marks: Of what is looked at.
        looking: Of who looks, where that is another reading of the same texts, as in cross-attention.
    """
    queried = looking or marks
    (batch, length), width = marks.read.shape, queried.read.shape[1]
    steps = torch.arange(length, device=marks.read.device)
    apart = marks.places[:, None, :] - queried.places[:, :, None]  # from query to key
    sight = marks.read[:, None, :].expand(batch, width, length)
    if marks.is_causal and looking is None:
        sight = sight & (apart <= 0)
    queries = queried.text & (sight.sum(dim=-1) > 1)
    keys = marks.text[:, None, :]
    places = [
        keys & (apart == -1),
        keys & (apart == 1),
        keys & (apart == 0),
        (steps == 0) & (apart < 0),
        marks.end[:, None, :],
        marks.punctuation[:, None, :],
    ]
    seen = queries[:, :, None] & sight
    counted = torch.stack([place & seen for place in places], dim=-1)
    within = (queries[:, :, None] & keys).float()
    columns = torch.cat([counted.float(), (within * apart.abs())[..., None], within[..., None]], dim=-1)
    defined = counted.any(dim=2).sum(dim=(0, 1))
    every = queries.sum().expand(len(NUMBERS) - len(SHARES))
    return Weighing(columns.flatten(1, 2), queries, sight, torch.cat([defined, every]).double())


def sum_layer(weights: Float[Tensor, "batch head query key"], weighing: Weighing) -> Float[Tensor, "number head"]:
    """For each of NUMBERS, its sum over the queries of a batch; entropies in bits.

    Args:
        weights: Each row of a token that is no padding sums to 1; padding gets nothing.
        weighing: Of the same batch.
    """
    batch, heads = weights.shape[:2]
    sums = torch.bmm(weights.reshape(batch, heads, -1), weighing.columns).sum(dim=0)
    spread = torch.special.entr(weights).sum(dim=-1) * weighing.queries[:, None]
    entropies = spread.sum(dim=(0, 2)) / math.log(2)
    return torch.cat([sums.T, entropies[None]]).double()


def uniform_weights(weighing: Weighing) -> Float[Tensor, "batch head query key"]:
    """Those of one head that attends to all tokens in sight alike."""
    sight = weighing.sight.float()
    return (sight / sight.sum(dim=-1, keepdim=True).clamp(min=1))[:, None]
