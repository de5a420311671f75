"""Vectors of chosen tokens in every layer, from forward passes whose memory is bounded.

Rows are sorted by length and cut into batches of a bounded number of tokens, so that hardly anything is padded; of each
batch only the wanted vectors leave the device.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from inspect import signature

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from explorer.errors import UnsuitableModel, UnsuitableText
from explorer.models.backend import LoadedModel
from explorer.models.padding import may_be_padded

CUDA_BATCH_TOKENS = 16_384
CPU_BATCH_TOKENS = 1_024
Ids = tuple[int, ...] | tuple[tuple[int, ...], ...]  # the latter: ELMo's words, each by its characters


@dataclass(frozen=True)
class VectorRow:
    """One input, and the vectors wanted of it.

    Attributes:
        ids: Token ids, special tokens included, no more than the model reads; at least one.
        groups: For each vector, the indices into ids whose vectors it is the mean of; at least one each.
    """

    ids: Ids
    groups: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, eq=False)
class VectorBatch:
    """The vectors of some of the rows.

    Attributes:
        rows: Which rows.
        layers: Which layers, counted from 0.
        layer_count: How many layers the network has, the input embeddings included.
        vectors: Float32; the groups of these rows one after another.
    """

    rows: tuple[int, ...]
    layers: tuple[int, ...]
    layer_count: int
    vectors: Float[np.ndarray, "layer vector dim"]


def layer_vectors(
    model: LoadedModel, rows: Sequence[VectorRow], layers: Sequence[int] | None = None
) -> Iterator[VectorBatch]:
    """The hidden states of a network at chosen places; of an encoder-decoder those of its encoder.

    Args:
        model: Any that has one vector for each token in each layer.
        rows: Any number, of any lengths.
        layers: Which, 0 = input embeddings, negative ones counted from the last; None = all.

    Yields:
        Batch after batch, the longest rows first; each row is in one of them.

    Raises:
        UnsuitableModel: Its layers do not have one vector for each token.
        UnsuitableText: There is no such layer.
    """
    body = body_of(model)
    pad_id = getattr(body.config, "pad_token_id", None) or 0
    options = {"use_cache": False} if "use_cache" in signature(body.forward).parameters else {}
    most = CUDA_BATCH_TOKENS if model.network.device.type == "cuda" else CPU_BATCH_TOKENS
    pads = not rows or isinstance(rows[0].ids[0], tuple) or may_be_padded(model, body)
    for batch in cut_batches([len(row.ids) for row in rows], most, pads=pads):
        chosen = [rows[index] for index in batch]
        ids, mask = _pad([row.ids for row in chosen], pad_id)
        with torch.inference_mode():
            ids, mask = ids.to(model.network.device), None if mask is None else mask.to(model.network.device)
            output = body(input_ids=ids, attention_mask=mask, output_hidden_states=True, return_dict=True, **options)
            states = output.hidden_states
            _check_states(model, states, ids.shape[:2])
            numbers = resolve_layers(model, layers, len(states))
            vectors = _gather([states[number] for number in numbers], chosen, ids.shape[1])
        yield VectorBatch(tuple(batch), numbers, len(states), vectors.cpu().numpy())


def body_of(model: LoadedModel) -> nn.Module:
    """What makes the vectors: the network without its head, or the encoder of an encoder-decoder."""
    network = model.network
    return network.get_encoder() if network.config.is_encoder_decoder else network.base_model


def resolve_layers(model: LoadedModel, layers: Sequence[int] | None, count: int) -> tuple[int, ...]:
    """Layers as counted from 0.

    Args:
        model: Named in the message.
        layers: As layer_vectors takes them.
        count: How many there are, the input embeddings included.

    Raises:
        UnsuitableText: There is no such layer, or none is asked for.
    """
    if layers is None:
        return tuple(range(count))
    if isinstance(layers, str) or not isinstance(layers, Sequence):
        raise UnsuitableText(f"Give a list of layers, or none for all; not {layers!r}.")
    wrong = [one for one in layers if isinstance(one, bool) or not isinstance(one, int) or not -count <= one < count]
    if wrong or not len(layers):
        asked = f"not {wrong[0]!r}" if wrong else "and at least one is needed"
        raise UnsuitableText(f"{model.card.name} has layers 0 (input embeddings) to {count - 1}, {asked}.")
    return tuple(one % count for one in layers)


def cut_batches(lengths: Sequence[int], most_tokens: int, *, pads: bool = True) -> Iterator[list[int]]:
    """Indices of rows in batches of similar length, the longest first.

    Args:
        lengths: Tokens of each row.
        most_tokens: Of a batch, padding included; a longer row is a batch by itself.
        pads: Whether rows of a batch may have different lengths.
    """
    order = sorted(range(len(lengths)), key=lambda index: -lengths[index])
    batch: list[int] = []
    for index in order:
        longest = lengths[batch[0]] if batch else 0
        is_full = (len(batch) + 1) * longest > most_tokens
        # rows of one length need no mask, and without one the fastest attention kernel runs
        is_worth_cutting = lengths[index] < longest and (not pads or 2 * len(batch) * longest > most_tokens)
        if batch and (is_full or is_worth_cutting):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def _pad(rows: Sequence[Ids], pad_id: int) -> tuple[Tensor, Tensor | None]:
    lengths = [len(row) for row in rows]
    longest = max(lengths)
    if isinstance(rows[0][0], tuple):
        filler, pad_id = (0,) * len(rows[0][0]), 0
    else:
        filler = pad_id
    ids = torch.tensor([(*row, *(filler,) * (longest - len(row))) for row in rows])
    if min(lengths) == longest:
        return ids, None
    return ids, (torch.arange(longest) < torch.tensor(lengths)[:, None]).long()


def _check_states(model: LoadedModel, states: Sequence[Tensor] | None, shape: torch.Size) -> None:
    if not states or any(state.shape[:2] != shape or state.shape != states[0].shape for state in states):
        raise UnsuitableModel(
            f"{model.card.name} does not have one vector for each token in each of its layers. Choose another model."
        )


def _gather(states: Sequence[Tensor], rows: Sequence[VectorRow], longest: int) -> Float[Tensor, "layer vector dim"]:
    """The mean of each group in each layer, float32, on the device."""
    groups = [[number * longest + place for place in group] for number, row in enumerate(rows) for group in row.groups]
    device = states[0].device
    places = torch.tensor([place for group in groups for place in group], device=device)
    pieces = torch.stack([state.flatten(0, 1).index_select(0, places).float() for state in states])
    if len(places) == len(groups):
        return pieces
    owners = torch.tensor([number for number, group in enumerate(groups) for _ in group], device=device)
    sizes = torch.tensor([len(group) for group in groups], device=device, dtype=torch.float32)
    sums = pieces.new_zeros(len(states), len(groups), pieces.shape[-1]).index_add_(1, owners, pieces)
    return sums / sizes[:, None]
