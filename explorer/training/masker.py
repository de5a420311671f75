"""Masking of rows of one tokenizer."""

from collections.abc import Iterator

import torch
from jaxtyping import Bool, Int
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from explorer.analysis.corruption.masking import BERT_CORRUPTION, MASK_SHARE, Corruption, corrupt, mask_tokens


class Masker:
    """Masks rows of one tokenizer: mask_tokens with all that it asks of the tokenizer.

    Args:
        tokenizer: With a mask token.
        share: Chance of a position to be picked, in (0, 1).
        corruption: What becomes of a picked position.

    Attributes:
        is_special: Which ids are special tokens, [vocab].
    """

    def __init__(
        self,
        tokenizer: PreTrainedTokenizerBase,
        *,
        share: float = MASK_SHARE,
        corruption: Corruption = BERT_CORRUPTION,
    ) -> None:
        self.is_special = special_tokens(tokenizer)
        self._mask_id, self._vocab_size = tokenizer.mask_token_id, len(tokenizer)
        self._share, self._corruption = share, corruption

    def mask(
        self, ids: Int[Tensor, "row token"], generator: torch.Generator
    ) -> tuple[Int[Tensor, "row token"], Bool[Tensor, "row token"]]:
        """The corrupted ids, and which positions were picked.

        Args:
            ids: Token ids, special tokens included.
            generator: Source of the random numbers.
        """
        return mask_tokens(
            ids,
            mask_id=self._mask_id,
            vocab_size=self._vocab_size,
            is_special=self.is_special,
            share=self._share,
            corruption=self._corruption,
            generator=generator,
        )

    def mask_in_turn(
        self, ids: Int[Tensor, "row token"], rounds: int, generator: torch.Generator
    ) -> Iterator[tuple[Int[Tensor, "row token"], Bool[Tensor, "row token"]]]:
        """Every token picked once: what a model makes of a text, with less chance in it than by picks at random.

        Args:
            ids: Token ids, special tokens included, which are never picked.
            rounds: Over which the tokens of each row are spread as evenly as can be.
            generator: Source of the random numbers.

        Yields:
            Of each round the corrupted ids, and which positions were picked.
        """
        special = self.is_special[ids]
        ranks = torch.rand(ids.shape, generator=generator).masked_fill(special, 2.0).argsort(dim=1).argsort(dim=1)
        for number in range(rounds):
            picked = (ranks % rounds == number) & ~special
            corrupted = corrupt(
                ids,
                picked,
                mask_id=self._mask_id,
                vocab_size=self._vocab_size,
                corruption=self._corruption,
                generator=generator,
            )
            yield corrupted.ids, picked


def special_tokens(tokenizer: PreTrainedTokenizerBase) -> Bool[Tensor, " vocab"]:
    """Which ids are special tokens."""
    is_special = torch.zeros(len(tokenizer), dtype=torch.bool)
    is_special[tokenizer.all_special_ids] = True
    return is_special
