"""Texts of a domain as rows that a language model reads, one window after the other."""

from collections.abc import Sequence
from dataclasses import dataclass

from explorer.errors import UnsuitableText, quoted
from explorer.training.rows import edges
from explorer.training.tuning.examples import PlainText
from explorer.training.tuning.task import Reading, Row, Start

MOST_WINDOWS = 8  # of one text: an example is one step's share, and must stay one
FEWEST_TOKENS = 2  # of a text: from fewer nothing is predicted


@dataclass(frozen=True)
class WindowFacts:
    """What a row of a text is, beside its ids.

    Attributes:
        before: How many marks stand before each window's own tokens.
        after: How many behind them.
        predicted_bytes: UTF-8 bytes of all tokens that have a token or a mark before them.
        has_end: Whether the last window's last token tells that the text ends.
    """

    before: int
    after: int
    predicted_bytes: int
    has_end: bool = False


def read_windows(
    start: Start, examples: Sequence[PlainText], length_tokens: int, end_id: int | None = None
) -> list[Row]:
    """A row for each text: its windows as readings, WindowFacts as target.

    Args:
        start: Its tokenizer must say where its tokens stand.
        examples: The texts.
        length_tokens: Of a window, special tokens included; the network's own limit holds as well.
        end_id: Of the token that is set behind a text whose end is read, where the tokenizer sets none; None = none.

    Raises:
        UnsuitableText: A text is empty, or too short to predict anything in it.
    """
    before, after = edges(start.tokenizer)
    end = [] if after or end_id is None else [end_id]
    room = max(FEWEST_TOKENS, min(length_tokens, start.limit_tokens) - len(before) - len(after) - len(end))
    rows = []
    for example in examples:
        encoded = start.tokenizer(example.text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        ids, ends = list(encoded["input_ids"]), [end for _, end in encoded["offset_mapping"]]
        if len(ids) < FEWEST_TOKENS:
            raise UnsuitableText(
                f"One of the texts has fewer than {FEWEST_TOKENS} tokens ({quoted(example.text)}): delete its row."
            )
        firsts = list(range(0, len(ids), room))
        if len(ids) - firsts[-1] < FEWEST_TOKENS:
            firsts.pop()
        kept = firsts[:MOST_WINDOWS]
        size = sum(
            len(example.text[_shown_from(ends, first, before) : ends[min(first + room, len(ids)) - 1]].encode())
            for first in kept
        )
        has_end = bool(end) and kept[-1] + room >= len(ids)
        behind = [[*after]] * (len(kept) - 1) + [[*after, *(end if has_end else [])]]
        readings = tuple(
            Reading((*before, *ids[first : first + room], *last)) for first, last in zip(kept, behind, strict=True)
        )
        facts = WindowFacts(len(before), len(after), size, has_end)
        rows.append(Row(readings, facts, was_cut=len(kept) < len(firsts)))
    return rows


def _shown_from(ends: Sequence[int], first: int, before: Sequence[int]) -> int:
    """Where the predicted part of a window begins, in characters: a first token without a mark is only read."""
    if not before:
        return ends[first]
    return ends[first - 1] if first else 0
