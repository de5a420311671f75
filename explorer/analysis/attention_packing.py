"""Attention in little room: sixteen bits a weight to keep and to send."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, UInt16
from numpy import ndarray

from explorer.analysis.attention_levels import roll_out
from explorer.analysis.attention_results import AttentionReading, AttentionStack, AttentionToken

MOST = (
    65_535  # the square root of a weight is stored in 16 bits: no weight is off by more than 1.6e-5, small ones by less
)


@dataclass(frozen=True, eq=False)
class PackedStack:
    """One stack of attention layers, its weights rounded.

    Attributes:
        name: As AttentionStack has it.
        queries: The tokens that attend.
        keys: The tokens that are attended to.
        roots: The square root of each weight, in units of 1 / MOST.
        layers: How many the stack has.
        first_layer: Which of them the first of the roots is, counted from 0: not all need be there.
    """

    name: str
    queries: tuple[AttentionToken, ...]
    keys: tuple[AttentionToken, ...]
    roots: UInt16[ndarray, "layer head query key"]
    layers: int
    first_layer: int = 0

    def has(self, layer: int | None) -> bool:
        """Whether a layer, or with None each layer, is there."""
        if layer is None:
            return len(self.roots) == self.layers
        return 0 <= layer - self.first_layer < len(self.roots)


@dataclass(frozen=True, eq=False)
class PackedReading:
    """The attention of one model over one text, rounded; the attributes are those of AttentionReading."""

    model: str
    text: str
    second_text: str | None
    written_by_model: bool
    stacks: tuple[PackedStack, ...]

    @property
    def size_bytes(self) -> int:
        """Memory of the weights."""
        return sum(stack.roots.nbytes for stack in self.stacks)


def pack_reading(
    reading: AttentionReading, layers: Mapping[str, int] | None = None, first_layer: int = 0
) -> PackedReading:
    """Round every weight, layer by layer, so that no second copy in full precision is needed.

    Args:
        reading: All layers of a model, or some that follow each other.
        layers: How many each stack has; None = those of the reading.
        first_layer: Of the reading, counted from 0.
    """
    stacks = tuple(
        PackedStack(
            one.name, one.queries, one.keys, pack_weights(one.weights),
            layers[one.name] if layers else len(one.weights), first_layer,
        )
        for one in reading.stacks
    )  # fmt: skip
    return PackedReading(reading.model, reading.text, reading.second_text, reading.written_by_model, stacks)


def pack_weights(weights: Float[ndarray, "*axes"]) -> UInt16[ndarray, "*axes"]:
    """Weights from 0 to 1 as square roots in 16 bits."""
    roots = np.empty(weights.shape, dtype="<u2")
    for layer, packed in zip(weights, roots, strict=True):
        part = np.sqrt(layer, dtype=np.float32)
        part *= MOST
        part += 0.5
        packed[...] = np.minimum(part, MOST, out=part)
    return roots


def unpack_weights(roots: UInt16[ndarray, "*axes"]) -> Float[ndarray, "*axes"]:
    """Weights from what pack_weights made of them."""
    part = roots.astype(np.float32)
    part /= MOST
    part *= part
    return part


def to_base64(numbers: ndarray) -> str:
    """The bytes of an array, for the page."""
    return b64encode(np.ascontiguousarray(numbers).tobytes()).decode("ascii")


def head_counts(reading: PackedReading) -> dict[str, tuple[int, int]]:
    """Layers and heads of each stack."""
    return {stack.name: (stack.layers, stack.roots.shape[1]) for stack in reading.stacks}


def select_weights(
    reading: PackedReading, stack: str, layer: int | None, head: int | None, *, is_rollout: bool = False
) -> UInt16[ndarray, "query key"]:
    """One head, or what stands in for one, rounded as all are.

    Args:
        reading: Where from; what is asked for is there.
        stack: Name of one of its stacks.
        layer: Counted from 0; None = the mean over the layers.
        head: Counted from 0; None = the mean over the heads.
        is_rollout: Whether the layers up to this one are followed through; see attention_levels.roll_out.
    """
    chosen = next(one for one in reading.stacks if one.name == stack)
    if layer is None and head is not None:
        return pack_weights(unpack_weights(chosen.roots[:, head]).mean(axis=0))
    if layer is None or is_rollout:
        upto = chosen.roots[: None if layer is None else layer + 1]
        means = np.stack([_mean_heads(one) for one in upto])  # layer by layer: in full, all would be far larger
        if not is_rollout:
            return pack_weights(means.mean(axis=0))
        return pack_weights(roll_out(AttentionStack(stack, chosen.queries, chosen.keys, means[:, None])).weights[-1, 0])
    roots = chosen.roots[layer - chosen.first_layer]
    return pack_weights(_mean_heads(roots)) if head is None else roots[head]


def _mean_heads(roots: UInt16[ndarray, "head query key"]) -> Float[ndarray, "query key"]:
    return unpack_weights(roots).mean(axis=0)
