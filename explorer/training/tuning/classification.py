"""Classes of sentences, and of pairs of sentences, by an encoder: its mean vector, then one linear layer.

Source: Devlin et al. 2019, section 4.1, https://arxiv.org/abs/1810.04805, with the mean of all tokens in the place of
the first one (Reimers and Gurevych 2019, table 6, https://arxiv.org/abs/1908.10084)
"""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.training.tuning.asking import ALL_TOKENS
from explorer.training.tuning.batches import pool_mean, read_states
from explorer.training.tuning.class_scores import (
    class_baselines,
    class_remarks,
    fit_linear,
    measure_classes,
    target_of,
)
from explorer.training.tuning.examples import LabelledText
from explorer.training.tuning.mixing import make_mix
from explorer.training.tuning.recipe import Recipe
from explorer.training.tuning.task import Measured, Reading, Row, Start, Verdict
from explorer.training.tuning.tokenizing import read_text

DROPOUT = 0.1
INITIAL_STD = 0.02  # of new weights, as BERT's


class ClassHead(nn.Module):
    """Vectors to scores of classes.

    Args:
        dim: Of the vectors.
        labels: How many.
        layers: Of the network, the input embeddings included.
        mixes: Whether a mix of the layers is learned.
    """

    def __init__(self, dim: int, labels: int, *, layers: int, mixes: bool) -> None:
        super().__init__()
        self.mix = make_mix(layers, learned=mixes)
        self.dropout = nn.Dropout(DROPOUT)
        self.linear = nn.Linear(dim, labels)
        nn.init.normal_(self.linear.weight, std=INITIAL_STD)
        nn.init.zeros_(self.linear.bias)

    def forward(self, vectors: Float[Tensor, "layer row dim"]) -> Float[Tensor, "row label"]:
        """Scores, before softmax."""
        return self.linear(self.dropout(self.mix(vectors)))

    def fit(self, vectors: Float[np.ndarray, "row dim"], targets: Int[np.ndarray, " row"], seed: int) -> None:
        """Take the weights of the logistic regression that fit_linear finds; its arguments are these."""
        weight, bias = fit_linear(vectors, targets, self.linear.out_features, seed)
        with torch.no_grad():
            self.linear.weight.copy_(torch.from_numpy(weight))
            self.linear.bias.copy_(torch.from_numpy(bias))


def make_class_head(start: Start, recipe: Recipe, labels: int) -> ClassHead:
    """A new head on every layer of a network's body, or on its last one.

    Args:
        start: The network.
        recipe: Its method decides whether a mix of the layers is learned.
        labels: How many.
    """
    config = start.body.config
    mixes = recipe.method == "layers"
    return ClassHead(config.hidden_size, labels, layers=config.num_hidden_layers + 1, mixes=mixes)


class Classification:
    """The task "classification", and "pairs", which reads two sentences as one input.

    Args:
        start: An encoder, or whatever has an encoder.
        recipe: How; its length_tokens and method count here.
        labels: The classes.
    """

    keeps_features = True
    head_reads = ALL_TOKENS

    def __init__(self, start: Start, recipe: Recipe, labels: tuple[str, ...]) -> None:
        self._start, self._recipe = start, recipe
        self._mixes = recipe.method == "layers"
        self.network, self.labels = start.network, labels
        self.head = make_class_head(start, recipe, len(labels))

    def rows(self, examples: Sequence[LabelledText]) -> list[Row]:
        rows = []
        for example in examples:
            reading, was_cut = self._read(example)
            rows.append(Row((reading,), target_of(example, self.labels), was_cut))
        return rows

    def features(self, rows: Sequence[Row]) -> list[Tensor]:
        readings = [row.readings[0] for row in rows]
        states, mask = read_states(self._start.body, readings, all_layers=self._mixes)
        return list(self._pool(states, mask).unbind(dim=1))

    def loss(self, rows: Sequence[Row], kept: Sequence[Tensor] | None, share_done: float) -> Tensor:
        logits = self._logits(rows, kept)
        return F.cross_entropy(logits, torch.tensor([row.target for row in rows], device=logits.device))

    def judge(self, rows: Sequence[Row], kept: Sequence[Tensor] | None) -> list[Verdict]:
        logs = self._logits(rows, kept).log_softmax(dim=1).cpu()
        return [
            Verdict(0.0 if row.target < 0 else -float(log[row.target]), log.exp().numpy())
            for row, log in zip(rows, logs, strict=True)
        ]

    def measure(self, examples: Sequence[LabelledText], verdicts: Sequence[Verdict]) -> Measured:
        return measure_classes(examples, [verdict.answer for verdict in verdicts], self.labels)

    def baselines(self, train: Sequence[LabelledText], held_out: Sequence[LabelledText]) -> dict[str, float]:
        return class_baselines(train, held_out)

    def remarks(self, train: Sequence[LabelledText], held_out: Sequence[LabelledText]) -> list[str]:
        return class_remarks(train, held_out)

    def samples(self, held_out: Sequence[LabelledText]) -> list[tuple[str, str]]:
        return []

    def fit_head(self, rows: Sequence[Row], kept: Sequence[Tensor], seed: int) -> bool:
        if self._mixes:  # the weights of the layers are no linear problem
            return False
        vectors = torch.stack([one[0] for one in kept]).cpu().numpy()
        self.head.fit(vectors, np.array([row.target for row in rows]), seed)
        return True

    def _read(self, example: LabelledText) -> tuple[Reading, bool]:
        """What is read of an example, and whether it was cut."""
        return read_text(self._start, example.text, example.second_text, length_tokens=self._recipe.length_tokens)

    def _pool(
        self, states: Float[Tensor, "layer row token dim"], there: Bool[Tensor, "row token"]
    ) -> Float[Tensor, "layer row dim"]:
        """One vector of each row."""
        return pool_mean(states, there)

    def _logits(self, rows: Sequence[Row], kept: Sequence[Tensor] | None) -> Float[Tensor, "row label"]:
        vectors = self.features(rows) if kept is None else kept
        return self.head(torch.stack(list(vectors), dim=1)).float()
