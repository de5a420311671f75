"""The corruption that masked language models are trained on."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Int
from torch import Tensor

MASK_SHARE = 0.15


@dataclass(frozen=True)
class Corruption:
    """What becomes of the picked positions.

    Attributes:
        masked: Share that becomes the mask token, in [0, 1].
        randomized: Share that becomes a random token; the rest keeps its own.
    """

    masked: float
    randomized: float

    def __str__(self) -> str:
        """Percentages of masked, randomized and kept positions, as the literature writes them."""
        if self.masked == 1:
            return "all masked"
        kept = 1 - self.masked - self.randomized
        return "/".join(f"{100 * share:.0f}" for share in (self.masked, self.randomized, kept))


BERT_CORRUPTION = Corruption(masked=0.8, randomized=0.1)
ALL_MASKED = Corruption(masked=1.0, randomized=0.0)


def mask_tokens(
    ids: Int[Tensor, "row token"],
    *,
    mask_id: int,
    vocab_size: int,
    is_special: Bool[Tensor, " vocab"],
    share: float = MASK_SHARE,
    corruption: Corruption = BERT_CORRUPTION,
    generator: torch.Generator,
) -> tuple[Int[Tensor, "row token"], Bool[Tensor, "row token"]]:
    """Pick positions to predict; as BERT does it, 80 % of them become the mask, 10 % a random token, 10 % stay.

    Args:
        ids: Token ids, special tokens included.
        mask_id: Id of the mask token.
        vocab_size: Random tokens are drawn below this.
        is_special: Which ids are special tokens, and so never picked.
        share: Chance of a position to be picked, in (0, 1).
        corruption: What becomes of a picked position; it does not change which are picked.
        generator: Source of the random numbers.

    Returns:
        The corrupted ids, and which positions were picked.

    Source: Devlin et al. 2019, section 3.1, https://arxiv.org/abs/1810.04805
    """
    picked = (torch.rand(ids.shape, generator=generator) < share) & ~is_special[ids]
    return corrupt(
        ids, picked, mask_id=mask_id, vocab_size=vocab_size, corruption=corruption, generator=generator
    ).ids, picked


@dataclass(frozen=True)
class Corrupted:
    """What became of picked tokens; those picked and in neither group kept their own.

    Attributes:
        ids: Token ids after it, [row, token].
        masked: Where the mask stands now, likewise.
        randomized: Where a random token stands now, which may be the same by chance.
    """

    ids: Int[Tensor, "row token"]
    masked: Bool[Tensor, "row token"]
    randomized: Bool[Tensor, "row token"]


def corrupt(
    ids: Int[Tensor, "row token"],
    picked: Bool[Tensor, "row token"],
    *,
    mask_id: int,
    vocab_size: int,
    corruption: Corruption = BERT_CORRUPTION,
    generator: torch.Generator,
    groups: Int[Tensor, "row token"] | None = None,
) -> Corrupted:
    """Mask picked tokens, put random ones in their place, or leave them, by chance.

    Args:
        ids: Token ids.
        picked: Which of them.
        mask_id: Id of the mask token.
        vocab_size: Random tokens are drawn below this.
        corruption: The chances.
        generator: Source of the random numbers.
        groups: Tokens of one number in a row share their fate, as a span does in SpanBERT; None = each has its own.
    """
    fate = torch.rand(ids.shape, generator=generator)
    if groups is not None:
        fate = fate.gather(1, groups)
    random_ids = torch.randint(vocab_size, ids.shape, generator=generator)
    masked = picked & (fate < corruption.masked)
    randomized = picked & ~masked & (fate < corruption.masked + corruption.randomized)
    return Corrupted(torch.where(randomized, random_ids, torch.where(masked, mask_id, ids)), masked, randomized)


def pick_tokens(
    can_be_picked: Bool[Tensor, "row token"], *, share: float = MASK_SHARE, generator: torch.Generator
) -> Bool[Tensor, "row token"]:
    """Pick a share of each row, rounded, and at least one token: what BERT's own code does, row by row.

    Args:
        can_be_picked: Which tokens may be, e.g. all but the special ones.
        share: Of those, in (0, 1].
        generator: Source of the random numbers.

    Source: Devlin et al. 2019, https://github.com/google-research/bert/blob/master/create_pretraining_data.py
    """
    wanted = budget_tokens(can_be_picked.sum(dim=1, keepdim=True), share)
    order = torch.rand(can_be_picked.shape, generator=generator).masked_fill(~can_be_picked, 2.0).argsort(dim=1)
    return (order.argsort(dim=1) < wanted) & can_be_picked


def budget_tokens(count: Int[Tensor, "*row"], share: float) -> Int[Tensor, "*row"]:
    """How many of some tokens a share is: rounded, and at least one."""
    return (count * share).round().clamp(min=1).long()
