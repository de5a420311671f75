"""Text in, text out, by an encoder-decoder; classes are texts like any other.

Source: Raffel et al. 2020, section 2.4, https://arxiv.org/abs/1910.10683
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F
from transformers import GenerationConfig

from explorer.errors import UnsuitableModel, UnsuitableText, quoted
from explorer.training.spans import shift_right
from explorer.training.tuning.batches import pad_ids
from explorer.training.tuning.class_scores import class_baselines, class_remarks
from explorer.training.tuning.examples import LabelledText, TextToText
from explorer.training.tuning.network_task import NetworkTask
from explorer.training.tuning.recipe import Recipe
from explorer.training.tuning.task import Measured, Row, Start, Verdict
from explorer.training.tuning.tokenizing import read_text
from explorer.training.tuning.written_scores import measure_written, measure_written_classes

NOTHING = -100  # in the place of a token that is not there
SAMPLES = 8
MORE_TOKENS = 4  # than the longest target, may be written
LEAST_OWN_TOKENS = 32  # may be written of a visitor's own text, whose target nobody knows; or twice its length


class Rewriting(NetworkTask):
    """The task "text_to_text", and with labels "classification" and "pairs".

    A row's target holds the ids of what is to be written.

    Args:
        start: An encoder-decoder with its head.
        recipe: How; its length_tokens and prefix count here.
        labels: Classes, which are written as texts; () = any texts.

    Raises:
        UnsuitableModel: It does not write.
    """

    def __init__(self, start: Start, recipe: Recipe, labels: tuple[str, ...]) -> None:
        if not start.network.config.is_encoder_decoder or start.network.get_output_embeddings() is None:
            raise UnsuitableModel(
                f"{start.name} does not read one text and write another. Choose an encoder-decoder, such as "
                f'"MiniLM (span)".'
            )
        super().__init__(start, recipe, labels)
        config = start.network.config
        self._end_id = config.eos_token_id if config.eos_token_id is not None else start.tokenizer.eos_token_id
        self._begin_id = config.decoder_start_token_id
        self._pad_id = start.tokenizer.pad_token_id or 0

    def rows(self, examples: Sequence[LabelledText | TextToText]) -> list[Row]:
        most = min(self._recipe.length_tokens, self._start.limit_tokens)
        rows = []
        for example in examples:
            reading, was_cut = read_text(self._start, self._ask(example), length_tokens=most)
            text = _target(example)
            ids = self._start.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
            if text and not ids:
                raise UnsuitableText(f"{self._start.name} has no token for {quoted(text)}. Write it otherwise.")
            rows.append(Row((reading,), (*ids[: most - 1], self._end_id), was_cut or len(ids) >= most))
        return rows

    def loss(self, rows: Sequence[Row], kept: Sequence[Tensor] | None, share_done: float) -> Tensor:
        losses, there = self._losses(rows)
        return losses.sum() / there.sum()

    def judge(self, rows: Sequence[Row], kept: Sequence[Tensor] | None) -> list[Verdict]:
        losses, there = self._losses(rows)
        of_row = (losses.sum(dim=1) / there.sum(dim=1)).tolist()
        return [Verdict(loss, written) for loss, written in zip(of_row, self._write(rows), strict=True)]

    def measure(self, examples: Sequence[LabelledText | TextToText], verdicts: Sequence[Verdict]) -> Measured:
        written = [verdict.answer for verdict in verdicts]
        asked = [_shown(example) for example in examples]
        gold = [self._as_written(_target(example)) for example in examples]
        if self.labels:
            spelled = {self._as_written(label): label for label in self.labels}
            return measure_written_classes(asked, [spelled.get(one, "") for one in gold], written, spelled)
        return measure_written(asked, gold, written)

    def baselines(
        self, train: Sequence[LabelledText | TextToText], held_out: Sequence[LabelledText | TextToText]
    ) -> dict[str, float]:
        return class_baselines(train, held_out) if self.labels else {}

    def remarks(
        self, train: Sequence[LabelledText | TextToText], held_out: Sequence[LabelledText | TextToText]
    ) -> list[str]:
        return class_remarks(train, held_out) if self.labels else []

    def samples(self, held_out: Sequence[LabelledText | TextToText]) -> list[tuple[str, str]]:
        some = held_out[:SAMPLES]
        if not some:
            return []
        written = self._write(self.rows(some))
        asked = [f"{self._ask(example)} [{_target(example)}]" for example in some]
        return [(one, text) for one, (text, _) in zip(asked, written, strict=True)]

    def _ask(self, example: LabelledText | TextToText) -> str:
        """What is read, as T5 wrote its tasks down."""
        if isinstance(example, LabelledText) and example.second_text:
            return f"{self._recipe.prefix}sentence1: {example.text} sentence2: {example.second_text}"
        return f"{self._recipe.prefix}{example.text}"

    def _as_written(self, text: str) -> str:
        """A text as this tokenizer spells it: without what it takes away, such as case."""
        ids = self._start.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        return self._start.tokenizer.decode(ids, skip_special_tokens=True).strip()

    def _losses(self, rows: Sequence[Row]) -> tuple[Float[Tensor, "row token"], Int[Tensor, "row token"]]:
        """Cross-entropy of each token of the targets, and which of them are there."""
        device = self.network.device
        ids, seen = pad_ids([row.readings[0].ids for row in rows], self._pad_id, device)
        targets, there = pad_ids([row.target for row in rows], self._pad_id, device)
        logits = self.network(
            input_ids=ids,
            attention_mask=seen,
            decoder_input_ids=shift_right(targets, self._begin_id),
            use_cache=False,
            return_dict=True,
        ).logits.float()
        wanted = targets.masked_fill(there == 0, NOTHING)
        return F.cross_entropy(logits.transpose(1, 2), wanted, ignore_index=NOTHING, reduction="none"), there

    def _write(self, rows: Sequence[Row]) -> list[tuple[str, float]]:
        """What the model writes, always the likeliest next token; and the probability of it all.

        In full precision: in bfloat16 the likeliest of two that are nearly alike depends on what shares the batch.
        """
        with torch.autocast(self.network.device.type, enabled=False):
            return self._write_exactly(rows)

    def _write_exactly(self, rows: Sequence[Row]) -> list[tuple[str, float]]:
        ids, seen = pad_ids([row.readings[0].ids for row in rows], self._pad_id, self.network.device)
        options = GenerationConfig(
            max_new_tokens=min(max(map(_most_tokens, rows)), self._start.limit_tokens - 1),
            do_sample=False,
            decoder_start_token_id=self._begin_id,
            eos_token_id=self._end_id,
            pad_token_id=self._pad_id,
            output_scores=True,
            return_dict_in_generate=True,
        )
        made = self.network.generate(ids, attention_mask=seen, generation_config=options)
        logs = torch.stack(made.scores, dim=1).float().log_softmax(dim=-1)
        tokens = made.sequences[:, -logs.shape[1] :]
        ended = (tokens == self._end_id).cumsum(dim=1)
        counted = (ended == 0) | ((ended == 1) & (tokens == self._end_id))  # up to the end mark, which counts
        chosen = logs.gather(2, tokens[:, :, None]).squeeze(2).masked_fill(~counted, 0.0).sum(dim=1).exp()
        texts = [self._start.tokenizer.decode(row, skip_special_tokens=True).strip() for row in tokens.tolist()]
        return list(zip(texts, chosen.tolist(), strict=True))


def _most_tokens(row: Row) -> int:
    """How many may be written; a target of the end mark alone says nothing of it."""
    if len(row.target) > 1:
        return len(row.target) + MORE_TOKENS
    return max(2 * len(row.readings[0].ids), LEAST_OWN_TOKENS)


def _target(example: LabelledText | TextToText) -> str:
    return example.label if isinstance(example, LabelledText) else example.target


def _shown(example: LabelledText | TextToText) -> str:
    parts = (example.text, example.second_text) if isinstance(example, LabelledText) else (example.text,)
    return " — ".join(part for part in parts if part)
