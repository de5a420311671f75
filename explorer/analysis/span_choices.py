"""Fills of a blank that read alike are one choice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from explorer.analysis.span_results import SpanChoice


def distinct_choices(
    read: Callable[[Sequence[int]], str], found: Iterable[tuple[Sequence[int], float]]
) -> tuple[SpanChoice, ...]:
    """Ways to fill a blank; of those that read alike the first.

    Args:
        read: How the token ids of a fill read.
        found: (token ids, log-probability in nats) pairs, best first.
    """
    choices: dict[str, SpanChoice] = {}
    for ids, score in found:
        fill = read(ids)
        choices.setdefault(fill, SpanChoice(fill, score, len(ids)))
    return tuple(choices.values())
