"""What can be taken away of jobs and runs: CSV of their tables, JSON of all, a picture, the link."""

import json
from collections.abc import Sequence
from functools import reduce

from explorer.analysis.exporting import to_json
from explorer.figures.tuning_words import run_name
from explorer.tabs.fine_tune.looking import Looked, Steps
from explorer.tabs.taking_away import name_after, picture_link, table_links
from explorer.training.jobs.results import JobStatus
from explorer.training.jobs.tables import job_tables, run_tables
from explorer.training.tuning.recipe import METHODS, TASKS
from explorer.training.tuning.results import Run


def job_links(jobs: Sequence[tuple[JobStatus, Steps]], name: str) -> str:
    """Of whole jobs: curves and scores as CSV, everything but single examples as JSON.

    Args:
        jobs: Each with its log.
        name: What the names of the files begin with.
    """
    if not any(steps for _, steps in jobs):
        return ""
    told = [
        {"spec": to_json(status.spec), "state": status.state, "steps": to_json([logged for logged in steps]),
         "scores": {str(run): outcome.scores for run, outcome in status.outcomes.items()}}
        for status, steps in jobs
    ]  # fmt: skip
    text, file = json.dumps(told, ensure_ascii=False), _name_file(name, [status for status, _ in jobs], None)
    return table_links(job_tables(jobs), file, more=(("JSON", f"{file}.json", text),))


def run_links(looked: Looked, tables: Sequence[str], name: str, picture: str) -> str:
    """Of the run looked at.

    Args:
        looked: It is done.
        tables: Names of those of run_tables; what the run lacks is left out.
        name: What the names of the files begin with.
        picture: What the figure beside shows; "" = there is none.
    """
    found = {key: table for key, table in run_tables(looked.status, looked.run).items() if key in tables}
    jobs, run = [looked.status], looked.run
    return table_links(found, _name_file(name, jobs, run), _lines(picture, jobs, run) if picture else ())


def figure_link(
    jobs: Sequence[JobStatus], run: int | None, name: str, picture: str, *, is_measured: bool = True
) -> str:
    """The PNG of a figure, alone; "" = there are no jobs.

    Args:
        jobs: What the figure is of.
        run: Index of the only run, where it is of one; None = of all.
        name: What the name of the file begins with.
        picture: What the figure shows.
        is_measured: Whether on held-out examples.
    """
    return picture_link(_name_file(name, jobs, run), _lines(picture, jobs, run, is_measured)) if jobs else ""


def _name_file(name: str, jobs: Sequence[JobStatus], run: int | None) -> str:
    """With models, tasks and methods after it."""
    runs = [one for _, _, one in _runs(jobs, run)]
    kinds = [one.model for one in runs], [one.recipe.task for one in runs], [one.recipe.method for one in runs]
    return reduce(name_after, ([*dict.fromkeys(kind)] for kind in kinds), name)


def _lines(picture: str, jobs: Sequence[JobStatus], run: int | None, is_measured: bool = True) -> tuple[str, str]:
    """What a picture says of itself: what it shows of which models; task, methods, examples, and how many."""
    told = _runs(jobs, run)
    models = dict.fromkeys(one.model for _, _, one in told)
    tasks = dict.fromkeys(TASKS[one.recipe.task] for _, _, one in told)
    methods = dict.fromkeys(
        run_name(status.spec, index) if run is not None else METHODS[one.recipe.method] for status, index, one in told
    )
    examples = dict.fromkeys(status.spec.examples_name for status in jobs)
    counts = {len(status.outcomes[index].judged) for status, index, _ in told if index in status.outcomes} - {0}
    held_out = (
        f"n = {' to '.join(f'{count:,}' for count in sorted({min(counts), max(counts)}))} held-out examples"
        if counts and is_measured
        else ""
    )
    parts = (", ".join(kind) for kind in (tasks, methods, examples))
    return f"{picture}: {', '.join(models)}", " · ".join(filter(None, [*parts, held_out]))


def _runs(jobs: Sequence[JobStatus], run: int | None) -> list[tuple[JobStatus, int, Run]]:
    indices = ((status, index) for status in jobs for index in range(len(status.spec.runs)))
    return [(status, index, status.spec.runs[index]) for status, index in indices if run is None or index == run]
