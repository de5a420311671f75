"""What every pre-training objective has in common."""

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from explorer.training.parameters import parameter_groups
from explorer.training.rows import edges


class Objective(ABC):
    """What a network is trained to do.

    Args:
        network: Trained in place.
        tokenizer: Of the network.
        head_learning_rate: Of the norms, biases, embeddings and the head; None = as the matrices of the layers.

    Attributes:
        network: What was trained is in here.
        trained: All that has weights to train and to resume from: the network, unless it needs another beside it.
        edges: Ids before and behind each row that `loss` is given.
        has_marks: Whether those are the tokenizer's marks; else it sets marks itself, or needs none.
        sentence_at: Where in a row a sentence begins, as a share of its length.
    """

    sentence_at: float = 0.0
    has_marks: bool = True

    def __init__(
        self,
        network: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        *,
        head_learning_rate: float | None = None,
    ) -> None:
        self.network = network
        self.trained: nn.Module = network
        self.edges: tuple[list[int], list[int]] = edges(tokenizer) if self.has_marks else ([], [])
        self._head_learning_rate = head_learning_rate

    def parameter_groups(self, learning_rate: float) -> list[dict]:
        """Weights to train, in the form of torch.optim.

        Args:
            learning_rate: Peak, of the matrices of the layers.
        """
        return parameter_groups(self.network, learning_rate, self._head_learning_rate or learning_rate)

    @abstractmethod
    def loss(self, ids: Tensor, share_done: float, generator: torch.Generator) -> tuple[Tensor, float]:
        """The loss to follow, and the plain cross-entropy to report.

        Args:
            ids: Token ids, [row, token].
            share_done: How much of the training is done, in [0, 1].
            generator: Source of the random numbers.

        Returns:
            The loss; and the cross-entropy in nats per predicted token.
        """
