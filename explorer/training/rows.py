"""The special tokens around a row."""

from collections.abc import Sequence

import torch
from jaxtyping import Int
from torch import Tensor
from transformers import PreTrainedTokenizerBase


def edges(tokenizer: PreTrainedTokenizerBase) -> tuple[list[int], list[int]]:
    """Ids that a tokenizer sets before and behind a text."""
    ids = list(tokenizer("").input_ids)
    begins = len(ids) > 1 or ids == [tokenizer.bos_token_id] or ids == [tokenizer.cls_token_id]
    return (ids[:1], ids[1:]) if begins else ([], ids)


def with_edges(ids: Int[Tensor, "row token"], before: Sequence[int], after: Sequence[int]) -> Int[Tensor, "row token2"]:
    """Set ids before and behind each row."""
    sides = [torch.tensor(side, dtype=ids.dtype, device=ids.device).expand(len(ids), -1) for side in (before, after)]
    return torch.cat([sides[0], ids, sides[1]], dim=1)
