"""Fills of a blank that read alike are one choice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from explorer.analysis.reading import decode
from explorer.analysis.span_results import SpanChoice
from explorer.models.backend import LoadedModel


def distinct_choices(model: LoadedModel, found: Iterable[tuple[Sequence[int], float]]) -> tuple[SpanChoice, ...]:
    """Ways to fill a blank; of those that read alike the first.

    Args:
        model: Whose tokens they are.
        found: (token ids, log-probability in nats) pairs, best first.
    """
    choices: dict[str, SpanChoice] = {}
    for ids, score in found:
        fill = decode(model, ids, skip_special=True).strip()
        choices.setdefault(fill, SpanChoice(fill, score, len(ids)))
    return tuple(choices.values())
