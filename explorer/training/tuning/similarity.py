"""Sentences to vectors that can be compared: the mean of their tokens, trained so that like meanings are near.

Source: Sentence-BERT, Reimers and Gurevych 2019, https://arxiv.org/abs/1908.10084
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from explorer.errors import UnsuitableCorpus
from explorer.training.tuning.asking import ALL_TOKENS
from explorer.training.tuning.batches import pool_mean, read_states
from explorer.training.tuning.examples import ScoredPair, Triplet
from explorer.training.tuning.judging import compute_fast
from explorer.training.tuning.mixing import make_mix
from explorer.training.tuning.recipe import LOSSES, Recipe
from explorer.training.tuning.sentence_losses import cosine_loss, in_batch_loss, triplet_loss
from explorer.training.tuning.similarity_scores import (
    MOST_SEARCHED,
    measure_similarity,
    show_retrieved,
    similarity_baselines,
    similarity_remarks,
    texts_of,
)
from explorer.training.tuning.task import Measured, Reading, Row, Start, Verdict
from explorer.training.tuning.tokenizing import read_text

EMBEDDED_AT_ONCE = 32  # sentences


class SentenceMap(nn.Module):
    """A linear map of frozen sentence vectors, which at first changes nothing.

    Args:
        dim: Of the vectors.
        layers: Of the network, the input embeddings included.
        mixes: Whether a mix of the layers is learned.
    """

    def __init__(self, dim: int, *, layers: int, mixes: bool) -> None:
        super().__init__()
        self.mix = make_mix(layers, learned=mixes)
        self.linear = nn.Linear(dim, dim, bias=False)
        nn.init.eye_(self.linear.weight)

    def forward(self, vectors: Float[Tensor, "layer text dim"]) -> Float[Tensor, "text dim"]:
        """The vectors to be compared."""
        return self.linear(self.mix(vectors))


class OnlyNetwork(nn.Module):
    """In the place of a map, where the network itself learns."""

    def forward(self, vectors: Float[Tensor, "1 text dim"]) -> Float[Tensor, "text dim"]:
        """The last layer's vectors as they are."""
        return vectors[0]


