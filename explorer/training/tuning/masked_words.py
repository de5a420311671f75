"""A domain learnt by masked words: the objective of BERT, gone on with on the visitor's texts.

Source: Devlin et al. 2019, section 3.1, https://arxiv.org/abs/1810.04805; Gururangan et al. 2020 (adapting to a
domain), https://arxiv.org/abs/2004.10964
"""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional as F

from explorer.errors import UnsuitableModel
from explorer.training.masker import Masker
from explorer.training.predictions import head_inputs
from explorer.training.tuning.batches import pad_ids
from explorer.training.tuning.blanked_words import Blank, find_blank, show_fills
from explorer.training.tuning.examples import PlainText
from explorer.training.tuning.judging import compute_fast
from explorer.training.tuning.language_scores import PERPLEXITY, measure_fills
from explorer.training.tuning.network_task import NetworkTask
from explorer.training.tuning.recipe import Recipe
from explorer.training.tuning.task import Measured, Reading, Row, Start, Verdict
from explorer.training.tuning.text_windows import read_windows

ROUNDS = 7  # in which each token of a held-out text is masked once: about 15 % of them at a time
SAMPLES = 8
SHOWN_FILLS = 3


@dataclass(frozen=True)
class MaskedVerdict:
    """What a model made of the masked tokens of a text.

    Attributes:
        nats: Sum of their losses.
        count: How many.
        right: How many of them were the likeliest.
        blank: A word of it, if one suits; and what the model writes there, with its probability.
        fill: The likeliest token.
        probability: Its probability.
    """

    nats: float
    count: int
    right: int
    blank: Blank | None
    fill: str
    probability: float


