"""Jobs of fine-tuning in a shell: who has one here may do with all of them what their owners may on the page."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Annotated, Literal

import typer

from explorer.errors import UnknownJob
from explorer.shell import JsonOption, print_result
from explorer.training.jobs.naming import tuned_name
from explorer.training.jobs.results import JobStatus
from explorer.training.jobs.shelf import KeptJob
from explorer.training.jobs.store import JobStore
from explorer.training.jobs.supervising import open_worked_jobs

WATCH_SECONDS = 2.0
NOBODY = "the operator, who needs no token"
Action = Literal["list", "watch", "stop", "resume", "delete"]


class OperatorJobs(JobStore):
    """The jobs of everybody."""

    def belongs(self, job: KeptJob, owner: str) -> bool:
        """Whoever may read the folder is let in."""
        return True


def jobs(
    action: Annotated[Action, typer.Argument(help="What to do; watch lists them until no job waits or runs.")] = "list",
    job: Annotated[str, typer.Argument(help="Of stop, resume and delete: the id of the job.")] = "",
    as_json: JsonOption = False,
) -> None:
    """List the jobs of fine-tuning on this machine, or stop, resume or delete one."""
    store = open_worked_jobs(OperatorJobs)
    if action in {"stop", "resume", "delete"}:
        if not job:
            raise UnknownJob(f"Name the job to {action} by its id, as `explorer jobs` lists it.")
        {"stop": store.stop, "resume": store.resume, "delete": store.delete}[action](NOBODY, job)
    while True:
        found = store.jobs(NOBODY)
        print_result(found, as_json, describe_jobs)
        if action != "watch" or not any(one.state in {"waiting", "running", "stopping"} for one in found):
            return
        store.look_after()
        time.sleep(WATCH_SECONDS)


def describe_jobs(found: Sequence[JobStatus]) -> str:
    """Jobs as text, newest first, with the names of the models they made."""
    return "\n".join(line for status in found for line in _lines(status)) or "There are no jobs."


def _lines(status: JobStatus) -> list[str]:
    runs = len(status.spec.runs)
    state = f"{status.state}, place {status.place}" if status.place else status.state
    lines = [f"{status.id}  {status.spec.title}: {state}, {len(status.outcomes)} of {runs} run{'s' * (runs > 1)} done"]
    for run, step in status.last.items():
        if run not in status.outcomes and status.state == "running":
            lines.append(
                f"  run {run + 1}: {step.phase}, step {step.step} of {step.steps}, {step.seconds_left:.0f} s left"
            )
    for run, outcome in status.outcomes.items():
        scores = ", ".join(f"{name} {value:.3f}" for name, value in outcome.scores.items())
        lines.append(f"  {tuned_name(status.id, status.spec, run)}: {scores}")
    return lines + [f"  {line}" for line in status.message.splitlines()]


COMMANDS = (jobs,)
