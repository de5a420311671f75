"""What the vocabulary head of a network says of every layer, from one forward pass.

The body of the network is let run; then what it hands to its head is replaced by one vector of each layer. So the head
is the network's own, whatever it does: BERT's transform, a scale, a cap.
"""

from threading import Lock, local
from weakref import WeakSet

import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers import PreTrainedModel

from explorer.errors import UnsuitableModel
from explorer.models.backend import LoadedModel

TOLERANCE = 1e-3  # of hidden values: two ways to the last layer agree to this


def layer_logits(
    model: LoadedModel, ids: tuple[int, ...], position: int
) -> tuple[Float[Tensor, "layer vocab"], str | None]:
    """Logits of every layer at one position; 0 = the input embeddings, the last = the model's own answer.

    Args:
        model: With a vocabulary head on one stack of layers.
        ids: What it reads, special tokens included, no longer than its limit.
        position: Index into ids.

    Returns:
        Float32 logits, and the name of the norm that was applied to each layer before the head; None where the layers
        end normed by themselves, as BERT's do.

    Raises:
        UnsuitableModel: Its layers cannot be had, or are not what the head reads.
    """
    network = model.network
    body = network.base_model
    if body is network or network.config.is_encoder_decoder:
        raise UnsuitableModel(f"{model.card.name} has no single stack of layers with a vocabulary head to be read by.")
    norm_name, norm = final_norm(body)
    _watch(body)
    row = torch.tensor([ids], device=network.device)
    _wanted.position, _wanted.norm, _wanted.fault = position, norm, ""
    try:
        output = network(input_ids=row, output_hidden_states=True, return_dict=True)
    finally:
        _wanted.position = _wanted.norm = None  # a thread outlives a model, and must not keep a part of it
    if _wanted.fault:
        raise UnsuitableModel(f"{model.card.name} cannot be read layer by layer: {_wanted.fault}.")
    logits = output["logits" if "logits" in output else "prediction_logits"]  # a BERT with both its heads
    return logits[0].float(), norm_name


def final_norm(body: nn.Module) -> tuple[str | None, nn.Module | None]:
    """Name and module of the norm that stands behind all layers; None where there is none."""
    stack = getattr(body, "decoder", body)  # OPT keeps its layers one level further down
    for name, module in reversed(list(stack.named_children())):
        if "norm" in type(module).__name__.lower() and "emb" not in name:  # not that of the embeddings
            return name, module
    return None, None


class _Wanted(local):
    """What this thread's forward pass wants; other threads may use the same network undisturbed."""

    position: int | None = None
    norm: nn.Module | None = None
    fault: str = ""


_wanted = _Wanted()
_watched: WeakSet[nn.Module] = WeakSet()
_watching = Lock()


def _watch(body: PreTrainedModel) -> None:
    with _watching:
        if body not in _watched:
            body.register_forward_hook(_hand_over_layers)
            _watched.add(body)


def _hand_over_layers(body: nn.Module, arguments: object, output: object) -> None:
    """Forward hook of a body: the head gets one vector of each layer in the place of one of each token."""
    if _wanted.position is None:
        return
    position, _wanted.position = _wanted.position, None
    layers, last = getattr(output, "hidden_states", None), getattr(output, "last_hidden_state", None)
    if not layers or last is None or any(layer.shape != last.shape for layer in layers):
        _wanted.fault = "its layers are not of the width that its head reads"
        return
    own = last[:, position]
    norm = _wanted.norm or nn.Identity()
    ends = (layers[-1][:, position], norm(layers[-1][:, position]))
    if not any(torch.allclose(end, own, atol=TOLERANCE, rtol=TOLERANCE) for end in ends):
        _wanted.fault = "what its head reads is not its last layer"
        return
    earlier = norm(torch.stack([layer[:, position] for layer in layers[:-1]], dim=1))
    output["last_hidden_state"] = torch.cat([earlier, own[:, None]], dim=1)
