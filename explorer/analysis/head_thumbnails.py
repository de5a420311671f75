"""Every head of a stack in little: of words or pieces, of some texts, with or without what most heads rest on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, UInt8, UInt16
from numpy import ndarray

from explorer.analysis.attention_levels import to_words
from explorer.analysis.attention_packing import PackedStack, pack_weights, unpack_weights
from explorer.analysis.attention_results import AttentionStack, AttentionToken

Cell = str | int | float | None


@dataclass(frozen=True)
class Shown:
    """What is drawn of a stack.

    Attributes:
        by_words: Whether the pieces of a word are taken together: weights to them summed, from them averaged.
        special: Whether special tokens are drawn.
        first: Whether the first token is.
        texts: Who looks at whom, of two texts: (0, 1) = the first at the second; None = all at all.
    """

    by_words: bool = False
    special: bool = True
    first: bool = True
    texts: tuple[int, int] | None = None


@dataclass(frozen=True, eq=False)
class Thumbnails:
    """Every head of a stack in little.

    Attributes:
        name: Of the stack.
        queries: The tokens, or words, that are left of those that attend.
        keys: Likewise, of those that are attended to.
        cells: Square roots of weights in eight bits, of a block of weights the largest.
        strongest: The largest weight of each head.
        strongest_at: Of it, the place among the queries and the place among the keys; 0 where nothing is left.
        hidden: The tokens that are left out; () where all are there.
        absorbed: What the queries that are left pay to the hidden ones, on average over them.
    """

    name: str
    queries: tuple[AttentionToken, ...]
    keys: tuple[AttentionToken, ...]
    cells: UInt8[ndarray, "layer head row column"]
    strongest: Float[ndarray, "layer head"]
    strongest_at: Int[ndarray, "layer head 2"]
    hidden: tuple[str, ...]
    absorbed: Float[ndarray, "layer head"]

    @property
    def borders(self) -> tuple[float, float]:
        """Where the second text begins, as a share of the rows and of the columns; 0 = there is no border."""
        return _border(self.queries), _border(self.keys)


def draw_thumbnails(stack: PackedStack, most: int, shown: Shown) -> Thumbnails:
    """Draw every head of a stack in little.

    Args:
        stack: With any number of tokens, all layers of it.
        most: Rows and columns of a thumbnail at most.
        shown: What of it; two texts are told apart where the stack has both.
    """
    made = [_draw_layer(stack, roots, most, shown) for roots in stack.roots]
    layers = [layer for _, _, _, *layer in made]
    cells, strongest, places, absorbed = (np.stack(parts) for parts in zip(*layers, strict=True))
    queries, keys, hidden = made[0][:3]
    return Thumbnails(stack.name, queries, keys, cells, strongest, places, hidden, absorbed)


def thumbnail_rows(model: str, shown: Shown, drawn: Sequence[Thumbnails]) -> list[list[Cell]]:
    """A table of the heads that are drawn: the strongest weight of each, and what it pays to hidden tokens.

    Args:
        model: Name of the model.
        shown: What of it.
        drawn: Its stacks.

    Returns:
        The names of the columns, then a row for each head; layers, heads and tokens counted from 1.
    """
    rows: list[list[Cell]] = [["model", "level", "stack", "layer", "head", "strongest_weight", "query_token"]]
    rows[0] += ["query_word", "key_token", "key_word", "hidden_tokens", "absorbed_share"]
    level = "words" if shown.by_words else "pieces"
    for one in drawn:
        for layer, head in np.ndindex(*one.strongest.shape):
            query, key = one.strongest_at[layer, head]
            is_empty = not one.queries or not one.keys
            looks: list[Cell] = [None] * 4 if is_empty else [*_named(one.queries[query]), *_named(one.keys[key])]
            strongest = None if is_empty else round(float(one.strongest[layer, head]), 6)
            hidden = [" ".join(one.hidden), round(float(one.absorbed[layer, head]), 6)]
            rows.append([model, level, one.name, layer + 1, head + 1, strongest, *looks, *hidden])
    return rows


def _draw_layer(stack: PackedStack, roots: UInt16[ndarray, "head query key"], most: int, shown: Shown) -> tuple:
    queries, keys = stack.queries, stack.keys
    if shown.by_words:
        words = to_words(AttentionStack(stack.name, queries, keys, unpack_weights(roots)[None]))
        queries, keys, roots = words.queries, words.keys, pack_weights(words.weights)[0]
    has_both = {token.segment for token in queries} == {token.segment for token in keys} == {0, 1}
    looks, seen = shown.texts if shown.texts and has_both else (None, None)
    rows, _ = _part(queries, shown, looks)
    columns, hidden = _part(keys, shown, seen)
    left = roots if len(rows) == len(queries) and len(columns) == len(keys) else roots[:, rows][:, :, columns]
    heads, size = len(left), len(rows) * len(columns)
    at = left.reshape(heads, size).argmax(axis=1) if size else np.zeros(heads, int)
    strongest = left.reshape(heads, size).max(axis=1) if size else np.zeros(heads, np.uint16)
    paid = unpack_weights(roots[:, rows][:, :, hidden]).sum(axis=-1) if rows else np.zeros((heads, 1), np.float32)
    return (
        tuple(queries[place] for place in rows),
        tuple(keys[place] for place in columns),
        tuple(dict.fromkeys(keys[place].text for place in hidden)),
        _shrink(left, most),
        unpack_weights(strongest),
        np.stack(np.divmod(at, max(len(columns), 1)), axis=-1),
        paid.mean(axis=-1),
    )


def _part(tokens: tuple[AttentionToken, ...], shown: Shown, segment: int | None) -> tuple[list[int], list[int]]:
    """Places of the tokens that are drawn, and of those that are hidden."""
    hidden = [
        place
        for place, token in enumerate(tokens)
        if (token.is_special and not shown.special) or (place == 0 and not shown.first)
    ]
    drawn = [
        place for place, token in enumerate(tokens) if place not in set(hidden) and segment in (None, token.segment)
    ]
    return drawn, hidden


def _shrink(roots: UInt16[ndarray, "head query key"], most: int) -> UInt8[ndarray, "head row column"]:
    for axis in (-1, -2):
        length = roots.shape[axis]
        if length > most:
            roots = np.maximum.reduceat(roots, np.linspace(0, length, most, endpoint=False).astype(int), axis=axis)
    return (roots >> 8).astype(np.uint8)


def _border(tokens: tuple[AttentionToken, ...]) -> float:
    begins = next((place for place, token in enumerate(tokens) if token.segment == 1), 0)
    return begins / max(len(tokens), 1)


def _named(token: AttentionToken) -> list[Cell]:
    return [token.text, None if token.word is None else token.word + 1]
