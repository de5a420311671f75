"""Masked language modelling as a pre-training objective, and its held-out report."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Int
from torch import Tensor
from torch.nn import functional
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from explorer.analysis.corruption.masking import BERT_CORRUPTION, Corruption
from explorer.training.evaluating import evaluating
from explorer.training.masker import Masker
from explorer.training.objective import Objective


class MaskedObjective(Objective):
    """Predict the picked tokens; optionally, unlearn to repeat the words around them.

    An encoder that was trained to make one vector of a sentence (Sentence-BERT) has learnt to spread the topic word
    everywhere, and so repeats it in the blank: "Paris is the capital of Paris". An unlikelihood term on the visible
    rarer words pushes those down. It fades to nothing as training ends, so that the probabilities are calibrated.

    Args:
        network: An encoder with a masked head, trained in place.
        tokenizer: Of the network.
        share: Chance of a position to be picked. More than 15 % gives more signal for the same work.
        unlikelihood: Weight of the unlikelihood term at the start; 0 = none.
        common_ids: Tokens too common to be called repeated (articles, punctuation); never pushed down.
        head_learning_rate: See Objective.

    Source: Devlin et al. 2019, https://arxiv.org/abs/1810.04805; share: Wettig et al. 2023,
        https://arxiv.org/abs/2202.08005; unlikelihood: Welleck et al. 2020, https://arxiv.org/abs/1908.04319
    """

    def __init__(
        self,
        network: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        *,
        share: float = 0.25,
        unlikelihood: float = 0.0,
        common_ids: Int[Tensor, " common"] | None = None,
        head_learning_rate: float | None = None,
    ) -> None:
        super().__init__(network, tokenizer, head_learning_rate=head_learning_rate)
        self._masker = Masker(tokenizer, share=share)
        self._unlikelihood = unlikelihood
        self._is_rare = ~self._masker.is_special
        if common_ids is not None:
            self._is_rare[common_ids] = False

    def loss(
        self, ids: Int[Tensor, "row token"], share_done: float, generator: torch.Generator
    ) -> tuple[Tensor, float]:
        """Cross-entropy at the picked positions, plus the fading unlikelihood of repeated words."""
        inputs, picked = self._masker.mask(ids, generator)
        device = self.network.device
        inputs, picked, targets = inputs.to(device), picked.to(device), ids[picked].to(device)
        log_probabilities = predict_picked(self.network, inputs, picked).float().log_softmax(dim=-1)
        count = max(1, len(targets))  # a step so small that nothing was picked must not divide by zero
        cross_entropy = functional.nll_loss(log_probabilities, targets, reduction="sum") / count
        weight = self._unlikelihood * (1.0 - share_done)
        if not weight:
            return cross_entropy, cross_entropy.item()
        visible = inputs[picked.nonzero()[:, 0]]  # [picked, token]: the row of each picked position
        repeated = self._is_rare.to(device)[visible] & (visible != targets[:, None])
        probability = log_probabilities.gather(1, visible).exp().clamp(max=0.999)
        penalty = (-torch.log1p(-probability) * repeated).sum() / count
        return cross_entropy + weight * penalty, cross_entropy.item()


def predict_picked(
    network: PreTrainedModel, inputs: Int[Tensor, "row token"], picked: Bool[Tensor, "row token"]
) -> Tensor:
    """Logits at the picked positions only, [picked, vocab]: the head is a quarter of the work at each position."""
    return network.cls(network.base_model(inputs).last_hidden_state[picked])


@dataclass(frozen=True)
class MaskedReport:
    """How well masked tokens of held-out documents are predicted.

    Attributes:
        masked_as: What became of the picked positions: "80/10/10", or "all masked".
        length_tokens: Of each row, special tokens included.
        picked: How many tokens were predicted.
        loss_nats: Mean cross-entropy.
        top1: Share of picked tokens that are the likeliest, in [0, 1].
        top5: Share among the five likeliest.
    """

    masked_as: str
    length_tokens: int
    picked: int
    loss_nats: float
    top1: float
    top5: float


@torch.inference_mode()
def measure_masked(
    network: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    rows: Int[Tensor, "row token"],
    *,
    corruption: Corruption = BERT_CORRUPTION,
    seed: int = 0,
    batch_rows: int = 64,
) -> MaskedReport:
    """Mask 15 % of the rows once and measure how well the tokens are predicted.

    Args:
        network: With a masked head.
        tokenizer: Of the network.
        rows: Held-out windows, special tokens included.
        corruption: What becomes of the picked positions.
        seed: Of the masks; the same seed picks the same positions for every model of one tokenizer.
        batch_rows: Rows per forward pass.
    """
    corrupted, picked = Masker(tokenizer, corruption=corruption).mask(rows, torch.Generator().manual_seed(seed))
    loss = top1 = top5 = 0.0
    batches = zip(*(part.split(batch_rows) for part in (corrupted, picked, rows)), strict=True)
    with evaluating(network):
        for inputs, chosen, targets in batches:
            logits = predict_picked(network, inputs.to(network.device), chosen.to(network.device)).float()
            wanted = targets[chosen].to(network.device)
            best = logits.topk(5).indices
            loss += functional.cross_entropy(logits, wanted, reduction="sum").item()
            top1 += (best[:, 0] == wanted).sum().item()
            top5 += (best == wanted[:, None]).sum().item()
    count = int(picked.sum())
    return MaskedReport(str(corruption), rows.shape[1], count, loss / count, top1 / count, top5 / count)
