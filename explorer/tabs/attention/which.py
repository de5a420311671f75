"""Which head is in sight, as one word that every view of the tab, and a link, can hold: "encoder-3-5"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

FIRST = "encoder-1-1"
WORD = re.compile(r"(encoder|decoder|cross)-(?:([0-9]{1,4})-([0-9]{1,4}|mean)|(mean|rollout))")


@dataclass(frozen=True)
class Which:
    """A head, or what stands in for one.

    Attributes:
        stack: "encoder", "decoder" or "cross".
        layer: Counted from 0; None for all layers.
        head: Counted from 0; None for the mean over the heads.
        is_rollout: Whether all layers are followed through (attention rollout) rather than averaged.
    """

    stack: str
    layer: int | None
    head: int | None
    is_rollout: bool = False

    @property
    def word(self) -> str:
        """As links and the page hold it, layers and heads counted from 1."""
        if self.layer is None:
            return f"{self.stack}-{'rollout' if self.is_rollout else 'mean'}"
        return head_word(self.stack, self.layer, self.head)


def head_word(stack: str, layer: int, head: int | None) -> str:
    """The word for a head, or, without a head, for the mean over the heads of a layer; layer and head from 0."""
    return f"{stack}-{layer + 1}-{'mean' if head is None else head + 1}"


def layer_of(word: str) -> int | None:
    """The layer that a word asks for, counted from 0, in whatever model; None where it asks for all."""
    found = WORD.fullmatch(word)
    return max(int(found[2]), 1) - 1 if found and found[2] else None if found else 0


def read_which(word: str, counts: Mapping[str, tuple[int, int]]) -> Which:
    """The head that a word means in a model; the nearest one where the model has fewer.

    Args:
        word: From a link or the page: anything.
        counts: Layers and heads of each stack of the model.
    """
    found = WORD.fullmatch(word if isinstance(word, str) else "")
    first = next(iter(counts))
    stack, layer, head, whole = found.groups() if found else (first, "1", "1", None)
    stack = stack if stack in counts else first
    layers, heads = counts[stack]
    if whole:
        return Which(stack, None, None, whole == "rollout" and stack != "cross")
    at = min(max(int(layer), 1), layers) - 1
    return Which(stack, at, None if head == "mean" else min(max(int(head), 1), heads) - 1)
