"""What training added to published weights, small enough to ship: the changes as 8-bit integers.

A folder of a delta holds one file, delta.safetensors. For a weight of the base model it stores the change, rounded
to 255 levels per output row (`NAME.change` int8 [row, column] and `NAME.scale` float32 [row]), or as a product of two
thin matrices (`NAME.down` [rank, column] and `NAME.up` [row, rank]; low-rank adapters, Hu et al. 2022,
https://arxiv.org/abs/2106.09685); for a small or a new weight (norms, biases, the language modelling head) the values
themselves (`NAME`, bfloat16 or float32).

Source: symmetric per-channel quantization, Jacob et al. 2018, https://arxiv.org/abs/1712.05877
"""

from collections.abc import Mapping
from pathlib import Path

import torch
from jaxtyping import Float, Int8
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import Tensor
from transformers import PreTrainedModel

from explorer.errors import ModelRefused

FILE = "delta.safetensors"
LEVELS = 127


def quantize_rows(change: Float[Tensor, "row column"]) -> tuple[Int8[Tensor, "row column"], Float[Tensor, " row"]]:
    """Round each row to whole multiples of its own scale, in -127..127.

    Returns:
        The multiples, and the scale of each row; change is about multiples * scale.
    """
    scale = (change.abs().amax(dim=1) / LEVELS).clamp(min=1e-12)
    return (change / scale[:, None]).round().clamp(-LEVELS, LEVELS).to(torch.int8), scale


@torch.no_grad()
def write_delta(network: PreTrainedModel, base: Mapping[str, Tensor], folder: Path) -> int:
    """Write what differs between a network and the weights it started from.

    Args:
        network: The trained network.
        base: Weights it started from, by the names they have in the network.
        folder: Where delta.safetensors goes.

    Returns:
        Size of the file, in bytes.
    """
    tensors: dict[str, Tensor] = {}
    for name, value in network.named_parameters():  # tied weights appear once
        value = value.detach().float().cpu()
        start = base.get(name)
        if start is not None and torch.equal(start.float(), value):
            continue
        if start is None or value.ndim != 2:
            keep = value.to(torch.bfloat16) if value.ndim == 2 or value.numel() > 4096 else value
            tensors[name] = keep.contiguous()
            continue
        change = value - start.float()
        rows = torch.nonzero(change.abs().amax(dim=1)).flatten()
        if len(rows) < len(change) // 2:  # e.g. only the mask token's embedding was trained
            tensors[f"{name}.rows"], change = rows, change[rows]
        tensors[f"{name}.change"], tensors[f"{name}.scale"] = quantize_rows(change)
    folder.mkdir(parents=True, exist_ok=True)
    content = save(tensors)  # not save_file, whose files only their owner may read
    (folder / FILE).write_bytes(content)
    return len(content)


@torch.no_grad()
def apply_delta(network: PreTrainedModel, folder: Path) -> None:
    """Add a delta to a network that holds the base's weights.

    Args:
        network: Changed in place.
        folder: Holds delta.safetensors.

    Raises:
        ModelRefused: The file is missing, or does not fit the network.
    """
    weights = dict(network.named_parameters())
    try:
        stored = load_file(folder / FILE)
        for name, value in stored.items():
            target, _, part = name.rpartition(".")
            if part == "change":
                rows = stored.get(f"{target}.rows", slice(None))
                scale = _fit(stored[f"{target}.scale"], value[:, 0].float())
                change = value.float() * scale[:, None]
                weights[target][rows] += _fit(change, weights[target][rows])
            elif part == "up":
                weights[target] += _fit(value.float() @ stored[f"{target}.down"].float(), weights[target])
            elif part not in ("scale", "rows", "down"):
                weights[name].copy_(_fit(value, weights[name]))
    except (OSError, LookupError, ValueError, RuntimeError, SafetensorError) as error:
        raise ModelRefused(
            f"The bundled weights in {folder.name} are missing or damaged; get a fresh copy of the project."
        ) from error


def _fit(value: Tensor, weight: Tensor) -> Tensor:
    """The value in a weight's format and place; torch would stretch another shape rather than refuse it."""
    if value.shape != weight.shape:
        raise ValueError(f"a tensor of shape {tuple(value.shape)} for a weight of shape {tuple(weight.shape)}")
    return value.to(weight)
