"""The worker's side of the jobs: take the next one, note what it says, end it."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass, replace

from explorer.errors import UnwritableFolder
from explorer.training.jobs.records import Standing, append_step, read_steps, rewrite_steps, write_record
from explorer.training.jobs.results import LoggedStep
from explorer.training.jobs.shelf import LOG, KeptJob, Shelf
from explorer.training.tuning.results import Outcome, TrainingStep

LEAST_LOG_SECONDS, MOST_LOG_SECONDS = 0.5, 5.0  # between lines of the log
LOG_SHARE = 0.01  # of the time a run has taken, within these
CHARGE_SECONDS = 5.0


@dataclass(frozen=True)
class Turn:
    """One run of a job, while the device works on it.

    Attributes:
        job: As it stood when it was taken, running.
        run: Index among the spec's.
        began: On time.monotonic.
    """

    job: KeptJob
    run: int
    began: float


class Desk:
    """What the worker of a device, who holds its lock, does to the jobs of a folder.

    Args:
        shelf: The jobs.
        device: Of the lock.
    """

    def __init__(self, shelf: Shelf, device: str) -> None:
        self.shelf = shelf
        self._device = device
        self._logged_at = self._charged_at = -MOST_LOG_SECONDS
        self._phases: set[str] = set()  # that were logged of this turn
        self._unlogged: TrainingStep | None = None

    def take(self) -> Turn | None:
        """The next run of the job that is next in line; None = nobody waits. The caller holds the lock.

        A job goes back in line after each of its runs, so that a learning curve of one does not hold up a class.
        """
        kept = self.shelf.jobs_now()
        for id in self.shelf.line(kept):
            job = next(job for job in kept if job.place.id == id)
            run = self._next_run(job)
            if run is None:  # ended by what came between its last run and saying so
                self._end(job)
                continue
            standing = replace(job.standing, state="running", device=self._device)
            job.place.stop.unlink(missing_ok=True)
            job.place.set_standing(standing)
            self._charged_at, self._phases, self._unlogged = time.monotonic(), set(), None
            return Turn(replace(job, standing=standing), run, self._charged_at)
        return None

    def forget_leftovers(self) -> None:
        """What says that it runs on this device was left by a worker that was ended. The caller holds the lock.

        As this process holds the device's lock, nobody else can tell.
        """
        self.shelf.settle_device(self._device)

    def is_asked_to_stop(self, turn: Turn) -> bool:
        """Whether the visitor wants the job stopped or deleted."""
        return turn.job.place.stop.exists() or turn.job.place.gone.exists()

    def log(self, turn: Turn, step: TrainingStep) -> None:
        """Keep what a run says: everything that was measured, and the rest as often as an eye can follow.

        Raises:
            UnwritableFolder: The disk is full.
        """
        now = time.monotonic()
        is_first = step.phase not in self._phases
        if is_first:
            self._phases.add(step.phase)
            self._take_back(turn, step)
        gap = min(max(LOG_SHARE * step.seconds, LEAST_LOG_SECONDS), MOST_LOG_SECONDS)
        is_measured = step.held_out_loss is not None or step.score is not None
        self._unlogged = step
        if is_first or is_measured or step.outcome is not None or now - self._logged_at >= gap:
            self._logged_at = now
            self.catch_up(turn)
        if now - self._charged_at >= CHARGE_SECONDS:
            with self.shelf.changing():
                self._charge(turn)

    def catch_up(self, turn: Turn) -> None:
        """Keep the newest step if the log has left it out so far. Raises as log does."""
        if self._unlogged is not None:
            plain, self._unlogged = replace(self._unlogged, outcome=None), None
            append_step(turn.job.place.log, LoggedStep(turn.run, plain))
            write_record(turn.job.place.last(turn.run), plain)

    def _take_back(self, turn: Turn, step: TrainingStep) -> None:
        """A run that goes on from a checkpoint takes steps again that the log has already."""
        known = read_steps(turn.job.place.log)
        kept = [one for one in known
                if one.run != turn.run or not _comes_again(one.step, step)]  # fmt: skip
        if len(kept) < len(known):
            rewrite_steps(turn.job.place.log, kept)

    def seconds(self, turn: Turn) -> float:
        """What the job had of the device since it arrived in line."""
        return turn.job.standing.seconds + time.monotonic() - turn.began

    def finish_run(self, turn: Turn, outcome: Outcome) -> None:
        """Keep what a run gave.

        Raises:
            UnwritableFolder: The disk is full.
        """
        place = turn.job.place
        write_record(place.summary(turn.run), replace(outcome, judged=(), before_and_after=()))
        write_record(place.outcome(turn.run), outcome)
        for left in place.run(turn.run).iterdir():  # checkpoints take several times what the model does
            if left.is_dir() and left != place.model(turn.run):
                shutil.rmtree(left, ignore_errors=True)
            elif left.is_file():
                left.unlink(missing_ok=True)

    def put_back(self, turn: Turn, problem: str = "") -> None:
        """Let go of a job after a run, or in the middle of one: it waits for its next turn, or has ended.

        Args:
            turn: What was worked on.
            problem: Why this run cannot be done; "" = it is done, or goes on from its checkpoint.
        """
        with self.shelf.changing():
            job = self._let_go(turn, problem)
            if job is None:
                return
            if job.place.stop.exists() and self._next_run(job) is not None:
                self._set(job, "stopped", "")
            elif self._next_run(job) is None:
                self._end(job)
            else:
                job.place.set_standing(job.standing)

    def end(self, turn: Turn, state: str, message: str = "") -> None:
        """End a job in the middle of a run: "stopped" or "failed"; what was learned is in its checkpoint."""
        with self.shelf.changing():
            job = self._let_go(turn, "")
            if job is not None:
                self._set(job, state, message)

    def _let_go(self, turn: Turn, problem: str) -> KeptJob | None:
        """The job as it waits again, which is not written yet; None = it was deleted."""
        self._charge(turn)
        if turn.job.place.gone.exists():
            self.shelf.remove(turn.job.place)
            return None
        standing = turn.job.standing
        problems = standing.problems | ({turn.run: problem} if problem else {})
        seconds = self.seconds(turn)
        return replace(
            turn.job, standing=replace(standing, state="waiting", device="", problems=problems, seconds=seconds)
        )

    def _end(self, job: KeptJob) -> None:
        """Say that nothing is left to do: all is done, or some runs could not be."""
        problems, runs = job.standing.problems, job.asked.spec.runs
        named = [problem if len(runs) == 1 else f"Run {run + 1} of {len(runs)}: {problem}"
                 for run, problem in sorted(problems.items())]  # fmt: skip
        self._set(job, "failed" if problems else "done", "\n".join(named))

    def _set(self, job: KeptJob, state: str, message: str) -> None:
        job.place.set_standing(Standing(state, job.standing.number, message, self.shelf.ending(job)))
        job.place.stop.unlink(missing_ok=True)

    def _next_run(self, job: KeptJob) -> int | None:
        """The first run that is neither done nor impossible."""
        return next(
            (run for run in range(len(job.asked.spec.runs))
             if run not in job.standing.problems and not job.place.outcome(run).exists()),
            None,
        )  # fmt: skip

    def _charge(self, turn: Turn) -> None:
        """Count the device's time for the owner; the caller holds the lock."""
        now = time.monotonic()
        try:
            self.shelf.charge(turn.job.owner, now - self._charged_at)
        except UnwritableFolder as error:  # whose turn it is next is not worth a job
            LOG.warning("%s", error)
        self._charged_at = now


def _comes_again(known: TrainingStep, first: TrainingStep) -> bool:
    return known.seconds > first.seconds or (known.phase == first.phase and known.step >= first.step)
