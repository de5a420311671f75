"""BERT's own objective: masked tokens, and whether the second part of a pair really followed the first."""

import torch
from jaxtyping import Bool, Int
from torch import Tensor
from torch.nn import functional
from transformers import BertForPreTraining, PreTrainedTokenizerBase

from explorer.analysis.corruption.masking import MASK_SHARE
from explorer.training.evaluating import evaluating
from explorer.training.masker import Masker
from explorer.training.objective import Objective
from explorer.training.predictions import prediction_loss

IS_NEXT, IS_RANDOM = 0, 1  # as BERT's own head has them


class SentencePairObjective(Objective):
    """Predict the picked tokens of two parts, and whether the second follows the first; half of them do not.

    The first part ends with a sentence, and the second begins with one: where the text was cut tells nothing.

    Args:
        network: BERT with both its heads, trained in place.
        tokenizer: Of the network.
        share: Chance of a position to be picked.
        head_learning_rate: See Objective.

    Source: Devlin et al. 2019, https://arxiv.org/abs/1810.04805
    """

    sentence_at = 0.5
    has_marks = False

    def __init__(
        self,
        network: BertForPreTraining,
        tokenizer: PreTrainedTokenizerBase,
        *,
        share: float = MASK_SHARE,
        head_learning_rate: float | None = None,
    ) -> None:
        super().__init__(network, tokenizer, head_learning_rate=head_learning_rate)
        self._tokenizer = tokenizer
        self._masker = Masker(tokenizer, share=share)

    def loss(
        self, ids: Int[Tensor, "row token"], share_done: float, generator: torch.Generator
    ) -> tuple[Tensor, float]:
        """Cross-entropy of the picked tokens plus that of the pairs; and the first of them."""
        pairs, kinds, labels = make_pairs(ids, self._tokenizer, generator)
        inputs, picked = self._masker.mask(pairs, generator)
        device = self.network.device
        output = self.network.bert(inputs.to(device), token_type_ids=kinds.to(device))
        hidden = output.last_hidden_state[picked.to(device)]
        of_tokens = prediction_loss(self.network, hidden, pairs[picked].to(device))
        of_pairs = functional.cross_entropy(
            self.network.cls.seq_relationship(output.pooler_output).float(), labels.to(device)
        )
        return of_tokens + of_pairs, of_tokens.item()


def make_pairs(
    ids: Int[Tensor, "row token"], tokenizer: PreTrainedTokenizerBase, generator: torch.Generator
) -> tuple[Int[Tensor, "row token"], Int[Tensor, "row token"], Int[Tensor, " row"]]:
    """Two parts per row; in half of the rows the second part is another row's.

    Args:
        ids: Windows with a sentence start in their middle; they lose a few tokens at their ends to the marks.
        tokenizer: Its [CLS] and [SEP] go around the parts.
        generator: Source of the random numbers.

    Returns:
        `[CLS] first [SEP] second [SEP]`, as long as ids; which part each token is of; and IS_NEXT or IS_RANDOM.
    """
    rows, length = ids.shape
    middle = int(length * SentencePairObjective.sentence_at)
    first, second = ids[:, 2:middle], ids[:, middle:-1].clone()
    is_random = _half(rows, generator)
    moved = torch.nonzero(is_random).flatten()
    second[moved] = second[moved.roll(1)]
    begin, end = (torch.full((rows, 1), mark) for mark in (tokenizer.cls_token_id, tokenizer.sep_token_id))
    pairs = torch.cat([begin, first, end, second, end], dim=1)
    kinds = torch.zeros_like(pairs)
    kinds[:, first.shape[1] + 2 :] = 1
    return pairs, kinds, torch.where(is_random & (len(moved) > 1), IS_RANDOM, IS_NEXT)


def _half(count: int, generator: torch.Generator) -> Bool[Tensor, " row"]:
    chosen = torch.zeros(count, dtype=torch.bool)
    chosen[torch.randperm(count, generator=generator)[: count // 2]] = True
    return chosen


@torch.inference_mode()
def measure_pairs(
    network: BertForPreTraining, tokenizer: PreTrainedTokenizerBase, rows: Int[Tensor, "row token"], *, seed: int = 0
) -> float:
    """Share of pairs that the model judges right, in [0, 1]; half of them do not belong together.

    Args:
        network: BERT with both its heads.
        tokenizer: Of the network.
        rows: Held-out windows with a sentence start in their middle.
        seed: Of the pairs.
    """
    pairs, kinds, labels = make_pairs(rows, tokenizer, torch.Generator().manual_seed(seed))
    right = 0
    with evaluating(network):
        for inputs, kind, label in zip(pairs.split(64), kinds.split(64), labels.split(64), strict=True):
            output = network.bert(inputs.to(network.device), token_type_ids=kind.to(network.device))
            guess = network.cls.seq_relationship(output.pooler_output).argmax(dim=1)
            right += int((guess.cpu() == label).sum())
    return right / len(pairs)
