"""Tags of words by an encoder: the first piece of each word, then one linear layer.

Source: Devlin et al. 2019, section 5.3, https://arxiv.org/abs/1810.04805; tags in BIO notation: Ramshaw and Marcus
1995, https://aclanthology.org/W95-0107
"""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from explorer.errors import UnsuitableText
from explorer.training.tuning.asking import FIRST_PIECES
from explorer.training.tuning.batches import read_states
from explorer.training.tuning.classification import make_class_head
from explorer.training.tuning.examples import TaggedWords
from explorer.training.tuning.recipe import Recipe
from explorer.training.tuning.tag_scores import UNSEEN, measure_tags, tag_baselines, tag_remarks
from explorer.training.tuning.tagged_pieces import encode_words
from explorer.training.tuning.task import Measured, Reading, Row, Start, Verdict


class Tagging:
    """The task "tagging".

    A row's target is, for each word, where its first piece stands (None = it was cut off) and the index of its tag.

    Args:
        start: An encoder, or whatever has one vector for each token.
        recipe: How; its length_tokens and method count here.
        labels: The tags.
    """

    keeps_features = True
    head_reads = FIRST_PIECES

    def __init__(self, start: Start, recipe: Recipe, labels: tuple[str, ...]) -> None:
        self._start, self._recipe = start, recipe
        self._mixes = recipe.method == "layers"
        self.network, self.labels = start.network, labels
        self.head = make_class_head(start, recipe, len(labels))

    def rows(self, examples: Sequence[TaggedWords]) -> list[Row]:
        most = min(self._recipe.length_tokens, self._start.limit_tokens)
        numbers = {tag: number for number, tag in enumerate(self.labels)}
        rows = []
        encoded = encode_words(self._start.tokenizer, [example.words for example in examples], most)
        for example, row in zip(examples, encoded, strict=True):
            if all(place is None for place in row.places):
                raise UnsuitableText("One of the sentences has no word that can be read: fill it in, or delete it.")
            tags = example.tags or ("",) * len(example.words)  # a visitor's own sentence has none
            target = tuple((place, numbers.get(tag, -1)) for place, tag in zip(row.places, tags, strict=True))
            rows.append(Row((Reading(row.ids),), target, was_cut=row.was_cut))
        return rows

    def features(self, rows: Sequence[Row]) -> list[Tensor]:
        states, _ = read_states(self._start.body, [row.readings[0] for row in rows], all_layers=self._mixes)
        return [states[:, number, _places(row)] for number, row in enumerate(rows)]

    def loss(self, rows: Sequence[Row], kept: Sequence[Tensor] | None, share_done: float) -> Tensor:
        logits = self._logits(rows, kept)
        return F.cross_entropy(logits, torch.tensor(_targets(rows), device=logits.device), ignore_index=UNSEEN)

    def judge(self, rows: Sequence[Row], kept: Sequence[Tensor] | None) -> list[Verdict]:
        logs = self._logits(rows, kept).log_softmax(dim=1).cpu()
        verdicts = []
        for row, log in zip(rows, logs.split([len(_places(row)) for row in rows]), strict=True):
            gold = torch.tensor(_targets([row]))
            loss = F.nll_loss(log, gold, ignore_index=UNSEEN) if (gold != UNSEEN).any() else torch.zeros(())
            shown = iter(log.exp().numpy())
            verdicts.append(Verdict(float(loss), [None if place is None else next(shown) for place, _ in row.target]))
        return verdicts

    def measure(self, examples: Sequence[TaggedWords], verdicts: Sequence[Verdict]) -> Measured:
        return measure_tags(examples, [verdict.answer for verdict in verdicts], self.labels)

    def baselines(self, train: Sequence[TaggedWords], held_out: Sequence[TaggedWords]) -> dict[str, float]:
        return tag_baselines(train, held_out)

    def remarks(self, train: Sequence[TaggedWords], held_out: Sequence[TaggedWords]) -> list[str]:
        return tag_remarks(train, held_out)

    def samples(self, held_out: Sequence[TaggedWords]) -> list[tuple[str, str]]:
        return []

    def fit_head(self, rows: Sequence[Row], kept: Sequence[Tensor], seed: int) -> bool:
        targets = np.array(_targets(rows))
        known = targets != UNSEEN
        if self._mixes or len(set(targets[known])) < 2:
            return False
        vectors = torch.cat([one[0] for one in kept]).cpu().numpy()
        self.head.fit(vectors[known], targets[known], seed)
        return True

    def _logits(self, rows: Sequence[Row], kept: Sequence[Tensor] | None) -> Float[Tensor, "word label"]:
        """Of the words that are read, one row after the other."""
        vectors = self.features(rows) if kept is None else kept
        return self.head(torch.cat(list(vectors), dim=1)).float()


def _places(row: Row) -> list[int]:
    return [place for place, _ in row.target if place is not None]


def _targets(rows: Sequence[Row]) -> list[int]:
    return [tag for row in rows for place, tag in row.target if place is not None]
