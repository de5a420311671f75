"""Our own labelled examples, a small set for each task, written for this project."""

from __future__ import annotations

from functools import cache

from explorer.settings import ASSETS
from explorer.training.tuning.examples import ExampleSet
from explorer.training.tuning.reading import Table, guess_columns, make_examples, read_table
from explorer.training.tuning.recipe import TASKS

FOLDER = ASSETS / "tuning"
OWN_FILES = {  # task -> file, name for the page
    "classification": ("classification.tsv", "What customers write: complaint, praise or request"),
    "pairs": ("pairs.tsv", "What follows from a sentence"),
    "tagging": ("tagging.tsv", "People, places and organisations"),
    "answers": ("answers.jsonl", "Questions about short passages"),
    "similarity": ("triplets.tsv", "The same in other words"),
    "masked": ("beekeeping.tsv", "A bee-keeper’s notes"),
    "causal": ("beekeeping.tsv", "A bee-keeper’s notes"),
    "text_to_text": ("questions.tsv", "Statements into questions"),
}
SCORED_PAIRS = ("scored_pairs.tsv", "How similar two sentences are")


def own_examples(task: str, *, scored: bool = False) -> ExampleSet:
    """The set that is fine-tuned on where a visitor gives none.

    Args:
        task: A key of TASKS.
        scored: Of "similarity": pairs with scores rather than triplets.

    Returns:
        Examples to learn from and others to measure on, the same in each call.

    Raises:
        ValueError: There is no such task.
    """
    return _make_own(task, bool(scored))


def own_table(task: str, *, scored: bool = False) -> Table:
    """The same as they stand in their file; arguments and errors as of own_examples."""
    return _read_own(task, bool(scored))


@cache
def _make_own(task: str, scored: bool) -> ExampleSet:
    table, (_, name) = _read_own(task, scored), _file_of(task, scored)
    return make_examples(table, task, guess_columns(table, task), name)


@cache
def _read_own(task: str, scored: bool) -> Table:
    file, _ = _file_of(task, scored)
    return read_table(FOLDER / file, task=task)


def _file_of(task: str, scored: bool) -> tuple[str, str]:
    if task not in OWN_FILES:
        raise ValueError(f"There is no task {task!r}; there are {', '.join(TASKS)}.")
    return SCORED_PAIRS if scored and task == "similarity" else OWN_FILES[task]