class MaskedWords(NetworkTask):
    """The task "masked".

    Args:
        start: With a masked head.
        recipe: How; its length_tokens counts here.
        labels: None.

    Raises:
        UnsuitableModel: It has no masked head.
    """

    def __init__(self, start: Start, recipe: Recipe, labels: tuple[str, ...]) -> None:
        is_masked = getattr(start.tokenizer, "mask_token_id", None) is not None and not start.network.can_generate()
        reads_one_side = start.network.config.model_type == "elmo"  # its softmax predicts from either side, never both
        if not is_masked or reads_one_side or start.network.get_output_embeddings() is None:
            raise UnsuitableModel(
                f"{start.name} has no head that fills blanks, so it cannot learn by masked words. Choose a model that "
                f'fills blanks, such as "MiniLM (masked)".'
            )
        super().__init__(start, recipe, labels)
        self._masker = Masker(start.tokenizer)

    def rows(self, examples: Sequence[PlainText]) -> list[Row]:
        return read_windows(self._start, examples, self._recipe.length_tokens)

    def loss(self, rows: Sequence[Row], kept: Sequence[Tensor] | None, share_done: float) -> Tensor:
        ids, there = self._pad([reading for row in rows for reading in row.readings])
        random = torch.Generator().manual_seed(int(torch.randint(2**62, ())))
        inputs, picked = self._masker.mask(ids, random)
        logits = self._predict(inputs, there, picked)
        return F.cross_entropy(logits, ids[picked].to(logits.device), reduction="sum") / max(1, len(logits))

    def judge(self, rows: Sequence[Row], kept: Sequence[Tensor] | None) -> list[Verdict]:
        ids, there = self._pad([reading for row in rows for reading in row.readings])
        owners = torch.tensor([number for number, row in enumerate(rows) for _ in row.readings])
        nats, counts, right = (torch.zeros(len(rows), dtype=torch.float64) for _ in range(3))
        for inputs, picked in self._mask_in_turn(rows, ids):
            logits, of = self._predict(inputs, there, picked), owners[picked.nonzero()[:, 0]]
            wanted = ids[picked].to(logits.device)
            nats.index_add_(0, of, F.cross_entropy(logits, wanted, reduction="none").double().cpu())
            right.index_add_(0, of, (logits.argmax(dim=1) == wanted).double().cpu())
            counts.index_add_(0, of, torch.ones(len(of), dtype=torch.float64))
        blanks = [self._find_blank(row) for row in rows]
        shown = [blank for blank in blanks if blank]
        fills = iter([fill[0] for fill in self._fill(shown, 1)])
        verdicts = []
        for number, blank in enumerate(blanks):
            fill, probability = next(fills) if blank else ("", 0.0)
            count = int(counts[number])
            found = MaskedVerdict(float(nats[number]), count, int(right[number]), blank, fill, probability)
            verdicts.append(Verdict(found.nats / max(1, count), found))
        return verdicts

    def measure(self, examples: Sequence[PlainText], verdicts: Sequence[Verdict]) -> Measured:
        found: list[MaskedVerdict] = [verdict.answer for verdict in verdicts]
        nats, count = sum(one.nats for one in found), max(1, sum(one.count for one in found))
        scores = {
            PERPLEXITY: float(torch.tensor(nats / count).exp()),
            "accuracy": sum(one.right for one in found) / count,
        }
        return Measured(scores, (), measure_fills([(one.blank, one.fill, one.probability) for one in found]))

    def samples(self, held_out: Sequence[PlainText]) -> list[tuple[str, str]]:
        found = [blank for row in self.rows(held_out[: 4 * SAMPLES]) if (blank := self._find_blank(row))][:SAMPLES]
        with compute_fast(self.network.device, self.network.config.model_type):
            fills = self._fill(found, SHOWN_FILLS)
        return [(f"{blank.text} [{blank.word}]", show_fills(fill)) for blank, fill in zip(found, fills, strict=True)]

    def _pad(self, readings: Sequence[Reading]) -> tuple[Int[Tensor, "row token"], Int[Tensor, "row token"]]:
        """On the CPU, where masks are drawn."""
        return pad_ids([reading.ids for reading in readings], self._start.tokenizer.pad_token_id, torch.device("cpu"))

    def _find_blank(self, row: Row) -> Blank | None:
        facts, ids = row.target, list(row.readings[0].ids)
        return find_blank(self._start.tokenizer, ids, facts.before, facts.after)

    def _mask_in_turn(
        self, rows: Sequence[Row], ids: Int[Tensor, "row token"]
    ) -> Iterator[tuple[Int[Tensor, "row token"], Bool[Tensor, "row token"]]]:
        """Mask each text by its own random numbers, the same whatever else shares the batch; recipe.py draws them so.

        Args:
            rows: The texts.
            ids: Of all their readings, padded.
        """
        masked = []
        for row in rows:
            random = torch.Generator().manual_seed(zlib.crc32(repr([list(one.ids) for one in row.readings]).encode()))
            masked += [list(self._masker.mask_in_turn(torch.tensor([one.ids]), ROUNDS, random)) for one in row.readings]
        for one_round in zip(*masked, strict=True):
            inputs, picked = ids.clone(), torch.zeros_like(ids, dtype=torch.bool)
            for number, ([changed], [there]) in enumerate(one_round):
                inputs[number, : len(changed)], picked[number, : len(there)] = changed, there
            yield inputs, picked

    def _fill(self, blanks: Sequence[Blank], count: int) -> list[list[tuple[str, float]]]:
        """The likeliest tokens of each blank, and their probabilities."""
        if not blanks:
            return []
        ids, there = self._pad([Reading(blank.ids) for blank in blanks])
        picked = torch.zeros_like(ids, dtype=torch.bool)
        picked[range(len(blanks)), [blank.place for blank in blanks]] = True
        best = self._predict(ids, there, picked).softmax(dim=1).topk(count)
        return [
            [(self._start.tokenizer.decode([token]).strip(), value) for token, value in zip(*row, strict=True)]
            for row in zip(best.indices.tolist(), best.values.tolist(), strict=True)
        ]

    def _predict(
        self, inputs: Int[Tensor, "row token"], there: Int[Tensor, "row token"], picked: Bool[Tensor, "row token"]
    ) -> Float[Tensor, "picked vocab"]:
        """Logits at the picked places."""
        device, network = self.network.device, self.network
        given = {"input_ids": inputs.to(device), "attention_mask": there.to(device)}
        picked = picked.to(device)
        if hasattr(getattr(network, "cls", None), "predictions") or hasattr(network, "generator_predictions"):
            hidden = network.base_model(**given).last_hidden_state[picked]  # the head is work: only where it is asked
            return network.get_output_embeddings()(head_inputs(network, hidden)).float()
        return network(**given, return_dict=True).logits[picked].float()
