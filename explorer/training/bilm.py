"""ELMo's objective: predict each token from those before it, and from those behind it."""

import torch
from jaxtyping import Int
from torch import Tensor

from explorer.models.elmo_language_model import ElmoForPreTraining
from explorer.training.causal import CausalReport, bits_per_byte
from explorer.training.evaluating import evaluating
from explorer.training.objective import Objective
from explorer.training.predictions import prediction_loss


class BilmObjective(Objective):
    """Predict every token of a row twice, once in each direction.

    Args:
        network: A biLM with its softmax, which sets marks around the rows itself; trained in place.
        head_learning_rate: See Objective.

    Source: Peters et al. 2018, section 3.1, https://arxiv.org/abs/1802.05365
    """

    has_marks = False
    network: ElmoForPreTraining

    def loss(
        self, ids: Int[Tensor, "row token"], share_done: float, generator: torch.Generator
    ) -> tuple[Tensor, float]:
        """Mean cross-entropy of all tokens in both directions; the same twice."""
        loss = sum(bilm_losses(self.network, ids)) / 2
        return loss, loss.item()


def bilm_losses(network: ElmoForPreTraining, ids: Int[Tensor, "row token"]) -> tuple[Tensor, Tensor]:
    """Mean cross-entropy of all tokens of the rows, from the left and from the right, in nats."""
    ids = ids.to(network.device)
    lengths = torch.full((len(ids),), ids.shape[1], device=ids.device)
    forward, backward = network.directions(ids, lengths)
    return tuple(prediction_loss(network, side.flatten(0, 1), ids.flatten()) for side in (forward, backward))


@torch.inference_mode()
def measure_bilm(
    network: ElmoForPreTraining, rows: Int[Tensor, "row token"], *, bytes_per_token: float, batch_rows: int = 32
) -> tuple[CausalReport, CausalReport]:
    """Predict each token of the rows, from the left and from the right.

    Args:
        network: A biLM with its softmax.
        rows: Held-out windows without special tokens.
        bytes_per_token: Of the text the rows are from, in UTF-8.
        batch_rows: Rows per forward pass.
    """
    losses = [0.0, 0.0]
    with evaluating(network):
        for batch in rows.split(batch_rows):
            for side, loss in enumerate(bilm_losses(network, batch)):
                losses[side] += loss.item() * len(batch) / len(rows)
    return tuple(
        CausalReport(rows.shape[1] + 2, rows.numel(), loss, bits_per_byte(loss, bytes_per_token)) for loss in losses
    )
