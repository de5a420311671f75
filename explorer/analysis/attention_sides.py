"""What a model reads of a text and of what stands beside it: the second of a pair, what was written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from transformers import GenerationConfig

from explorer.analysis.attention_inputs import (
    Part,
    describe_written,
    encode_left,
    encode_right,
    encode_texts,
    next_sentinel,
    start_ids,
)
from explorer.analysis.reading import decode
from explorer.errors import UnsuitableText
from explorer.models.backend import LoadedModel
from explorer.models.card import Ability

MOST_WRITTEN_TOKENS = 32  # by an encoder-decoder that is given no second text


@dataclass(frozen=True)
class Sides:
    """What a model reads of a text, and beside it.

    Attributes:
        first: The only part, or the encoder's.
        decoder: Of an encoder-decoder.
        second_text: As in AttentionReading.
        written_by_model: Likewise.
    """

    first: Part
    decoder: Part | None
    second_text: str | None
    written_by_model: bool = False

    def of(self, stack: str) -> tuple[Part, Part]:
        """Who attends in a stack, and to whom."""
        second = self.decoder or self.first
        return {"encoder": (self.first, self.first), "decoder": (second, second), "cross": (second, self.first)}[stack]


def encode_beside(model: LoadedModel, text: str, second_text: str | None = None, written: Sequence[int] = ()) -> Sides:
    """Tokenize a text and what is read beside it; the arguments are those of attention.read_attention.

    Raises:
        UnsuitableModel: The tokenizer of the model cannot say where a token stands.
        UnsuitableText: A text cannot be used as asked.
    """
    second_text = second_text if (second_text or "").strip() else None
    abilities = model.card.abilities
    is_causal = Ability.GENERATE in abilities and Ability.FILL_BLANKS not in abilities
    if written and not is_causal:
        raise UnsuitableText(f"{model.card.name} does not write a text on: give the second text in words.")
    if model.network.config.is_encoder_decoder:
        first = encode_texts(model, text)
        words = max((token.word + 1 for token in first.tokens if token.word is not None), default=0)
        if second_text is not None:
            return Sides(first, encode_right(model, second_text, words), second_text)
        said, decoder = describe_written(model, _write(model, first, next_sentinel(model, text)), words)
        return Sides(first, decoder, said, written_by_model=True)
    if is_causal:
        first = encode_left(model, text, second_text, written)
        return Sides(first, None, decode(model, written) if written else second_text)
    return Sides(encode_texts(model, text, second_text), None, second_text)


def _write(model: LoadedModel, first: Part, sentinel: int | None) -> list[int]:
    """What an encoder-decoder answers: the likeliest token each time, up to the end, or to a sentinel too many."""
    network = model.network
    if not network.can_generate():
        raise UnsuitableText(f"{model.card.name} was loaded without a head that writes: give a second text.")
    start = start_ids(model)
    ends = [end for end in (network.config.eos_token_id, sentinel) if end is not None]
    options = GenerationConfig(  # all that a published model may have settings of its own for
        num_beams=1,
        do_sample=False,
        no_repeat_ngram_size=0,
        repetition_penalty=1.0,
        min_length=0,
        max_new_tokens=MOST_WRITTEN_TOKENS,
        eos_token_id=ends,
        pad_token_id=network.config.pad_token_id or 0,
        decoder_start_token_id=network.config.decoder_start_token_id,
    )
    given = first.tensors(network.device)["input_ids"]
    begin = torch.tensor([start], device=network.device)
    made = network.generate(given, decoder_input_ids=begin, generation_config=options)[0, len(start) :].tolist()
    return made[: next((place for place, token_id in enumerate(made) if token_id in ends), len(made))]
