"""One text that a model writes, and the forward passes that make it longer."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from functools import cache
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from transformers import Cache, PreTrainedModel

from explorer.models.backend import LoadedModel
from explorer.models.memory import is_out_of_memory

TRIAL_LENGTHS = (5, 2)  # tokens of the texts that show whether a network remembers rightly
TOLERANCES = {torch.float32: 1e-3, torch.float64: 1e-3}  # of the spread of the scores; 0.1 for half precision


class Draft:
    """A text being written.

    Attributes:
        ids: Its token ids, all of which the model has read.
        room_tokens: How many it may become.
        remembers: Whether keys and values are kept; where not, every step reads the whole text anew.
        keys: Of each layer, [1, head, room, dim]; only the first len(ids) are filled.
        values: Likewise.
        hidden: Last hidden states, [token, dim]; None = not kept.
        is_closed: Whether its memory was given back.
    """

    def __init__(self, ids: list[int], room_tokens: int, *, remembers: bool, keeps_hidden: bool = False) -> None:
        self.ids = ids
        self.room_tokens = room_tokens
        self.remembers = remembers
        self.keeps_hidden = keeps_hidden
        self.keys: list[Tensor] = []
        self.values: list[Tensor] = []
        self.hidden: Tensor | None = None
        self.is_closed = False

    def copy(self) -> Draft:
        """The same text with a memory of its own."""
        other = Draft([*self.ids], self.room_tokens, remembers=self.remembers, keeps_hidden=self.keeps_hidden)
        other.keys = [_copy_filled(layer, len(self.ids)) for layer in self.keys]
        other.values = [_copy_filled(layer, len(self.ids)) for layer in self.values]
        other.hidden = self.hidden
        return other

    def close(self) -> None:
        """Give the memory back."""
        self.is_closed = True
        self.keys, self.values, self.hidden = [], [], None


def _copy_filled(layer: Tensor, filled: int) -> Tensor:
    copied = torch.empty_like(layer)
    copied[:, :, :filled] = layer[:, :, :filled]
    return copied


class _Memory(Cache):
    """The keys and values of several drafts, as a forward pass reads and writes them.

    Rows of different lengths end together, as in a batch that is padded on the left, so that the distances between
    tokens are right for networks that know only distances.
    """

    def __init__(self, drafts: Sequence[Draft], lengths: Sequence[int]) -> None:
        super().__init__(layers=[])
        self._drafts, self._lengths, self._longest = drafts, lengths, max(lengths)

    def update(
        self, key_states: Tensor, value_states: Tensor, layer_idx: int, *arguments: Any, **named: Any
    ) -> tuple[Tensor, Tensor]:
        """Remember keys and values, [row, head, new token, dim]; returns all of the layer, [row, head, token, dim]."""
        for draft in self._drafts:
            if layer_idx == len(draft.keys):
                _, heads, _, _ = key_states.shape
                draft.keys.append(key_states.new_empty(1, heads, draft.room_tokens, key_states.shape[-1]))
                draft.values.append(value_states.new_empty(1, heads, draft.room_tokens, value_states.shape[-1]))
        return (
            self._put([draft.keys[layer_idx] for draft in self._drafts], key_states),
            self._put([draft.values[layer_idx] for draft in self._drafts], value_states),
        )

    def _put(self, rooms: list[Tensor], states: Tensor) -> Tensor:
        new = states.shape[2]
        for row, (room, length) in enumerate(zip(rooms, self._lengths, strict=True)):
            room[0, :, length : length + new] = states[row]
        if len(rooms) == 1:
            return rooms[0][:, :, : self._longest + new]
        together = states.new_zeros(len(rooms), states.shape[1], self._longest + new, states.shape[3])
        for row, (room, length) in enumerate(zip(rooms, self._lengths, strict=True)):
            together[row, :, self._longest - length :] = room[0, :, : length + new]
        return together

    def get_seq_length(self, layer_idx: int = 0) -> int:
        """How many tokens were read before, in the longest row."""
        return self._longest

    def get_query_offset(self, layer_idx: int = 0) -> int:
        """Where the new tokens stand."""
        return self._longest

    def get_mask_sizes(self, query_length: int, layer_idx: int) -> tuple[int, int]:
        """How many tokens are seen, and where they begin."""
        return self._longest + query_length, 0


def read_beginning(model: LoadedModel, draft: Draft) -> Float[Tensor, " vocab"]:
    """Read all of a new draft, and remember it; scores of what comes next."""
    network = model.network
    output = _pass(network, torch.tensor([draft.ids], device=network.device), _Memory([draft], [0]), None, draft)
    if draft.keeps_hidden:
        draft.hidden = output.hidden_states[-1][0].float()
    return output.logits[0, -1].float()


def read_next(model: LoadedModel, drafts: Sequence[Draft], token_ids: Sequence[int]) -> Float[Tensor, "draft vocab"]:
    """Read one more token of each draft, in one pass; where it fails, the drafts are as they were."""
    network = model.network
    lengths = [len(draft.ids) for draft in drafts]
    longest = max(lengths)
    mask = None
    if min(lengths) < longest:
        mask = torch.tensor([[0] * (longest - length) + [1] * (length + 1) for length in lengths])
        mask = mask.to(network.device)
    ids = torch.tensor(list(token_ids), device=network.device)[:, None]
    output = _pass(network, ids, _Memory(drafts, lengths), mask, *drafts)
    logits = output.logits[:, -1].float()
    hidden = [
        torch.cat([draft.hidden, output.hidden_states[-1][row].float()]) if draft.keeps_hidden else None
        for row, draft in enumerate(drafts)
    ]
    for draft, token_id, vectors in zip(drafts, token_ids, hidden, strict=True):  # nothing fails from here on
        draft.ids.append(token_id)
        draft.hidden = vectors
    return logits


def _pass(network: PreTrainedModel, ids: Tensor, memory: _Memory, mask: Tensor | None, *drafts: Draft) -> Any:
    named = _parameters_of(type(network))
    options: dict[str, Any] = {}
    if "position_ids" in named:
        positions = torch.tensor([[length] for length in memory._lengths], device=network.device)
        options["position_ids"] = positions + torch.arange(ids.shape[1], device=network.device)
    if "logits_to_keep" in named:
        options["logits_to_keep"] = 1
    if any(draft.keeps_hidden for draft in drafts):
        options["output_hidden_states"] = True
    return network(
        input_ids=ids, attention_mask=mask, past_key_values=memory, use_cache=True, return_dict=True, **options
    )


@cache
def _parameters_of(kind: type[PreTrainedModel]) -> frozenset[str]:
    return frozenset(inspect.signature(kind.forward).parameters)


def read_anew(model: LoadedModel, draft: Draft, token_id: int | None = None) -> Float[Tensor, " vocab"]:
    """Read a whole text, and one token more, where the network cannot remember; scores of what comes next."""
    network = model.network
    ids = draft.ids if token_id is None else [*draft.ids, token_id]
    output = network(
        **_inputs(network, ids), return_dict=True, **({"output_hidden_states": True} if draft.keeps_hidden else {})
    )
    if draft.keeps_hidden:
        draft.hidden = output.hidden_states[-1][0].float()
    draft.ids = list(ids)
    return output.logits[0, -1].float()


def _inputs(network: PreTrainedModel, ids: Sequence[int]) -> dict[str, Any]:
    given = torch.tensor([ids], device=network.device)
    if network.config.model_type == "xlnet":  # it is asked for a token by a place that nothing else may look at
        return network.prepare_inputs_for_generation(given, use_mems=False)
    return {"input_ids": given}


@torch.inference_mode()
def can_remember(model: LoadedModel) -> tuple[bool, int]:
    """Whether a network gives the same scores with remembered keys and values as without, and what they take.

    It is tried out on two short texts of different lengths in one batch rather than believed: a family that counts
    positions in a way of its own would be wrong silently.

    Returns:
        Whether it does, and bytes per token.
    """
    network = model.network
    if "past_key_values" not in _parameters_of(type(network)):
        return False, 0
    vocabulary = network.get_input_embeddings().weight.shape[0]
    texts = [[(7 * place + 3) % vocabulary for place in range(length + 1)] for length in TRIAL_LENGTHS]
    drafts = [Draft(ids[:-1], len(ids), remembers=True) for ids in texts]
    try:
        for draft in drafts:
            read_beginning(model, draft)
        got = read_next(model, drafts, [ids[-1] for ids in texts])
    except (TypeError, ValueError, AttributeError, IndexError, KeyError, RuntimeError) as error:
        if is_out_of_memory(error):  # says nothing about the network, and is over in a moment
            raise
        return False, 0  # a kind of memory of its own, such as that of a recurrent network
    wanted = torch.stack([read_anew(model, Draft(ids, len(ids), remembers=False)) for ids in texts])
    tolerance = TOLERANCES.get(network.dtype, 0.1) * wanted.std().item()
    if not torch.allclose(got, wanted, atol=tolerance, rtol=0.0) or not drafts[0].keys:
        return False, 0
    layers = drafts[0].keys + drafts[0].values
    return True, sum(layer.numel() * layer.element_size() for layer in layers) // drafts[0].room_tokens
