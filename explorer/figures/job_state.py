"""How a job stands, as a box of HTML: what it is, its state in words, and how far it is."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from explorer.figures.job_words import job_words, run_at_work
from explorer.figures.notes import note
from explorer.figures.tuning_words import kind_of
from explorer.training.jobs.results import JobStatus
from explorer.training.tuning.recipe import METHODS, TASKS
from explorer.training.tuning.results import TrainingStep

EXAMPLE = (
    "An example, trained ahead on our own sentences so that there is something to look at. Start trains one of yours."
)


def job_box(status: JobStatus, steps: Sequence[TrainingStep] = (), *, is_example: bool = False) -> str:
    """The box above the views.

    Args:
        status: Of the job in sight.
        steps: The log of its run, where it has but one; () = not known.
        is_example: Whether it is the one that comes with the page.
    """
    spec = status.spec
    what = [spec.title, *dict.fromkeys(run.model for run in spec.runs), TASKS[spec.runs[0].recipe.task]]
    methods = list(dict.fromkeys(METHODS[run.recipe.method] for run in spec.runs))
    what += methods if kind_of(spec) != "race" else [" against ".join(methods)]
    if kind_of(spec) == "labels":
        what.append("fewer labels")
    what.append(spec.examples_name)
    head = " · ".join(f"<bdi>{escape(part)}</bdi>" for part in dict.fromkeys(filter(None, what)))
    share = progress_share(status)
    loading = " loading" if is_loading(status) else ""
    bar = (
        f"<div class='budget{loading}' role='progressbar' aria-label='How far the job is' aria-valuemin='0'"
        f" aria-valuemax='100' aria-valuenow='{100 * share:.0f}'><i style='width:{share:.1%}'></i></div>"
        if status.state in ("running", "stopping", "stopped") or (status.state == "waiting" and share)
        else ""
    )
    live = "alert" if status.state == "failed" else "status"
    return (
        f"<div class='job' data-state='{status.state}'>"
        f"{note(EXAMPLE) if is_example else ''}<p class='job-what'>{head}</p>"
        f"<p class='job-says' role='{live}'>{job_words(status, steps)}</p>{bar}</div>"
    )


def is_loading(status: JobStatus) -> bool:
    """Whether the model of a run is being loaded, so that no step is to be seen yet."""
    return status.state == "running" and run_at_work(status) not in status.last


def progress_share(status: JobStatus) -> float:
    """How much of all runs of a job is done, in [0, 1]."""
    done = 0.0
    for index in range(len(status.spec.runs)):
        step = status.last.get(index)
        if index in status.outcomes:
            done += 1
        elif step and step.steps:
            done += min(1.0, step.step / step.steps)
    return done / max(1, len(status.spec.runs))
