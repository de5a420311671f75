"""Causal language modelling as a pre-training objective: predict each token from those before it."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor
from transformers import PreTrainedModel

from explorer.training.evaluating import evaluating
from explorer.training.objective import Objective
from explorer.training.predictions import prediction_loss


class CausalObjective(Objective):
    """Predict every token of a row but the first from the tokens before it.

    Args:
        network: Whose attention sees no later token; trained in place.
        tokenizer: Of the network; the mark before a text is what its first token is predicted from.
        head_learning_rate: See Objective.

    Source: Radford et al. 2018, https://cdn.openai.com/research-covers/language-unsupervised/language_understanding_paper.pdf
    """

    def loss(
        self, ids: Int[Tensor, "row token"], share_done: float, generator: torch.Generator
    ) -> tuple[Tensor, float]:
        """Mean cross-entropy of all tokens but the first of each row; the same twice."""
        loss = causal_loss(self.network, ids)
        return loss, loss.item()


def causal_loss(network: PreTrainedModel, ids: Int[Tensor, "row token"]) -> Tensor:
    """Mean cross-entropy of all tokens but the first of each row, in nats."""
    ids = ids.to(network.device)
    hidden = network.base_model(ids, use_cache=False).last_hidden_state[:, :-1]
    return prediction_loss(network, hidden.flatten(0, 1), ids[:, 1:].flatten())


@dataclass(frozen=True)
class CausalReport:
    """How well each next token of held-out documents is predicted.

    Attributes:
        length_tokens: Of each row, the token that begins it included.
        predicted: How many tokens were predicted.
        loss_nats: Mean cross-entropy per token.
        bits_per_byte: The same per byte of the text, which compares models of different tokenizers.
    """

    length_tokens: int
    predicted: int
    loss_nats: float
    bits_per_byte: float


@torch.inference_mode()
def measure_causal(
    network: PreTrainedModel, rows: Int[Tensor, "row token"], *, bytes_per_token: float, batch_rows: int = 32
) -> CausalReport:
    """Predict each token of the rows but the first.

    Args:
        network: With a causal head.
        rows: Held-out windows, begun by a special token.
        bytes_per_token: Of the text the rows are from: UTF-8, before the tokenizer took away case or accents.
        batch_rows: Rows per forward pass.
    """
    with evaluating(network):
        loss = sum(causal_loss(network, batch).item() * len(batch) for batch in rows.split(batch_rows)) / len(rows)
    predicted = rows.shape[0] * (rows.shape[1] - 1)
    return CausalReport(rows.shape[1], predicted, loss, bits_per_byte(loss, bytes_per_token))


def bits_per_byte(loss_nats: float, bytes_per_token: float) -> float:
    """A loss per token, in nats, as bits per byte of the text, which compares models of different tokenizers."""
    return loss_nats / math.log(2) / bytes_per_token
