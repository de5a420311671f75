"""Who looks at whom: the attention weights of a model over a text."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
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
from explorer.analysis.attention_results import AttentionReading, AttentionStack
from explorer.analysis.reading import decode
from explorer.errors import UnsuitableText
from explorer.models.attention import computes_on_demand, head_counts, visit_weights
from explorer.models.backend import LoadedModel
from explorer.models.card import Ability

MOST_WRITTEN_TOKENS = 32  # by an encoder-decoder that is given no second text
MOST_WEIGHTS_MIB = 512  # of one reading: 24 layers of 16 heads over 512 tokens take 384
MIB = 2**20


@torch.inference_mode()
def read_attention(
    model: LoadedModel,
    text: str,
    *,
    second_text: str | None = None,
    layers: Collection[int] | None = None,
    written: Sequence[int] = (),
    passed: Callable[[int, AttentionReading], None] | None = None,
) -> AttentionReading:
    """Read the attention weights of a model over a text, or two.

    Args:
        model: Any with attention.
        text: For an encoder, with blanks if you like, which become its masks. For a causal model, the beginning of a
            text. For an encoder-decoder, what the encoder reads.
        second_text: For an encoder, the second of a pair. For a causal model, what was written behind the text. For an
            encoder-decoder, what the decoder reads; None = the model writes it, at most 32 tokens.
        layers: Of each stack, counted from 0, which to keep; None = all.
        written: For a causal model, instead of second_text: the very tokens that it wrote behind the text.
        passed: Called as soon as a layer is known in each stack, with its number and with that layer alone.

    Returns:
        The weights of every head, float32, as transformers' eager attention has them: [layer head query key] for each
        stack, only the layers asked for.

    Raises:
        UnsuitableModel: The model has no attention, or its tokenizer cannot say where a token stands.
        UnsuitableText: A text, or an option, cannot be used as asked.

    Source: Vaswani et al. 2017, https://arxiv.org/abs/1706.03762; Clark et al. 2019, https://arxiv.org/abs/1906.04341
    """
    kept = _choose_layers(model, layers)
    read = _encode(model, text, second_text if (second_text or "").strip() else None, tuple(written))
    arrays = _make_room(model, kept, read)
    done: Counter[int] = Counter()

    def keep(stack: str, layer: int, weights: Tensor) -> None:
        place = kept[stack].index(layer)
        torch.from_numpy(arrays[stack][place]).copy_(weights[0])
        done[layer] += 1
        if passed and done[layer] == len(arrays):
            passed(layer, reading_of({name: array[place : place + 1] for name, array in arrays.items()}))

    def reading_of(found: Mapping[str, np.ndarray]) -> AttentionReading:
        stacks = tuple(
            AttentionStack(stack, queries.tokens, keys.tokens, found[stack])
            for stack in found
            for queries, keys in [read.sides(stack)]
        )
        return AttentionReading(model.card.name, text, read.second_text, read.written_by_model, stacks)

    inputs = read.first.tensors(model.network.device)
    if read.decoder is not None:
        inputs["decoder_input_ids"] = read.decoder.tensors(model.network.device)["input_ids"]
    visit_weights(model.network, inputs, keep, {layer for some in kept.values() for layer in some})
    for array in arrays.values():
        array.setflags(write=False)
    return reading_of(arrays)


@dataclass(frozen=True)
class _Read:
    """What the model reads.

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

    def sides(self, stack: str) -> tuple[Part, Part]:
        """Who attends in a stack, and to whom."""
        second = self.decoder or self.first
        return {"encoder": (self.first, self.first), "decoder": (second, second), "cross": (second, self.first)}[stack]


def _choose_layers(model: LoadedModel, wanted: Collection[int] | None) -> dict[str, list[int]]:
    """Which layers of each stack to keep; no stack without any."""
    counts = head_counts(model.network)
    most = max(layers for layers, _ in counts.values())
    for layer in wanted or ():
        if isinstance(layer, bool) or not isinstance(layer, int) or not 0 <= layer < most:
            raise UnsuitableText(
                f"{model.card.name} has no layer {layer!r}: its layers are counted from 0 to {most - 1}."
            )
    if wanted is not None and not wanted:
        raise UnsuitableText("No layer is asked for. Name one, or leave the layers out to have all.")
    kept = {
        stack: [layer for layer in range(layers) if wanted is None or layer in wanted]
        for stack, (layers, _) in counts.items()
    }
    return {stack: some for stack, some in kept.items() if some}


def _encode(model: LoadedModel, text: str, second_text: str | None, written: tuple[int, ...]) -> _Read:
    abilities = model.card.abilities
    is_causal = Ability.GENERATE in abilities and Ability.FILL_BLANKS not in abilities
    if written and not is_causal:
        raise UnsuitableText(f"{model.card.name} does not write a text on: give the second text in words.")
    if model.network.config.is_encoder_decoder:
        first = encode_texts(model, text)
        words = max((token.word + 1 for token in first.tokens if token.word is not None), default=0)
        if second_text is not None:
            return _Read(first, encode_right(model, second_text, words), second_text)
        written = _write(model, first, next_sentinel(model, text))
        said, decoder = describe_written(model, written, words)
        return _Read(first, decoder, said, written_by_model=True)
    if is_causal:
        first = encode_left(model, text, second_text, written)
        return _Read(first, None, decode(model, written) if written else second_text)
    return _Read(encode_texts(model, text, second_text), None, second_text)


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


def _make_room(model: LoadedModel, kept: Mapping[str, list[int]], read: _Read) -> dict[str, np.ndarray]:
    """Arrays for the weights, unless they would be too large."""
    counts = head_counts(model.network)
    pairs = {stack: counts[stack][1] * math.prod(len(side.ids) for side in read.sides(stack)) for stack in kept}
    whole = not computes_on_demand(model.network)  # then all layers are in memory together, whichever are asked for
    count = sum((counts[stack][0] if whole else len(kept[stack])) * pairs[stack] for stack in kept)
    if 4 * count > MOST_WEIGHTS_MIB * MIB:
        advice = "Shorten the text" if whole or max(map(len, kept.values())) == 1 else "Ask for fewer layers"
        raise UnsuitableText(
            f"The weights of {len(read.first.ids):,} tokens would take {4 * count // MIB:,} MiB, and at most "
            f"{MOST_WEIGHTS_MIB} MiB are read at once. {advice}."
        )
    return {
        stack: np.empty((len(layers), counts[stack][1], *(len(side.ids) for side in read.sides(stack))), np.float32)
        for stack, layers in kept.items()
    }
