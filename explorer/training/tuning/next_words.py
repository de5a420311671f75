"""A domain learnt by next words: the objective of GPT, gone on with on the visitor's texts.

Source: Radford et al. 2018, section 3.1,
https://cdn.openai.com/research-covers/language-unsupervised/language_understanding_paper.pdf
"""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import GenerationConfig, PreTrainedModel, PreTrainedTokenizerBase

from explorer.errors import UnsuitableModel
from explorer.training.causal import bits_per_byte
from explorer.training.predictions import prediction_loss
from explorer.training.tuning.batches import pad_ids
from explorer.training.tuning.examples import PlainText
from explorer.training.tuning.language_scores import BITS_PER_BYTE, PERPLEXITY
from explorer.training.tuning.network_task import NetworkTask
from explorer.training.tuning.recipe import Recipe
from explorer.training.tuning.results import Judged
from explorer.training.tuning.task import Ids, Measured, Row, Start, Verdict
from explorer.training.tuning.text_windows import read_windows

SAMPLES = 6
BEGINNING_TOKENS = 8  # of a held-out text, that a sample goes on from
WRITTEN_TOKENS = 16


def is_causal(network: PreTrainedModel) -> bool:
    """Whether it says what comes next, from what stands before alone."""
    return not network.config.is_encoder_decoder and network.can_generate()


def end_of_texts(network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> int | None:
    """Id of the token at which a network ends a text; None = it knows no end."""
    ends = network.config.eos_token_id
    first = ends[0] if isinstance(ends, list) else ends
    return tokenizer.eos_token_id if first is None else first


def read_left(
    network: PreTrainedModel, texts: Sequence[Ids]
) -> tuple[Int[Tensor, "row token"], Int[Tensor, "row token"], Float[Tensor, "row token dim"]]:
    """Ids, which of them are there, and the last layer's vectors.

    Args:
        network: Causal; padding stands on the right, where no token sees it.
        texts: Ids of each.
    """
    ids, there = pad_ids(texts, network.config.pad_token_id or 0, network.device)
    output = network.base_model(input_ids=ids, attention_mask=there, use_cache=False, return_dict=True)
    return ids, there, output.last_hidden_state


def next_word_loss(
    network: PreTrainedModel,
    ids: Int[Tensor, "row token"],
    there: Int[Tensor, "row token"],
    hidden: Float[Tensor, "row token dim"],
) -> Float[Tensor, ""]:
    """Mean cross-entropy of all tokens but the first of each row, in nats.

    Args:
        network: Whose head it is.
        ids: As of read_left.
        there: Likewise.
        hidden: Likewise.
    """
    predicted = there[:, 1:].bool()
    return prediction_loss(network, hidden[:, :-1][predicted], ids[:, 1:][predicted])


class NextWords(NetworkTask):
    """The task "causal". Where a text ends is learned, too; it counts in losses but in no score, being no part of it.

    Args:
        start: With a causal head.
        recipe: How; its length_tokens counts here.
        labels: None.

    Raises:
        UnsuitableModel: It has no causal head.
    """

    def __init__(self, start: Start, recipe: Recipe, labels: tuple[str, ...]) -> None:
        if not is_causal(start.network):
            raise UnsuitableModel(
                f"{start.name} does not say what comes next, so it cannot learn by next words. Choose a model that "
                f'writes, such as "MiniLM (causal)".'
            )
        super().__init__(start, recipe, labels)

    def rows(self, examples: Sequence[PlainText]) -> list[Row]:
        end = end_of_texts(self.network, self._start.tokenizer)
        return read_windows(self._start, examples, self._recipe.length_tokens, end)

    def loss(self, rows: Sequence[Row], kept: Sequence[Tensor] | None, share_done: float) -> Tensor:
        return next_word_loss(self.network, *read_left(self.network, [one.ids for row in rows for one in row.readings]))

    def judge(self, rows: Sequence[Row], kept: Sequence[Tensor] | None) -> list[Verdict]:
        ids, there, hidden = read_left(self.network, [one.ids for row in rows for one in row.readings])
        verdicts, first = [], 0
        for row in rows:
            own = slice(first, first := first + len(row.readings))
            count = sum(len(reading.ids) - 1 for reading in row.readings)
            loss = float(next_word_loss(self.network, ids[own], there[own], hidden[own]))
            nats = loss * count
            if row.target.has_end:
                last = len(row.readings[-1].ids) - 1
                nats -= float(
                    prediction_loss(self.network, hidden[first - 1, last - 1][None], ids[first - 1, last][None])
                )
                count -= 1
            verdicts.append(Verdict(loss, (nats, count, row.target.predicted_bytes)))
        return verdicts

    def measure(self, examples: Sequence[PlainText], verdicts: Sequence[Verdict]) -> Measured:
        nats, count, size = (sum(column) for column in zip(*(one.answer for one in verdicts), strict=True))
        scores = {BITS_PER_BYTE: bits_per_byte(nats / count, size / count), PERPLEXITY: math.exp(nats / count)}
        judged = [
            Judged(
                example.text,
                "",
                f"{bits_per_byte(nats, float(max(1, size))):.2f} bits per byte",
                math.exp(-nats / count),
            )
            for example, (nats, count, size) in zip(examples, (one.answer for one in verdicts), strict=True)
        ]
        return Measured(scores, (), tuple(sorted(judged, key=lambda one: one.probability)))

    def samples(self, held_out: Sequence[PlainText]) -> list[tuple[str, str]]:
        shown, tokenizer = [], self._start.tokenizer
        for row in self.rows(held_out[:SAMPLES]):
            given = list(row.readings[0].ids[: row.target.before + BEGINNING_TOKENS])
            made = self._go_on(given)
            text = tokenizer.decode(given, skip_special_tokens=True)
            shown.append((text, tokenizer.decode(given + made, skip_special_tokens=True)[len(text) :].strip()))
        return shown

    def _go_on(self, ids: list[int]) -> list[int]:
        """Always the likeliest next token."""
        room = min(WRITTEN_TOKENS, self._start.limit_tokens - len(ids))
        if room < 1:
            return []
        marks = self.network.config
        options = GenerationConfig(
            max_new_tokens=room, do_sample=False, eos_token_id=marks.eos_token_id, pad_token_id=marks.pad_token_id or 0
        )
        given = torch.tensor([ids], device=self.network.device)
        made = self.network.generate(given, attention_mask=torch.ones_like(given), generation_config=options)
        return made[0, len(ids) :].tolist()
