"""Classes by a causal model: the last token has read everything, so its vector is what the linear layer gets.

    loss = cross-entropy of the classes + λ · cross-entropy of every next word of the text

Source: Radford et al. 2018, sections 3.2 and 3.3,
https://cdn.openai.com/research-covers/language-unsupervised/language_understanding_paper.pdf
"""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional as F

from explorer.training.tuning.asking import LAST_TOKEN
from explorer.training.tuning.classification import Classification
from explorer.training.tuning.examples import LabelledText
from explorer.training.tuning.next_words import next_word_loss, read_left
from explorer.training.tuning.results import auxiliary_remark
from explorer.training.tuning.suits import LEARNS_ITSELF
from explorer.training.tuning.task import Reading, Row
from explorer.training.tuning.tokenizing import read_text


class CausalClassification(Classification):
    """The tasks "classification" and "pairs" with a model that reads from the left.

    Its arguments are those of Classification; of the recipe auxiliary_weight counts as well.
    """

    head_reads = LAST_TOKEN

    @property
    def auxiliary_weight(self) -> float:
        """λ, where the network learns; 0 = the loss is of the classes alone."""
        return float(self._recipe.auxiliary_weight) if self._recipe.method in LEARNS_ITSELF else 0.0

    def loss(self, rows: Sequence[Row], kept: Sequence[Tensor] | None, share_done: float) -> Tensor:
        weight = self.auxiliary_weight
        if kept is not None or not weight:
            return super().loss(rows, kept, share_done)
        ids, there, hidden = read_left(self.network, [row.readings[0].ids for row in rows])
        logits = self.head(self._pool(hidden.float()[None], there.bool())).float()
        targets = torch.tensor([row.target for row in rows], device=logits.device)
        return F.cross_entropy(logits, targets) + weight * next_word_loss(self.network, ids, there, hidden)

    def remarks(self, train: Sequence[LabelledText], held_out: Sequence[LabelledText]) -> list[str]:
        weight, remarks = self.auxiliary_weight, super().remarks(train, held_out)
        return [*remarks, auxiliary_remark(weight)] if weight else remarks

    def _read(self, example: LabelledText) -> tuple[Reading, bool]:
        """A pair is read as one text, with a mark between."""
        most = self._recipe.length_tokens
        if not example.second_text:
            return read_text(self._start, example.text, length_tokens=most)
        tokenizer = self._start.tokenizer
        between = tokenizer.sep_token or tokenizer.eos_token or "\n"
        return read_text(self._start, f"{example.text} {between} {example.second_text}", length_tokens=most)

    def _pool(
        self, states: Float[Tensor, "layer row token dim"], there: Bool[Tensor, "row token"]
    ) -> Float[Tensor, "layer row dim"]:
        """The vector of each row's last token."""
        return states[:, torch.arange(states.shape[1], device=states.device), there.sum(dim=1) - 1]
