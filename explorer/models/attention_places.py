"""Where in a network attention happens: which module does that of which layer, and how to run what lies around it."""

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_MASKED_LM_MAPPING_NAMES,
)

STACKS = ("encoder", "decoder", "cross")
CROSS = re.compile(r"cross_?att|encoder_att|EncDecAttention", re.IGNORECASE)
PROJECTION = re.compile(r"att(n|ention)\.(output\.)?(o_proj|out_proj|c_proj|dense|o)$")  # where heads come together
CORE = re.compile(r"\.rel_attn$")  # XLNet has no module for that
BOTH_WAYS = {"xlnet"}  # writes, and yet all of its tokens see each other


@dataclass(frozen=True)
class Place:
    """What a module does for attention.

    Attributes:
        stack: One of STACKS.
        layers: Those whose attention it does, in the order of a forward pass; ALBERT's share one module.
        is_split: Whether what its heads say comes as [..., head, dim]; else they are joined, [..., head * dim].
    """

    stack: str
    layers: tuple[int, ...]
    is_split: bool


def name_stack(network: PreTrainedModel, path: str) -> str:
    """Which stack a module, or an output, of this name belongs to."""
    if CROSS.search(path):
        return "cross"
    if network.config.is_encoder_decoder:
        found = re.search(r"encoder|decoder", path)
        return found.group() if found else "encoder"
    kind = network.config.model_type
    is_causal = kind in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES and kind not in MODEL_FOR_MASKED_LM_MAPPING_NAMES | {
        name: "" for name in BOTH_WAYS
    }
    return "decoder" if is_causal or getattr(network.config, "is_decoder", False) else "encoder"


def has_attention(network: nn.Module) -> bool:
    """Whether any module of the network is called attention; those of ELMo and Mamba are not."""
    return any(
        re.search(r"att(n|ention)", f"{path} {type(module).__name__}", re.IGNORECASE)
        for path, module in network.named_modules()
    )


def find_projections(network: PreTrainedModel) -> dict[nn.Module, Place]:
    """The modules that join what heads say, of a network whose attention is not one function."""
    found: dict[str, list[tuple[nn.Module, bool]]] = {stack: [] for stack in STACKS}
    for path, module in network.named_modules():
        if CORE.search(path) and hasattr(module, "rel_attn_core"):
            found[name_stack(network, path)].append((module, True))
        elif PROJECTION.search(path):
            found[name_stack(network, path)].append((module, False))
    return {
        module: Place(stack, (layer,), is_split)
        for stack, modules in found.items()
        for layer, (module, is_split) in enumerate(modules)
    }


def trial_inputs(network: PreTrainedModel) -> dict[str, Tensor]:
    """Two tokens that every vocabulary has."""
    ids = torch.tensor([[0, 1]], device=network.device)
    return {"input_ids": ids, "decoder_input_ids": ids} if network.config.is_encoder_decoder else {"input_ids": ids}


def pass_through(network: PreTrainedModel, inputs: Mapping[str, Tensor], **options: Any) -> Any:
    """One forward pass of the body: no vocabulary head, no memory of keys and values."""
    body = network.base_model
    if "use_cache" in inspect.signature(body.forward).parameters:
        options["use_cache"] = False
    return body(**inputs, return_dict=True, **options)
