"""Attention seen from further away: between words, without some tokens, averaged, and through all layers together."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from explorer.analysis.attention_results import AttentionStack, AttentionToken
from explorer.errors import UnsuitableText

MEANS = ("heads", "layers", "both")


@dataclass(frozen=True, eq=False)
class PartialStack:
    """A stack less some of its tokens.

    Attributes:
        stack: What is left; its rows sum to 1 less what was absorbed, unless they were rescaled.
        absorbed: What the tokens that are left pay to the hidden ones, on average over the rows that are left, of each
            head, in [0, 1].
        is_rescaled: Whether each row was divided by its sum. A row that paid all it has to hidden tokens stays 0.
    """

    stack: AttentionStack
    absorbed: Float[ndarray, "layer head"]
    is_rescaled: bool


def to_words(stack: AttentionStack) -> AttentionStack:
    """Attention between words: that to the pieces of a word is summed, that from them averaged.

    Args:
        stack: Of tokens; its special tokens stay as they are.

    Returns:
        A stack whose tokens are words, spelled as in the text; each row still sums to 1.

    Source: Clark et al. 2019, section 4.1, https://arxiv.org/abs/1906.04341
    """
    queries, from_pieces = _words_of(stack.queries)
    keys, to_pieces = (queries, from_pieces) if stack.keys == stack.queries else _words_of(stack.keys)
    weights = np.add.reduceat(stack.weights, to_pieces, axis=3)
    weights = np.add.reduceat(weights, from_pieces, axis=2)
    weights /= np.diff([*from_pieces, len(stack.queries)]).astype(np.float32)[:, None]
    return _stack(stack, queries, keys, weights)


def special_tokens(stack: AttentionStack) -> tuple[int, ...]:
    """Which keys stand for no part of the text, and where many heads look when there is nothing to look for.

    Returns:
        Positions of the special tokens among the keys. In a stack that reads from left to right, the first token, too,
        whatever it is: it is the only one that all others see.

    Source: Clark et al. 2019, https://arxiv.org/abs/1906.04341; Xiao et al. 2024, https://arxiv.org/abs/2309.17453
    """
    first = {0} if stack.name == "decoder" else set()
    return tuple(sorted(first | {place for place, token in enumerate(stack.keys) if token.is_special}))


def without_tokens(stack: AttentionStack, hidden: Collection[int], *, rescale: bool = False) -> PartialStack:
    """Leave tokens out, and say what they absorbed.

    Args:
        stack: Any.
        hidden: Positions among the keys; where the queries are the same tokens, they go there, too.
        rescale: Whether to have each row sum to 1 again, which makes what is left of a head look stronger than it is.

    Returns:
        The rest, and what it does not show.

    Raises:
        UnsuitableText: There is no such token, or none would be left.
    """
    for place in hidden:
        if isinstance(place, bool) or not isinstance(place, int) or not 0 <= place < len(stack.keys):
            raise UnsuitableText(f"There is no token {place!r}: they are counted from 0 to {len(stack.keys) - 1}.")
    kept = np.array([place not in hidden for place in range(len(stack.keys))])
    is_square = stack.keys == stack.queries
    rows = kept if is_square else np.ones(len(stack.queries), bool)
    if not kept.any():
        raise UnsuitableText("All tokens are hidden, so there is nothing to show. Leave one.")
    shown = stack.weights[:, :, rows] if not rows.all() else stack.weights
    absorbed = shown[..., ~kept].sum(axis=-1).mean(axis=-1, dtype=np.float64).astype(np.float32)
    weights = np.ascontiguousarray(shown[..., kept])
    if rescale:
        sums = weights.sum(axis=-1, keepdims=True)
        weights /= np.where(sums > 0, sums, 1)
    queries = tuple(token for token, is_kept in zip(stack.queries, rows, strict=True) if is_kept)
    keys = tuple(token for token, is_kept in zip(stack.keys, kept, strict=True) if is_kept)
    absorbed.setflags(write=False)
    return PartialStack(_stack(stack, queries, keys, weights), absorbed, rescale)


def mean_heads(stack: AttentionStack, over: str = "heads") -> AttentionStack:
    """The mean over heads, over layers, or over both; an axis that was averaged is left with a length of 1.

    Args:
        stack: Any.
        over: One of MEANS. Of layers, head 3 is the mean of the heads 3 of all layers, which need not do the same.

    Raises:
        UnsuitableText: There is no such mean.
    """
    if over not in MEANS:
        raise UnsuitableText(f"There is no mean over {over!r}. Choose one of: {', '.join(MEANS)}.")
    axes = {"heads": 1, "layers": 0, "both": (0, 1)}[over]
    weights = stack.weights.mean(axis=axes, keepdims=True, dtype=np.float32)
    return _stack(stack, stack.queries, stack.keys, weights)


def roll_out(stack: AttentionStack) -> AttentionStack:
    """How much of each token of the input reaches each token of a layer, if attention alone carried it.

    Every layer passes on half of what it has (its residual connection) and half of what its heads, averaged, fetch;
    the layers are multiplied.

    Args:
        stack: All layers of an encoder or of a decoder.

    Returns:
        One head per layer: [layer 1 query key], from the input up to and including that layer. Rows sum to 1.

    Raises:
        UnsuitableText: The stack looks at other tokens than its own, as cross-attention does.

    Source: Abnar and Zuidema 2020, section 3, https://aclanthology.org/2020.acl-main.385
    """
    if stack.keys != stack.queries:
        raise UnsuitableText("Attention of a decoder to an encoder cannot be multiplied through the layers.")
    mixed = stack.weights.mean(axis=1, dtype=np.float32)
    mixed += np.eye(len(stack.keys), dtype=np.float32)
    mixed /= mixed.sum(axis=-1, keepdims=True)
    for layer in range(1, len(mixed)):
        mixed[layer] = mixed[layer] @ mixed[layer - 1]
    return _stack(stack, stack.queries, stack.keys, mixed[:, None])


def _words_of(tokens: tuple[AttentionToken, ...]) -> tuple[tuple[AttentionToken, ...], list[int]]:
    """Words, and at which token each begins."""
    begins = [
        place
        for place, token in enumerate(tokens)
        if place == 0 or token.word is None or token.word != tokens[place - 1].word
    ]
    words = []
    for start, end in zip(begins, [*begins[1:], len(tokens)], strict=True):
        first = tokens[start]
        text = "".join(token.surface for token in tokens[start:end])
        words.append(replace(first, text=text or first.text, surface=text))
    return tuple(words), begins


def _stack(
    stack: AttentionStack, queries: tuple[AttentionToken, ...], keys: tuple[AttentionToken, ...], weights: ndarray
) -> AttentionStack:
    weights.setflags(write=False)
    return AttentionStack(stack.name, queries, keys, weights)
