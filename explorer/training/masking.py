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
    fate = torch.rand(ids.shape, generator=generator)
    random_ids = torch.randint(vocab_size, ids.shape, generator=generator)
    becomes_mask = picked & (fate < corruption.masked)
    becomes_random = picked & ~becomes_mask & (fate < corruption.masked + corruption.randomized)
    corrupted = torch.where(becomes_mask, mask_id, ids)
    return torch.where(becomes_random, random_ids, corrupted), picked
