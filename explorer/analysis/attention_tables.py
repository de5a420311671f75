"""Attention weights as tables for a spreadsheet; exporting.to_tables finds them here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from explorer.analysis.attention_results import AttentionReading, AttentionStack
from explorer.analysis.attention_view import AttentionView
from explorer.errors import UnsuitableText

MOST_NUMBERS = 300_000  # of one answer or table: one head over 512 tokens has 262,144
COLUMNS = ["query", "query_token", "query_word", "key", "key_token", "key_word", "weight"]

Cell = str | int | float | bool | None
Table = list[list[Cell]]


def check_numbers(*stacks: AttentionStack) -> None:
    """Refuse more weights than fit into one answer.

    Raises:
        UnsuitableText: There are too many; the message says what to ask for instead.
    """
    numbers = sum(stack.weights.size for stack in stacks)
    if numbers > MOST_NUMBERS:
        raise UnsuitableText(
            f"These are {numbers:,} weights, and at most {MOST_NUMBERS:,} are given at once. Ask for one layer and "
            f"head, for an average, or for a shorter text."
        )


def _rows(
    stack: AttentionStack,
    numbers: tuple[Sequence[int | None], Sequence[int | None]],
    places: tuple[Sequence[int], Sequence[int]],
) -> Iterator[list[Cell]]:
    """Layer, head and COLUMNS of every weight, counted from 1; None stands for what was averaged."""
    queries, keys = (
        [[place + 1, token.text, _from_one(token.word)] for place, token in zip(some, tokens, strict=True)]
        for some, tokens in zip(places, (stack.queries, stack.keys), strict=True)
    )
    for layer, of_heads in zip(numbers[0], stack.weights.tolist(), strict=True):
        for head, matrix in zip(numbers[1], of_heads, strict=True):
            for query, row in zip(queries, matrix, strict=True):
                for key, weight in zip(keys, row, strict=True):
                    yield [_from_one(layer), _from_one(head), *query, *key, weight]


def _tables_of_view(result: AttentionView) -> dict[str, Table]:
    check_numbers(result.stack)
    about: list[Cell] = [result.model, result.stack.name, result.level, result.average]
    head: list[Cell] = ["model", "stack", "level", "average", "layer", "head"]
    numbers = (result.layers or [None], result.heads or [None])
    rows = [[*about, *row] for row in _rows(result.stack, numbers, (result.query_places, result.key_places))]
    tables: dict[str, Table] = {"weights": [[*head, *COLUMNS], *rows]}
    if result.absorbed is not None:
        hidden = " ".join(result.hidden)
        tables["hidden"] = [[*head, "hidden_tokens", "absorbed_share", "is_rescaled"]] + [
            [*about, _from_one(layer), _from_one(number), hidden, share, result.is_rescaled]
            for layer, shares in zip(numbers[0], result.absorbed.tolist(), strict=True)
            for number, share in zip(numbers[1], shares, strict=True)
        ]
    return tables


def _tables_of_reading(result: AttentionReading) -> dict[str, Table]:
    check_numbers(*result.stacks)
    rows: Table = [["model", "stack", "layer", "head", *COLUMNS]]
    for stack in result.stacks:
        layers, heads, queries, keys = (range(size) for size in stack.weights.shape)
        rows += [[result.model, stack.name, *row] for row in _rows(stack, (layers, heads), (queries, keys))]
    return {"weights": rows}


def _from_one(number: int | None) -> int | None:
    """A number of a table: it is read beside the page, where all is counted from 1."""
    return None if number is None else number + 1


ATTENTION_TABLES: dict[type, Callable[[Any], dict[str, Table]]] = {
    AttentionReading: _tables_of_reading,
    AttentionView: _tables_of_view,
}
