"""The job in sight: one of the store's, or the example that the page opens on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from explorer.errors import ExplorerError, UnsuitableText
from explorer.figures.tuning_words import best_run
from explorer.tabs.fine_tune.first_tuned import FirstTuned
from explorer.training.jobs.results import JobStatus, LoggedStep
from explorer.training.jobs.store import JobStore
from explorer.training.tuning.results import Outcome, Run

BEST = -1  # in the place of a run's index: the run that says most
Steps = tuple[LoggedStep, ...]


@dataclass(frozen=True)
class Looked:
    """What the views draw.

    Attributes:
        status: Of the job in sight.
        run: Index of the run looked at.
        jobs: All jobs of the visitor, newest first.
        read_steps: The log of a job, by its id; reads the disk.
        is_example: Whether the job is the one that comes with the page.
        is_own: Whether it is the visitor's, who may stop and delete it.
        problem: Why it is not the job that was asked for; "" = it is.
        is_chosen: Whether the visitor chose the run; else it is the one that says most.
        find: Another job by its link, by its id; None = there is none.
    """

    status: JobStatus
    run: int
    jobs: tuple[JobStatus, ...]
    read_steps: Callable[[str], Steps]
    is_example: bool
    is_own: bool
    problem: str = ""
    is_chosen: bool = False
    find: Callable[[str], JobStatus | None] = lambda id: None

    @property
    def outcome(self) -> Outcome | None:
        """Of the run looked at; None = it is not done."""
        return self.status.outcomes.get(self.run)

    @property
    def the_run(self) -> Run:
        """The run looked at, as it was asked for."""
        return self.status.spec.runs[self.run]

    @property
    def subject(self) -> list:
        """What a view that is drawn of it shows: differs where another job or run is, or this run once it is done."""
        return [self.status.id, self.run, self.outcome is not None]

    @property
    def age(self) -> tuple:
        """Differs whenever something new is to be seen of the job."""
        last = tuple((run, step.phase, step.step) for run, step in sorted(self.status.last.items()))
        status = self.status
        return (status.id, status.state, status.place, status.message, last, len(status.outcomes), self.problem)


def telling_run(status: JobStatus) -> int:
    """Index of the run that says most of a job: the best of those that are done, else the one at work."""
    best = best_run(status)
    return best if best is not None else max(status.outcomes or status.last, default=0)


def look_at(store: JobStore, first: FirstTuned, owner: str, asked: str, run: int | None = None) -> Looked:
    """What is in sight of a visitor.

    Args:
        store: Of all jobs.
        first: The example.
        owner: The visitor's token; "" = the page has not told it yet.
        asked: Id of a job; "" = the example.
        run: Index of the run looked at; BEST, None or beyond the last: the one that says most.
    """
    jobs, status, problem = (), first.status, ""
    try:
        jobs = store.jobs(owner) if owner else ()
        status = store.shown(asked) if asked else status
    except ExplorerError as error:
        problem = str(error)
    is_example = status is first.status

    def read_steps(job: str) -> Steps:
        return first.steps if job == first.status.id else store.shown_steps(job)

    def find(job: str) -> JobStatus | None:
        try:
            return store.shown(job)
        except ExplorerError:
            return None

    is_chosen = run is not None and 0 <= int(run) < len(status.spec.runs)
    return Looked(
        status,
        int(run) if is_chosen else telling_run(status),
        jobs,
        read_steps,
        is_example,
        any(job.id == status.id for job in jobs),
        problem,
        is_chosen,
        find,
    )


def need_tuned(looked: Looked) -> None:
    """Raise where the run looked at has no model of its own to ask.

    Raises:
        UnsuitableText: It is the example, or not done.
    """
    if looked.is_example:
        raise UnsuitableText(
            "The model of the example does not come with the page. Train it here, and try it when it is done."
        )
    if looked.outcome is None:
        raise UnsuitableText("The model can be tried once its run is done.")
