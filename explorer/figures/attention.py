"""Attention packed for the page, where assets/attention*.js draw it: tokens, and the weights of one head at a time."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np

from explorer.analysis.attention_packing import MOST, PackedReading, PackedStack, to_base64
from explorer.analysis.attention_results import AttentionToken
from explorer.analysis.head_thumbnails import Thumbnails

THUMBNAIL_CELLS = 32  # rows and columns of a thumbnail, at most


def pack_view(
    reading: PackedReading,
    asked: Mapping[str, object],
    word: str,
    weights: np.ndarray,
    code: str = "",
    look: str | None = None,
) -> str:
    """A reading's tokens and one of its heads, as JSON.

    Args:
        reading: What to draw.
        asked: What the page sends back when it fetches another head.
        word: For the head, e.g. "encoder-3-5".
        weights: Of that head, as pack_head takes them.
        code: Python that reads the same, but for a place where assets/attention_take.js names the head.
        look: How it is drawn at first, as assets/attention.js spells it; None = as it was.
    """
    stacks = [_stack(stack) for stack in reading.stacks]
    told = {"asked": asked, "model": reading.model, "stacks": stacks, "which": word, "weights": pack_head(weights)}
    told["code"] = code
    return _json(told if look is None else told | {"look": look})


def pack_head(roots: np.ndarray) -> str:
    """The weights of one head, in 16 bits as attention_packing has them, row by row."""
    return to_base64(roots.astype("<u2"))


def pack_thumbnails(
    reading: PackedReading,
    word: str,
    look: str,
    drawn: Sequence[Thumbnails],
    rows: Sequence[Sequence[object]],
    code: str = "",
) -> str:
    """Every head of every stack in little, as JSON.

    Args:
        reading: What was read.
        word: For the head in sight.
        look: What of it is drawn, as assets/attention.js spells it.
        drawn: Each stack of it.
        rows: The numbers to take away, as thumbnail_rows has them.
        code: Python that reads the same.
    """
    stacks = [
        {"name": one.name, "shape": one.cells.shape, "cells": to_base64(one.cells), "borders": one.borders,
         "hidden": one.hidden, "absorbed": float(one.absorbed.mean())}
        for one in drawn
    ]  # fmt: skip
    is_pair = any({token.segment for token in stack.queries} == {0, 1} for stack in reading.stacks)
    texts = [text for text in (reading.text, reading.second_text) if text]
    told = {"model": reading.model, "texts": texts, "which": word, "look": look, "isPair": is_pair, "code": code}
    return _json(told | {"stacks": stacks, "rows": rows})


def _stack(stack: PackedStack) -> dict[str, object]:
    heads = stack.roots.shape[1]
    same = stack.keys == stack.queries
    return {"name": stack.name, "layers": stack.layers, "heads": heads, "most": MOST, "queries": _tokens(stack.queries),
            "keys": None if same else _tokens(stack.keys)}  # fmt: skip


def _tokens(tokens: Sequence[AttentionToken]) -> list[list[object]]:
    return [[token.text, token.word, token.segment, int(token.is_special), token.surface] for token in tokens]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
