"""What the vocabulary head says of changed vectors of the last layer, from one forward pass of everything below.

The body of the network is let run; then its head is handed some vectors of it instead of all, each in several versions.
"""

from collections.abc import Callable, Sequence
from threading import Lock, local
from weakref import WeakSet

import torch
from jaxtyping import Float
from torch import Tensor, nn

from explorer.errors import UnsuitableModel
from explorer.models.backend import LoadedModel

Change = Callable[[Float[Tensor, "place dim"]], Float[Tensor, "version place dim"]]


def predict_from_states(
    model: LoadedModel, rows: Sequence[tuple[int, ...]], positions: Sequence[int], change: Change
) -> Float[Tensor, "version place vocab"]:
    """Log-probabilities that the head gives to versions of the last layer's vectors, one place in each row.

    Args:
        model: With a vocabulary head on one stack of layers.
        rows: What it reads, special tokens included; all of one length.
        positions: Which token of each row.
        change: From the vectors there to their versions.

    Returns:
        In nats, float32.

    Raises:
        UnsuitableModel: It has no single stack of layers with a vocabulary head.
    """
    network = model.network
    body = network.base_model
    if body is network or network.config.is_encoder_decoder:
        raise UnsuitableModel(f"{model.card.name} has no single stack of layers with a vocabulary head to be read by.")
    _watch(body)
    ids = torch.tensor(rows, device=network.device)
    _wanted.positions, _wanted.change, _wanted.count = tuple(positions), change, 0
    try:
        with torch.inference_mode():
            output = network(input_ids=ids, return_dict=True)
            if not _wanted.count:
                raise UnsuitableModel(f"The last layer of {model.card.name} cannot be had. Choose another model.")
            logits = output["logits" if "logits" in output else "prediction_logits"]  # a BERT with both its heads
            if logits.shape[:2] != (1, _wanted.count):
                raise UnsuitableModel(f"The head of {model.card.name} does not say something of each token alone.")
            return logits[0].float().log_softmax(dim=-1).unflatten(0, (-1, len(rows)))
    finally:
        _wanted.positions = _wanted.change = None  # a thread outlives a model, and must not keep a part of it


class _Wanted(local):
    """What this thread's forward pass wants; other threads may use the same network undisturbed."""

    positions: tuple[int, ...] | None = None
    change: Change | None = None
    count: int = 0


_wanted = _Wanted()
_watched: WeakSet[nn.Module] = WeakSet()
_watching = Lock()


def _watch(body: nn.Module) -> None:
    with _watching:
        if body not in _watched:
            body.register_forward_hook(_hand_over_versions)
            _watched.add(body)


def _hand_over_versions(body: nn.Module, arguments: object, output: object) -> None:
    """Forward hook of a body: the head gets the versions of the chosen vectors, as one row."""
    if _wanted.positions is None or _wanted.change is None:
        return
    positions, change, _wanted.positions = _wanted.positions, _wanted.change, None
    last = getattr(output, "last_hidden_state", None)
    if last is None:
        return
    versions = change(last[range(len(positions)), positions])
    _wanted.count = versions.shape[0] * versions.shape[1]
    output["last_hidden_state"] = versions.flatten(0, 1)[None]
