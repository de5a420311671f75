"""A forward pass that goes on from changed vectors of one of its layers.

Which module gives a layer's vectors is not asked of the architecture: one pass over a few tokens shows which one hands
on the very tensor that transformers reports as the layer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock, get_ident, local
from weakref import WeakSet

import torch
from jaxtyping import Float
from torch import Tensor, nn

from explorer.errors import UnsuitableModel
from explorer.models.backend import LoadedModel

ChangeLayer = Callable[[Float[Tensor, "row token dim"]], Float[Tensor, "row token dim"]]


@contextmanager
def changed_layer(model: LoadedModel, layer: int, ids: tuple[int, ...], change: ChangeLayer) -> Iterator[None]:
    """Let one forward pass of this thread go on from changed vectors; other threads use the network undisturbed.

    Args:
        model: With one stack of layers.
        layer: 0 = input embeddings; not the last, whose vectors the head reads.
        ids: Some tokens that it reads, to find the layer by.
        change: From the vectors of all tokens to others of the same shape.

    Raises:
        UnsuitableModel: No module hands on the vectors of this layer as they are.
    """
    module, visit = _find_module(model, layer, ids)
    _watch(module)
    _wanted.module, _wanted.change, _wanted.visits_left = module, change, visit
    try:
        yield
    finally:
        _wanted.module = _wanted.change = None  # a thread outlives a model, and must not keep a part of it


class _Wanted(local):
    """What this thread's forward pass wants changed."""

    module: nn.Module | None = None
    change: ChangeLayer | None = None
    visits_left: int = 0  # of the module, before the one that is changed: ALBERT has one for all its layers


_wanted = _Wanted()
_watched: WeakSet[nn.Module] = WeakSet()
_watching = Lock()


def _watch(module: nn.Module) -> None:
    with _watching:
        if module not in _watched:
            module.register_forward_hook(_hand_on_changed)
            _watched.add(module)


def _hand_on_changed(module: nn.Module, arguments: object, output: object) -> object:
    """Forward hook of a module that gives a layer's vectors."""
    if _wanted.module is not module or _wanted.change is None:
        return None
    _wanted.visits_left -= 1
    if _wanted.visits_left >= 0:
        return None
    change, _wanted.change = _wanted.change, None
    if isinstance(output, Tensor):
        return change(output)
    return type(output)([change(output[0]), *output[1:]])


def _find_module(model: LoadedModel, layer: int, ids: tuple[int, ...]) -> tuple[nn.Module, int]:
    """The module that gives a layer's vectors, and how often it gives others before."""
    body = model.network.base_model
    seen: list[tuple[nn.Module, Tensor]] = []
    mine = get_ident()

    def note(module: nn.Module, arguments: object, output: object) -> None:
        first = output[0] if isinstance(output, tuple | list) and output else output
        if get_ident() == mine and isinstance(first, Tensor):
            seen.append((module, first))

    handles = [module.register_forward_hook(note) for module in body.modules() if module is not body]
    try:
        with torch.inference_mode():
            row = torch.tensor([ids], device=model.network.device)
            states = body(input_ids=row, output_hidden_states=True, return_dict=True).hidden_states or ()
    finally:
        for handle in handles:
            handle.remove()
    for place, (module, output) in enumerate(seen):
        if layer < len(states) and output.shape == states[layer].shape:
            if output.data_ptr() == states[layer].data_ptr():
                return module, sum(other is module for other, _ in seen[:place])
    raise UnsuitableModel(f"The vectors of layer {layer} of {model.card.name} cannot be changed on their way.")