class Similarity:
    """The task "similarity", of triplets or of scored pairs.

    A row has a reading for each of its sentences; its target is a pair's score, or None.

    Args:
        start: An encoder, or whatever has one vector for each token.
        recipe: How; its length_tokens, method and similarity_loss count here.
        labels: None.

    Raises:
        UnsuitableCorpus: There is no such loss.
    """

    keeps_features = True
    head_reads = ALL_TOKENS

    def __init__(self, start: Start, recipe: Recipe, labels: tuple[str, ...]) -> None:
        if recipe.similarity_loss not in LOSSES:
            raise UnsuitableCorpus(f"There is no loss {recipe.similarity_loss!r}; choose one of: {', '.join(LOSSES)}.")
        config = start.body.config
        self._start, self._recipe = start, recipe
        self._mixes = recipe.method == "layers"
        self.network, self.labels = start.network, labels
        self.head: nn.Module = OnlyNetwork()
        if recipe.method in ("frozen", "layers"):
            self.head = SentenceMap(config.hidden_size, layers=config.num_hidden_layers + 1, mixes=self._mixes)

    def rows(self, examples: Sequence[Triplet | ScoredPair]) -> list[Row]:
        rows = []
        for example in examples:
            read = [
                read_text(self._start, text, length_tokens=self._recipe.length_tokens) for text in texts_of(example)
            ]
            score = example.score if isinstance(example, ScoredPair) else None
            rows.append(Row(tuple(reading for reading, _ in read), score, any(was_cut for _, was_cut in read)))
        return rows

    def features(self, rows: Sequence[Row]) -> list[Tensor]:
        """Of each row [layer, text, dim]."""
        pooled = self._pool([reading for row in rows for reading in row.readings])
        return list(pooled.split([len(row.readings) for row in rows], dim=1))

    def loss(self, rows: Sequence[Row], kept: Sequence[Tensor] | None, share_done: float) -> Tensor:
        return self._losses(rows, self._vectors(rows, kept)).mean()

    def judge(self, rows: Sequence[Row], kept: Sequence[Tensor] | None) -> list[Verdict]:
        vectors = self._vectors(rows, kept)
        losses = self._losses(rows, vectors).tolist()
        return [Verdict(loss, one.cpu().numpy()) for loss, one in zip(losses, vectors, strict=True)]

    def measure(self, examples: Sequence[Triplet | ScoredPair], verdicts: Sequence[Verdict]) -> Measured:
        return measure_similarity(examples, [verdict.answer for verdict in verdicts])

    def baselines(
        self, train: Sequence[Triplet | ScoredPair], held_out: Sequence[Triplet | ScoredPair]
    ) -> dict[str, float]:
        return similarity_baselines(held_out)

    def remarks(self, train: Sequence[Triplet | ScoredPair], held_out: Sequence[Triplet | ScoredPair]) -> list[str]:
        return similarity_remarks([*train, *held_out], self._recipe.similarity_loss)

    def samples(self, held_out: Sequence[Triplet | ScoredPair]) -> list[tuple[str, str]]:
        rows = self.rows(held_out[:MOST_SEARCHED])
        vectors = []
        with compute_fast(self.network.device, self.network.config.model_type):
            for first in range(0, len(rows), EMBEDDED_AT_ONCE):
                vectors += self._vectors(rows[first : first + EMBEDDED_AT_ONCE], None)
        return show_retrieved(held_out[:MOST_SEARCHED], [one.cpu().numpy() for one in vectors])

    def fit_head(self, rows: Sequence[Row], kept: Sequence[Tensor], seed: int) -> bool:
        return False

    def _pool(self, readings: Sequence[Reading]) -> Float[Tensor, "layer text dim"]:
        return pool_mean(*read_states(self._start.body, readings, all_layers=self._mixes))

    def _vectors(self, rows: Sequence[Row], kept: Sequence[Tensor] | None) -> list[Float[Tensor, "_ dim"]]:
        pooled = self.features(rows) if kept is None else kept
        mapped = self.head(torch.cat(list(pooled), dim=1)).float()
        return list(mapped.split([len(row.readings) for row in rows]))

    def _losses(self, rows: Sequence[Row], vectors: Sequence[Float[Tensor, "_ dim"]]) -> Float[Tensor, " row"]:
        """Of each row; triplets and pairs may share a batch."""
        losses = torch.zeros(len(rows), device=vectors[0].device)
        pairs = [number for number, row in enumerate(rows) if row.target is not None]
        triplets = [number for number, row in enumerate(rows) if row.target is None]
        if pairs:
            first, second = torch.stack([vectors[number] for number in pairs]).unbind(dim=1)
            scores = torch.tensor([rows[number].target for number in pairs], device=losses.device)
            losses = losses.index_put((torch.tensor(pairs, device=losses.device),), cosine_loss(first, second, scores))
        if triplets:
            sides = torch.stack([vectors[number] for number in triplets]).unbind(dim=1)
            found = self._triplet_losses(*sides)
            losses = losses.index_put((torch.tensor(triplets, device=losses.device),), found)
        return losses

    def _triplet_losses(self, anchors: Tensor, positives: Tensor, negatives: Tensor) -> Float[Tensor, " row"]:
        if self._recipe.similarity_loss == "triplet":
            return triplet_loss(anchors, positives, negatives)
        if self._recipe.similarity_loss == "in_batch":
            return in_batch_loss(anchors, positives, negatives)
        ones = anchors.new_ones(len(anchors))
        return (cosine_loss(anchors, positives, ones) + cosine_loss(anchors, negatives, 0 * ones)) / 2
