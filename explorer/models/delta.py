"""Weights small enough to ship: integers with a scale, of a whole network or of what training added to another.

A folder holds one file, delta.safetensors. Of a weight that the base model has, it stores the change; of a new one
the values themselves. Both as whole multiples of a scale:

    NAME.change | NAME.values   int8 [row, column], -127..127; or uint8 [row, column / 2], two numbers of 4 bits, -7..7
    NAME.scale                  float32 [row], or float16 [row, group] for groups of GROUP_COLUMNS columns
    NAME.rows                   which rows of the base changed, where few did
    NAME.up, NAME.down          a change as the product of two thin matrices (low-rank adapters, Hu et al. 2022,
                                https://arxiv.org/abs/2106.09685)
    NAME                        a norm, a bias, a small matrix: as it is, in float32 or bfloat16

Source: symmetric quantization, Jacob et al. 2018, https://arxiv.org/abs/1712.05877; in groups, Dettmers and
Zettlemoyer 2023, https://arxiv.org/abs/2212.09720
"""

from collections.abc import Mapping
from pathlib import Path

import torch
from jaxtyping import Float, Int8, Integer, UInt8
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import Tensor
from transformers import PreTrainedModel

from explorer.errors import ModelRefused

FILE = "delta.safetensors"
GROUP_COLUMNS = 32
SMALL = 4096  # a new matrix of fewer numbers is stored as it is
LARGEST = {8: 127, 4: 7}  # bits per number -> largest multiple of the scale


def quantize(
    weight: Float[Tensor, "row column"], bits: int = 8
) -> tuple[
    Int8[Tensor, "row column"] | UInt8[Tensor, "row packed"], Float[Tensor, " row"] | Float[Tensor, "row group"]
]:
    """Round to whole multiples of a scale: each row's own with 8 bits, each group's with 4.

    Args:
        weight: The matrix.
        bits: 8 or 4 per number; with 4, a matrix whose rows do not divide into groups has 8 all the same.

    Returns:
        The multiples, packed in pairs if they have 4 bits; and the scales.
    """
    rows, columns = weight.shape
    if bits == 8 or columns % GROUP_COLUMNS:
        scale = (weight.abs().amax(dim=1) / LARGEST[8]).clamp(min=1e-12)
        return (weight / scale[:, None]).round().clamp(-LARGEST[8], LARGEST[8]).to(torch.int8), scale
    groups = weight.view(rows, -1, GROUP_COLUMNS)
    scale = (groups.abs().amax(dim=2) / LARGEST[4]).clamp(min=1e-7).half()  # 1e-7: half precision has nothing smaller
    levels = (groups / scale[:, :, None].float()).round().clamp(-LARGEST[4], LARGEST[4]).view(rows, columns)
    levels = (levels + 8).to(torch.uint8)
    return levels[:, ::2] + 16 * levels[:, 1::2], scale


def dequantize(
    levels: Integer[Tensor, "row stored"], scale: Float[Tensor, " scale"] | Float[Tensor, "scale group"]
) -> Float[Tensor, "row column"]:
    """The matrix that quantize rounded, in float32."""
    if levels.dtype == torch.uint8:
        levels = torch.stack([levels % 16, levels // 16], dim=2).flatten(1).float() - 8
    scale = scale.float().view(len(levels), -1, 1)
    return (levels.float().view(len(levels), scale.shape[1], -1) * scale).flatten(1)


@torch.no_grad()
def write_delta(network: PreTrainedModel, base: Mapping[str, Tensor], folder: Path, *, bits: int = 8) -> int:
    """Write what differs between a network and the weights it started from.

    Args:
        network: The trained network.
        base: Weights it started from, by the names they have in the network; empty if it started from nothing.
        folder: Where delta.safetensors goes.
        bits: Of each number of a matrix, 8 or 4.

    Returns:
        Size of the file, in bytes.
    """
    tensors: dict[str, Tensor] = {}
    for name, value in network.named_parameters():  # tied weights appear once
        value = value.detach().float().cpu()
        start = base.get(name)
        if start is not None and torch.equal(start.float(), value):
            continue
        if value.ndim != 2 or (start is None and value.numel() <= SMALL):
            keep = value.to(torch.bfloat16) if value.numel() > SMALL else value
            tensors[name] = keep.contiguous()
            continue
        if start is None:
            tensors[f"{name}.values"], tensors[f"{name}.scale"] = quantize(value, bits)
            continue
        change = value - start.float()
        rows = torch.nonzero(change.abs().amax(dim=1)).flatten()
        if len(rows) < len(change) // 2:  # e.g. only the mask token's embedding was trained
            tensors[f"{name}.rows"], change = rows, change[rows]
        tensors[f"{name}.change"], tensors[f"{name}.scale"] = quantize(change, bits)
    folder.mkdir(parents=True, exist_ok=True)
    content = save(tensors)  # not save_file, whose files only their owner may read
    (folder / FILE).write_bytes(content)
    return len(content)


@torch.no_grad()
def apply_delta(network: PreTrainedModel, folder: Path) -> set[str]:
    """Bring a network from the base's weights to those that were written.

    Args:
        network: Changed in place.
        folder: Holds delta.safetensors.

    Returns:
        Names of the weights that were changed.

    Raises:
        ModelRefused: The file is missing, or does not fit the network.
    """
    weights = dict(network.named_parameters())
    changed: set[str] = set()
    try:
        stored = load_file(folder / FILE)
        for name, value in stored.items():
            target, _, part = name.rpartition(".")
            if part in ("scale", "rows", "down"):
                continue
            if part == "change":
                rows = stored.get(f"{target}.rows", slice(None))
                weights[target][rows] += _fit(dequantize(value, stored[f"{target}.scale"]), weights[target][rows])
            elif part == "values":
                weights[target].copy_(_fit(dequantize(value, stored[f"{target}.scale"]), weights[target]))
            elif part == "up":
                weights[target] += _fit(value.float() @ stored[f"{target}.down"].float(), weights[target])
            else:
                target = name
                weights[target].copy_(_fit(value, weights[target]))
            changed.add(target)
    except (OSError, LookupError, ValueError, RuntimeError, SafetensorError) as error:
        raise ModelRefused(
            f"The bundled weights in {folder.name} are missing or damaged; get a fresh copy of the project."
        ) from error
    return changed


def _fit(value: Tensor, weight: Tensor) -> Tensor:
    """The value in a weight's format and place; torch would stretch another shape rather than refuse it."""
    if value.shape != weight.shape:
        raise ValueError(f"a tensor of shape {tuple(value.shape)} for a weight of shape {tuple(weight.shape)}")
    return value.to(weight)
