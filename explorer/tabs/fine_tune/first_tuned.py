"""The finished job that the tab opens on: trained ahead, so that there is something to see before torch is here.

`python -m explorer.tabs.first_view` trains it anew; do so when the shipped model or our own set of sentences changes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from pydantic import TypeAdapter

from explorer.analysis.exporting import to_json
from explorer.models.registry import Registry
from explorer.settings import ASSETS
from explorer.tabs.fine_tune.plan import Options, recipe_of
from explorer.training.jobs.results import JobSpec, JobStatus, LoggedStep
from explorer.training.tuning.results import Run, TrainingStep

FILE = ASSETS / "first_view" / "fine_tune.json"
EXAMPLE_ID = "0" * 12
MODEL = "all-MiniLM-L6-v2"
DIGITS = 5  # kept of a number


@dataclass(frozen=True)
class FirstTuned:
    """A job that is done.

    Attributes:
        status: How it ended.
        steps: Its log.
    """

    status: JobStatus
    steps: tuple[LoggedStep, ...]


def read_first_tuned() -> FirstTuned:
    """What the tab opens on."""
    return TypeAdapter(FirstTuned).validate_python(json.loads(FILE.read_text(encoding="utf-8")))


def compute_first_tuned(registry: Registry) -> FirstTuned:
    """The same, from the model itself."""
    from explorer.training.tuning.fine_tuning import fine_tune
    from explorer.training.tuning.own import own_examples

    abilities = registry.card(MODEL).abilities
    recipe = recipe_of("classification", "full", Options(), abilities)  # what the controls stand at
    examples = own_examples(recipe.task)
    steps = tuple(registry.stream(MODEL, partial(fine_tune, examples=examples, recipe=recipe)))
    outcome = steps[-1].outcome
    spec = JobSpec("Example", (Run(recipe, 0, MODEL),), examples.name)
    status = JobStatus(EXAMPLE_ID, spec, "done", 0, "", 0.0, 0.0, {0: _bare(steps[-1])}, {0: outcome}, False)
    return FirstTuned(status, tuple(LoggedStep(0, _bare(step)) for step in steps))


def store(first: FirstTuned) -> Any:
    """A job as what JSON knows, numbers with five digits."""
    return _rounded(to_json(first))


def _bare(step: TrainingStep) -> TrainingStep:
    return replace(step, outcome=None)


def _rounded(found: Any) -> Any:
    if isinstance(found, float):
        return float(f"{found:.{DIGITS}g}")
    if isinstance(found, list):
        return [_rounded(one) for one in found]
    return {key: _rounded(value) for key, value in found.items()} if isinstance(found, dict) else found
