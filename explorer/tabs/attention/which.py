"""Which head is in sight, as one word that every view of the tab, and a link, can hold: "encoder-3-5"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

FIRST = "encoder-1-1"
WORD = re.compile(r"(encoder|decoder|cross)-(?:([0-9]{1,4}|mean)-([0-9]{1,4}|mean|rollout)|(mean|rollout))")


@dataclass(frozen=True)
class Which:
    """A head, or what stands in for one.

    Attributes:
        stack: "encoder", "decoder" or "cross".
        layer: Counted from 0; None for the mean over the layers.
        head: Counted from 0; None for the mean over the heads.
        is_rollout: Whether the layers up to this one are followed through (attention rollout) rather than averaged.
    """

    stack: str
    layer: int | None
    head: int | None
    is_rollout: bool = False

    @property
    def word(self) -> str:
        """As links and the page hold it, layers and heads counted from 1."""
        if self.is_rollout:
            return f"{self.stack}-{self.layer + 1}-rollout"
        return head_word(self.stack, self.layer, self.head)


def head_word(stack: str, layer: int | None, head: int | None) -> str:
    """The word for a head, or for the mean over the heads, over the layers, or over both; layer and head from 0."""
    if layer is None and head is None:
        return f"{stack}-mean"
    return "-".join([stack, *("mean" if number is None else str(number + 1) for number in (layer, head))])


def is_which(word: str) -> bool:
    """Whether a link spells a head as all others do; whichever model then has it."""
    return WORD.fullmatch(word) is not None


def layer_of(word: str) -> int | None:
    """The only layer that a word asks for, counted from 0, in whatever model; None where it asks for several."""
    found = WORD.fullmatch(word)
    if not found:
        return 0
    return max(int(found[2]), 1) - 1 if (found[2] or "mean") != "mean" and found[3] != "rollout" else None


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
    layer, head = (layer, head) if not whole else ("mean", whole)
    at = None if layer == "mean" else min(max(int(layer), 1), layers) - 1
    if head == "rollout" and stack != "cross":  # of all layers where none is named
        return Which(stack, layers - 1 if at is None else at, None, is_rollout=True)
    return Which(stack, at, min(max(int(head), 1), heads) - 1 if head.isdigit() else None)
