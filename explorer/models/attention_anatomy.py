"""What attends in a network, found out by trying it."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers import PreTrainedModel

from explorer.errors import UnsuitableModel
from explorer.models.attention_places import (
    STACKS,
    Place,
    find_projections,
    has_attention,
    name_stack,
    pass_through,
    trial_inputs,
)
from explorer.models.fast_attention import IMPLEMENTATION, Weigh, configs_of, here, make_readable, silenced
from explorer.models.turns import holding

OUTPUTS = ("attentions", "encoder_attentions", "decoder_attentions", "cross_attentions")

Visit = Callable[[str, int, Float[Tensor, "batch head query key"]], None]


@dataclass(frozen=True)
class Anatomy:
    """What attends in a network.

    Attributes:
        counts: Layers and heads of each stack.
        places: Which module does the attention of which layers; where on_demand is False, the module whose input is
            what the heads say.
        on_demand: Whether it runs under our name.
    """

    counts: Mapping[str, tuple[int, int]]
    places: Mapping[nn.Module, Place]
    on_demand: bool


_anatomies: WeakKeyDictionary[nn.Module, Anatomy] = WeakKeyDictionary()  # goes when the network does
_looking = Lock()


def anatomy_of(network: PreTrainedModel) -> Anatomy:
    """Found out once per network. Raises UnsuitableModel: it has no attention that could be read."""
    with holding(_looking):
        if (anatomy := _anatomies.get(network)) is None:
            anatomy = _anatomies[network] = _look_at(network)
    return anatomy


def visit_output(
    network: PreTrainedModel, inputs: Mapping[str, Tensor], visit: Visit, layers: Collection[int] | None
) -> None:
    """Of a network that has its weights in memory anyway, and returns them."""
    output = pass_through(network, inputs, output_attentions=True)
    read = {name: [layer for layer in getattr(output, name, None) or () if layer is not None] for name in OUTPUTS}
    del output  # so that each layer goes when it was shown
    for name, found in read.items():
        stack = name_stack(network, name.removesuffix("attentions"))
        for index in range(len(found)):
            weights, found[index] = found[index], None
            if layers is None or index in layers:
                visit(stack, index, weights.float())


@torch.inference_mode()
def _look_at(network: PreTrainedModel) -> Anatomy:
    """Try the network out on two tokens, rather than believe its configuration: who attends, in what order."""
    if not has_attention(network):
        raise UnsuitableModel(
            "This model has no attention: it passes on what it read in another way. Choose a Transformer, such as "
            "MiniLM (masked)."
        )
    make_readable(network)
    ways = {config._attn_implementation for config in configs_of(network)}
    on_demand = ways == {IMPLEMENTATION}
    heads: dict[str, list[int]] = defaultdict(list)
    places: dict[nn.Module, Place] = {}
    if "sdpa" not in ways:  # Falcon and few others, whose weights would be wrong: they forget what is masked
        places = _watch_trial(network, heads) if on_demand else _read_trial(network, heads)
    if not heads or any(len(set(some)) > 1 for some in heads.values()):
        raise UnsuitableModel("The attention of this model is of a kind that cannot be read. Choose another model.")
    counts = {stack: (len(heads[stack]), heads[stack][0]) for stack in STACKS if stack in heads}
    return Anatomy(counts, places, on_demand)


def _watch_trial(network: PreTrainedModel, heads: dict[str, list[int]]) -> dict[nn.Module, Place]:
    paths = {module: path for path, module in network.named_modules()}
    layers: dict[nn.Module, list[int]] = defaultdict(list)
    stacks: dict[nn.Module, str] = {}

    def watch(module: nn.Module, weigh: Weigh) -> None:
        stack = stacks[module] = name_stack(network, paths[module])
        layers[module].append(len(heads[stack]))
        heads[stack].append(weigh().shape[1])

    here.watch = watch
    try:
        pass_through(network, trial_inputs(network))
    finally:
        here.watch = None
    return {module: Place(stacks[module], tuple(found), is_split=True) for module, found in layers.items()}


def _read_trial(network: PreTrainedModel, heads: dict[str, list[int]]) -> dict[nn.Module, Place]:
    inputs = trial_inputs(network)

    def visit(stack: str, layer: int, weights: Tensor) -> None:
        if weights.shape[-2:] != inputs["input_ids"].shape[-1:] * 2:
            raise UnsuitableModel("This model does not compare every token with every other. Choose another model.")
        heads[stack].append(weights.shape[1])

    visit_output(network, inputs, visit, None)
    places = find_projections(network)
    for module, place in places.items():
        if place.is_split:
            module.__class__ = _with_silence(type(module))
        else:
            module.register_forward_pre_hook(_silence_input)
    return places


def _silence_input(module: nn.Module, arguments: tuple[Tensor, ...]) -> tuple[Tensor, ...] | None:
    """Forward pre-hook of a projection."""
    return (silenced(module, arguments[0]), *arguments[1:]) if here.silences else None


@cache
def _with_silence(kind: type[nn.Module]) -> type[nn.Module]:
    """XLNet's attention, whose heads come together in a formula, where no hook can be."""

    def rel_attn_core(module: nn.Module, *arguments: Any, **named: Any) -> Tensor | tuple[Tensor, Tensor]:
        answer = kind.rel_attn_core(module, *arguments, **named)
        if isinstance(answer, tuple):
            return silenced(module, answer[0]), *answer[1:]
        return silenced(module, answer)

    return type(kind.__name__, (kind,), {"rel_attn_core": rel_attn_core})
