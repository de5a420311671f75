"""What a model could do as its training went on: held-out numbers and a few answers, for a lesson to show.

Source: checkpoints over training as in Biderman et al. 2023, https://arxiv.org/abs/2304.01373
"""

import json
from collections.abc import Iterable
from pathlib import Path

from explorer.analysis.results import TracePoint, TrainingTrace
from explorer.models.card import Bundled, ModelCard
from explorer.settings import ASSETS

TRACE = "trace.jsonl"
LENGTH_TOKENS = 64  # of a held-out row, special tokens included
MEASURED_TOKENS = 8_192


def read_trace(folder: Path) -> tuple[TracePoint, ...]:
    """The points that were written to a folder, from the first; none if there is no trace."""
    if not (folder / TRACE).exists():
        return ()
    lines = (folder / TRACE).read_text(encoding="utf-8").splitlines()
    points = (json.loads(line) for line in lines)
    return tuple(TracePoint(**{**point, "answers": tuple(map(tuple, point["answers"]))}) for point in points)


def bundled_traces(cards: Iterable[ModelCard]) -> dict[str, TrainingTrace]:
    """The traces that ship with bundled models, by the model's name, in the order of the cards."""
    found = {card.name: read_trace(ASSETS / "models" / card.source.folder) for card in cards
             if isinstance(card.source, Bundled)}  # fmt: skip
    return {name: TrainingTrace(name, points) for name, points in found.items() if points}
