"""The visitors' side of the jobs: ask for one, look at it, stop, resume and delete it. Importable without torch."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from explorer.errors import JobRefused, UnknownJob
from explorer.settings import Settings
from explorer.settings import settings as read_settings
from explorer.training.jobs.limits import (
    LONGEST_TITLE,
    MIB,
    check_examples_size,
    check_quotas,
    check_spec,
    make_room,
)
from explorer.training.jobs.places import OWNER, JobPlace, hash_owner
from explorer.training.jobs.records import (
    Asked,
    RecentRecords,
    Standing,
    read_examples,
    read_steps,
    write_examples,
    write_record,
)
from explorer.training.jobs.results import JobSpec, JobStatus, LoggedStep
from explorer.training.jobs.shelf import KeptJob, Shelf
from explorer.training.tuning.examples import ExampleSet
from explorer.training.tuning.results import Outcome, TrainingStep
from explorer.training.tuning.table import clean_text
from explorer.training.writing import writing_to

MOST_OUTCOMES = 64  # that are remembered as they were read, up to some MiB each
MOST_SILENT_MINUTES = 3
SILENT = (
    "Nothing was heard of it for {minutes} minutes: the machine may be busy, or a large model is being read. What was "
    "learned up to the last checkpoint is kept."
)
UNKNOWN = "There is no such job: it was deleted, has left after its time, or belongs to somebody else."


class JobStore:
    """The jobs of a folder, each of which belongs to whoever has the token that it was asked for with.

    Every method raises UnknownJob for a token that is too short, and, where it takes an id, for a job that is not the
    owner's.

    Args:
        folder: Of all jobs.
        wake: Called when there is something to do: starts the worker, unless it is at work.
        limits: The settings; None = those of the environment.
        clock: Unix time, in seconds.
    """

    def __init__(
        self,
        folder: Path,
        wake: Callable[[], None] = lambda: None,
        *,
        limits: Settings | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.shelf = Shelf(folder, clock)
        self._outcomes = RecentRecords(MOST_OUTCOMES)
        self._wake = wake
        self._limits = limits or read_settings()

    def submit(self, owner: str, spec: JobSpec, examples: ExampleSet) -> str:
        """Put a job in line.

        Args:
            owner: The visitor's token.
            spec: What to do.
            examples: What to learn from.

        Returns:
            Its id.

        Raises:
            JobRefused: It asks for too much, or too many jobs wait or are kept; the message says what to do.
            UnwritableFolder: The disk is full, or the folder may not be written.
        """
        who = hash_owner(owner)
        check_spec(spec, self._limits)
        check_examples_size(examples, self._limits)
        title = clean_text(" ".join(spec.title.split())[:LONGEST_TITLE]) or "Fine-tuning"
        shelf = self.shelf
        with shelf.changing():
            kept = shelf.jobs_now()
            check_quotas(kept, who, self._limits, is_new=True)
            make_room(shelf, kept, self._limits)
            shelf.sweep()
            number, id = shelf.next_number(), secrets.token_hex(6)
            place = JobPlace(shelf.folder / "jobs" / f".new-{id}")  # not seen until it is whole
            try:
                with writing_to(place.folder):
                    place.folder.mkdir()
                    (place.folder / f"{OWNER}{who}").touch()
                    place.add_ballast()
                    write_examples(place.examples, examples)
                    if place.examples.stat().st_size > self._limits.largest_examples_mib * MIB:
                        raise JobRefused(
                            f"The examples take more than {self._limits.largest_examples_mib:g} MiB. Take a part of "
                            f"them, or shorter texts."
                        )
                    write_record(place.asked, Asked(number, shelf.now(), replace(spec, title=title)))
                    place.set_standing(Standing("waiting", number))
                    place.folder.replace(shelf.folder / "jobs" / id)
            except BaseException:
                shelf.sweep()
                raise
        self._wake()
        return id

    def jobs(self, owner: str) -> tuple[JobStatus, ...]:
        """All jobs of an owner, newest first; their outcomes leave out the examples that were judged: see job."""
        hash_owner(owner)  # a token that is none is told, even where there are no jobs
        kept = self.shelf.jobs()
        line = self.shelf.line(kept)
        return tuple(self._status(job, line) for job in reversed(kept) if self.belongs(job, owner))

    def job(self, owner: str, id: str) -> JobStatus:
        """One of them, with whole outcomes."""
        self._own(owner, id)
        return self.shown(id)

    def steps(self, owner: str, id: str, since: int = 0) -> tuple[LoggedStep, ...]:
        """What the runs of a job said, in order, each step once.

        Args:
            owner: The visitor's token.
            id: Of the job.
            since: So many are known already. A job that goes on from a checkpoint takes back what came after it: ask
                from 0 where JobStatus.last is behind what is known.
        """
        return read_steps(self._own(owner, id).place.log)[max(since, 0) :]

    def shown(self, id: str) -> JobStatus:
        """A job by its link, with whole outcomes: whoever knows the id may look at it, and do nothing else.

        Raises:
            UnknownJob: There is none.
        """
        kept = self.shelf.jobs()
        job = next((job for job in kept if job.place.id == id), None)
        if job is None:
            raise UnknownJob(UNKNOWN)
        return self._status(job, self.shelf.line(kept), is_whole=True)

    def shown_steps(self, id: str) -> tuple[LoggedStep, ...]:
        """The log of such a job. Raises as shown does."""
        job = self.shelf.find(id)
        if job is None:
            raise UnknownJob(UNKNOWN)
        return read_steps(job.place.log)

    def examples(self, owner: str, id: str) -> ExampleSet:
        """What a job learns from.

        Raises:
            UnknownJob: They are damaged.
        """
        found = read_examples(self._own(owner, id).place.examples)
        if found is None:
            raise UnknownJob("The examples of this job are damaged. Delete it, and start it again.")
        return found

    def stop(self, owner: str, id: str) -> None:
        """Stop a job where it is; one that has ended stays as it is."""
        with self.shelf.changing():
            job = self._own_now(owner, id)
            if job.standing.state == "waiting":
                job.place.set_standing(Standing("stopped", job.standing.number, "", self.shelf.ending(job)))
            elif job.standing.state == "running":
                with writing_to(job.place.folder):
                    job.place.stop.touch()

    def resume(self, owner: str, id: str) -> None:
        """Put a job that was stopped or failed at the end of its owner's line; runs that are done stay as they are.

        Raises:
            JobRefused: Too many jobs wait; or it is done, or damaged.
        """
        with self.shelf.changing():
            job = self._own_now(owner, id)
            if job.is_busy and not job.is_stopping:
                return
            if job.is_stopping:
                raise JobRefused("This job is just being stopped. Resume it in a moment.")
            if not can_resume(job):
                raise JobRefused("This job is done, or its files are damaged: start a new one.")
            check_quotas(self.shelf.jobs_now(), job.owner, self._limits, is_new=False)
            with writing_to(job.place.folder):
                job.place.add_ballast()
            job.place.set_standing(Standing("waiting", self.shelf.next_number()))
        self._wake()

    def delete(self, owner: str, id: str) -> None:
        """Delete a job and its models; of one at work the files go as soon as it has heard of it."""
        with self.shelf.changing():
            job = self._own_now(owner, id)
            if job.standing.state == "running":
                with writing_to(job.place.folder):
                    job.place.gone.touch()
            else:
                self.shelf.remove(job.place)

    def model_folder(self, id: str, run: int) -> Path:
        """Where the tuned model of a run is; whoever knows the id may look at it. Raises as Shelf.model_folder does."""
        return self.shelf.model_folder(id, run)

    def look_after(self) -> None:
        """See to it that jobs whose worker has ended say so, and that whoever waits is worked for."""
        self.shelf.jobs()
        self._wake()

    def belongs(self, job: KeptJob, owner: str) -> bool:
        """Whether a job is an owner's."""
        return job.owner == hash_owner(owner)

    def _own(self, owner: str, id: str) -> KeptJob:
        job = self.shelf.find(id)
        if job is None or not self.belongs(job, owner):
            raise UnknownJob(UNKNOWN)
        return job

    def _own_now(self, owner: str, id: str) -> KeptJob:
        """As _own, settled first; the caller holds the lock."""
        self.shelf.jobs_now()
        return self._own(owner, id)

    def _status(self, job: KeptJob, line: tuple[str, ...], *, is_whole: bool = False) -> JobStatus:
        place, standing = job.place, job.standing
        is_stopping = standing.state == "running" and job.is_stopping
        runs = range(len(job.asked.spec.runs))
        return JobStatus(
            id=place.id,
            spec=job.asked.spec,
            state="stopping" if is_stopping else standing.state,
            place=1 + line.index(place.id) if place.id in line else 0,
            message=standing.message or self._silence(job),
            created_at=job.asked.created_at,
            ended_at=standing.ended_at,
            last={run: one for run in runs if (one := self.shelf.read(place.last(run), TrainingStep)) is not None},
            outcomes={run: one for run in runs if (one := self._outcome(place, run, is_whole)) is not None},
            can_resume=can_resume(job),
        )

    def _silence(self, job: KeptJob) -> str:
        """What to say of a job whose process lives and says nothing; "" = it does."""
        if job.standing.state != "running":
            return ""
        try:
            heard = max(file.stat().st_mtime for file in (job.place.standing, job.place.log) if file.exists())
        except (OSError, ValueError):
            return ""
        minutes = (self.shelf.now() - heard) / 60
        return SILENT.format(minutes=int(minutes)) if minutes >= MOST_SILENT_MINUTES else ""

    def _outcome(self, place: JobPlace, run: int, is_whole: bool) -> Outcome | None:
        if not place.outcome(run).exists():
            return None
        if is_whole:
            return self._outcomes.get(place.outcome(run), Outcome)
        return self.shelf.read(place.summary(run), Outcome)


def can_resume(job: KeptJob) -> bool:
    """Whether a job can go on."""
    return job.standing.state in {"stopped", "failed"} and not job.is_damaged
