"""Attention weights on demand, and heads switched off, while all others run fast attention; see fast_attention.py."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers import PreTrainedModel

from explorer.models.attention_anatomy import Visit, anatomy_of, visit_output
from explorer.models.attention_places import Place, pass_through
from explorer.models.fast_attention import Weigh, here

Head = tuple[str, int, int]  # stack, layer, head


def head_counts(network: PreTrainedModel) -> dict[str, tuple[int, int]]:
    """Layers, and heads per layer, of each stack: "encoder", "decoder", "cross", those that there are, in this order.

    Raises:
        UnsuitableModel: It has no attention that could be read.
    """
    return dict(anatomy_of(network).counts)


def computes_on_demand(network: PreTrainedModel) -> bool:
    """Whether weights are computed layer by layer; else all of them are in memory when one is asked for."""
    return anatomy_of(network).on_demand


@torch.inference_mode()
def visit_weights(
    network: PreTrainedModel, inputs: Mapping[str, Tensor], visit: Visit, layers: Collection[int] | None = None
) -> None:
    """Run one forward pass, and show the weights of layers while it is at work; nothing of them is kept.

    The pass ends with the last layer that is to be shown.

    Args:
        network: In eval mode.
        inputs: As its forward takes them; rows may be padded, and the rows of padding mean nothing.
        visit: Gets the name of the stack, the layer from 0 and its float32 weights, on the network's device.
        layers: Of each stack, which to show; None = all.

    Raises:
        UnsuitableModel: It has no attention that could be read.
    """
    anatomy = anatomy_of(network)
    if not anatomy.on_demand:
        visit_output(network, inputs, visit, layers)
        return
    seen: Counter[str] = Counter()
    wanted = sum(layers is None or layer in layers for count, _ in anatomy.counts.values() for layer in range(count))

    def watch(module: nn.Module, weigh: Weigh) -> None:
        stack = anatomy.places[module].stack
        layer = seen[stack]
        seen[stack] += 1
        if layers is None or layer in layers:
            visit(stack, layer, weigh())
            seen["shown"] += 1
            if seen["shown"] == wanted:
                raise _AllShown

    here.watch = watch
    try:
        pass_through(network, inputs)
    except _AllShown:
        pass
    finally:
        here.watch = None


def read_weights(
    network: PreTrainedModel, inputs: Mapping[str, Tensor], layers: Collection[int] | None = None
) -> dict[str, Float[Tensor, "layer batch head query key"]]:
    """The weights of one forward pass, by stack; see visit_weights.

    Returns:
        Float32 weights on the network's device under "encoder", "decoder" and "cross", those that there are.

    Raises:
        UnsuitableModel: It has no attention that could be read.
    """
    read: dict[str, Tensor] = {}
    counts = head_counts(network)
    wanted = {
        stack: [layer for layer in range(count) if layers is None or layer in layers]
        for stack, (count, _) in counts.items()
    }

    def keep(stack: str, layer: int, weights: Tensor) -> None:
        if stack not in read:
            read[stack] = weights.new_empty(len(wanted[stack]), *weights.shape)
        read[stack][wanted[stack].index(layer)] = weights

    visit_weights(network, inputs, keep, layers)
    return {stack: read[stack] for stack in counts if stack in read}


@contextmanager
def without_heads(network: PreTrainedModel, heads: Collection[Head]) -> Iterator[None]:
    """Switch heads off for the forward passes of this thread: what they would add is zero.

    The pass must be this thread's own: one shared with other callers (explorer.models.batching, decoding) runs in
    whichever thread comes first, with the rows of all, and is refused here.

    Args:
        network: In eval mode.
        heads: Stack, layer and head, from 0.

    Raises:
        UnsuitableModel: It has no attention that could be read.
        ValueError: There is no such head.
    """
    anatomy = anatomy_of(network)
    off: dict[tuple[str, int], list[int]] = {}
    for stack, layer, head in heads:
        layers, most = anatomy.counts.get(stack, (0, 0))
        if not (0 <= layer < layers and 0 <= head < most):
            raise ValueError(f"there is no head {head} in layer {layer} of the {stack}")
        off.setdefault((stack, layer), []).append(head)
    keep: dict[tuple[str, int], Tensor] = {}
    for (stack, layer), gone in off.items():
        keep[stack, layer] = torch.ones(anatomy.counts[stack][1], 1, device=network.device)
        keep[stack, layer][gone] = 0.0
    before = here.silences
    here.silences = (*before, _Silence(anatomy.places, keep))
    try:
        yield
    finally:
        here.silences = before


def refuse_sharing() -> None:
    """Refuse to share a forward pass from a thread in which heads are switched off.

    Raises:
        ValueError: They are: another caller's rows would miss them, or these would not.
    """
    if here.silences:
        raise ValueError("heads are switched off in this thread: run the network here, in a pass of its own")


class _AllShown(Exception):
    """Ends a forward pass whose rest nobody asks for."""


class _Silence:
    """What to multiply the output of each head by."""

    def __init__(self, places: Mapping[nn.Module, Place], keep: Mapping[tuple[str, int], Tensor]) -> None:
        self._places, self._keep = places, keep
        self._calls: Counter[nn.Module] = Counter()

    def __call__(self, module: nn.Module, said: Tensor) -> Tensor:
        """What is left of what the heads said, [..., head, dim] or [..., head * dim]."""
        if (place := self._places.get(module)) is None:  # of another network
            return said
        layer = place.layers[self._calls[module] % len(place.layers)]  # ALBERT's layers are one module
        self._calls[module] += 1
        if (keep := self._keep.get((place.stack, layer))) is None:
            return said
        keep = keep.to(said.dtype)
        if place.is_split:
            return said * keep
        return (said.unflatten(-1, (len(keep), -1)) * keep).flatten(-2)
