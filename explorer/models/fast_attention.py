"""Fast attention under a name of our own, which shows its weights to a thread that asks, and lets heads be silent.

PyTorch's scaled_dot_product_attention never has the weights in memory, so it cannot return them. Here it does what it
always did, and where a thread asks, the weights are computed besides, from the same queries and keys. What a thread
asks for holds for its own forward passes alone.
"""

from collections.abc import Callable
from threading import local
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedConfig, PreTrainedModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

IMPLEMENTATION = "explorer"

Weigh = Callable[[], Float[Tensor, "batch head query key"]]


def make_readable(network: PreTrainedModel) -> None:
    """Have a network run fast attention under our name; one that has no fast attention stays as it is."""
    parts = [part for part in network.modules() if isinstance(part, PreTrainedModel)]
    for part in parts:
        if part.config._attn_implementation == "sdpa":
            part.set_attn_implementation(IMPLEMENTATION)
    refused = {id(part.config) for part in parts if part.config._attn_implementation == "sdpa"}
    for config in configs_of(network):  # an encoder-decoder's layers may hold other copies than its parts
        if config._attn_implementation == "sdpa" and id(config) not in refused:
            config._attn_implementation = IMPLEMENTATION


def configs_of(network: PreTrainedModel) -> list[PreTrainedConfig]:
    """Of all its modules."""
    found = [getattr(module, "config", None) for module in network.modules()]
    return [config for config in found if isinstance(config, PreTrainedConfig)]


class Here(local):
    """What this thread asks of its forward passes; other threads may use the same network undisturbed.

    Attributes:
        watch: Gets the module of each layer in turn, and what computes its weights.
        silences: Each gets a module and what its heads say, and returns what is left of it.
    """

    watch: Callable[[nn.Module, Weigh], None] | None = None
    silences: tuple[Callable[[nn.Module, Tensor], Tensor], ...] = ()


here = Here()


def _attend(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    is_causal: bool | None = None,
    position_bias: Tensor | None = None,
    **others: Any,
) -> tuple[Tensor, None]:
    """Fast attention; others holds what belongs to it alone."""
    output, _ = sdpa_attention_forward(
        module,
        query,
        key,
        value,
        attention_mask,
        scaling=scaling,
        is_causal=is_causal,
        position_bias=position_bias,
        **others,
    )
    if here.watch is not None:
        causal = getattr(module, "is_causal", True) if is_causal is None else is_causal
        here.watch(module, lambda: _weigh(query, key, attention_mask, scaling, causal, position_bias))
    return silenced(module, output), None


def _weigh(
    query: Float[Tensor, "batch head query dim"],
    key: Float[Tensor, "batch shared key dim"],
    mask: Tensor | None,
    scaling: float | None,
    is_causal: bool,
    bias: Tensor | None,
) -> Float[Tensor, "batch head query key"]:
    """The weights that fast attention has used and forgotten."""
    if query.shape[1] > key.shape[1]:  # heads that share keys, as Llama's
        key = key.repeat_interleave(query.shape[1] // key.shape[1], dim=1)
    scores = query.float() @ key.float().transpose(-1, -2)
    scores *= query.shape[-1] ** -0.5 if scaling is None else scaling
    if bias is not None:
        scores += bias
    lowest = torch.finfo(scores.dtype).min  # not infinity: a row of padding may see nothing at all
    if mask is None and is_causal and query.shape[2] > 1:
        mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()
    if mask is not None and mask.dtype == torch.bool:
        scores.masked_fill_(~mask, lowest)
    elif mask is not None:
        scores += mask
    return scores.softmax(dim=-1)


AttentionInterface.register(IMPLEMENTATION, _attend)
AttentionMaskInterface.register(IMPLEMENTATION, sdpa_mask)


def silenced(module: nn.Module, said: Tensor) -> Tensor:
    """What is left of what the heads of a layer say."""
    for silence in here.silences:
        said = silence(module, said)
    return said
