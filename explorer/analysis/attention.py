"""Who looks at whom: the attention weights of a model over a text."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from explorer.analysis.attention_results import AttentionReading, AttentionStack
from explorer.analysis.attention_sides import Sides, encode_beside
from explorer.errors import UnsuitableText
from explorer.models.attention import computes_on_demand, head_counts, visit_weights
from explorer.models.backend import LoadedModel

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
    read = encode_beside(model, text, second_text, written)
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
            for queries, keys in [read.of(stack)]
        )
        return AttentionReading(model.card.name, text, read.second_text, read.written_by_model, stacks)

    inputs = read.first.tensors(model.network.device)
    if read.decoder is not None:
        inputs["decoder_input_ids"] = read.decoder.tensors(model.network.device)["input_ids"]
    visit_weights(model.network, inputs, keep, {layer for some in kept.values() for layer in some})
    for array in arrays.values():
        array.setflags(write=False)
    return reading_of(arrays)


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


def _make_room(model: LoadedModel, kept: Mapping[str, list[int]], read: Sides) -> dict[str, np.ndarray]:
    """Arrays for the weights, unless they would be too large."""
    counts = head_counts(model.network)
    pairs = {stack: counts[stack][1] * math.prod(len(side.ids) for side in read.of(stack)) for stack in kept}
    whole = not computes_on_demand(model.network)  # then all layers are in memory together, whichever are asked for
    count = sum((counts[stack][0] if whole else len(kept[stack])) * pairs[stack] for stack in kept)
    if 4 * count > MOST_WEIGHTS_MIB * MIB:
        advice = "Shorten the text" if whole or max(map(len, kept.values())) == 1 else "Ask for fewer layers"
        raise UnsuitableText(
            f"The weights of {len(read.first.ids):,} tokens would take {4 * count // MIB:,} MiB, and at most "
            f"{MOST_WEIGHTS_MIB} MiB are read at once. {advice}."
        )
    return {
        stack: np.empty((len(layers), counts[stack][1], *(len(side.ids) for side in read.of(stack))), np.float32)
        for stack, layers in kept.items()
    }
