"""All jobs of a folder, as they stand on disk: what the visitors' side and the worker's side share."""

from __future__ import annotations

import logging
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from explorer.errors import TooBusy, UnknownJob, UnwritableFolder
from explorer.training.jobs.line import Use, Uses, Waiting, order_line
from explorer.training.jobs.places import ID, JobPlace
from explorer.training.jobs.records import Asked, RecentRecords, Standing, write_record
from explorer.training.jobs.results import JobSpec
from explorer.training.writing import writing_to

LOG = logging.getLogger("explorer.jobs")
LOCK_SECONDS = 20.0
TICK_NS = 100_000_000  # file systems do not tell moments apart that are closer than some milliseconds
LEAST_USE_SECONDS = 0.001  # less is forgotten
MOST_SMALL = 20_000  # files that are remembered as they were read, about a KiB each
ENDED = (
    "Its process was ended, perhaps for lack of memory. Resume goes on from the last checkpoint; smaller batches or "
    "shorter texts take less memory."
)
DAMAGED_STANDING = "The file that says how this job stands was damaged. Resume goes on from the last checkpoint."
DAMAGED_JOB = "The files of this job are damaged, so that nobody can tell what was asked for. Delete it."


@dataclass(frozen=True)
class KeptJob:
    """A job as the disk has it.

    Attributes:
        place: Its files.
        owner: Hash of whose it is.
        asked: What never changes.
        standing: How it stands.
        is_stopping: Whether somebody wants it stopped.
        is_deleted: Whether it only waits for its worker to let go of it.
        is_damaged: Whether nobody can tell what was asked for.
    """

    place: JobPlace
    owner: str
    asked: Asked
    standing: Standing
    is_stopping: bool
    is_deleted: bool = False
    is_damaged: bool = False

    @property
    def is_busy(self) -> bool:
        """Whether it waits or runs."""
        return self.standing.state in {"waiting", "running"}


class Shelf:
    """The jobs of a folder. Files are whole, so that reading needs no lock; whoever changes how a job stands holds it.

    Args:
        folder: Of all jobs; made when the first one comes.
        clock: Unix time, in seconds.
    """

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time) -> None:
        self.folder = folder
        self.now = clock
        self._known: dict[str, tuple[object, KeptJob]] = {}  # id -> version of its folder, and what it held
        self._small = RecentRecords(MOST_SMALL)

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Hold the lock of the folder, which is made if need be.

        Raises:
            UnwritableFolder: The folder may not be written.
            TooBusy: Somebody else holds the lock for too long.
        """
        with writing_to(self.folder):
            (self.folder / "jobs").mkdir(parents=True, exist_ok=True)
            lock = FileLock(self.folder / "lock", timeout=LOCK_SECONDS, poll_interval=0.01)
            try:
                lock.acquire()
            except Timeout as error:
                raise TooBusy("Other jobs are being written; try again in a minute.") from error
        try:
            yield
        finally:
            lock.release()

    def worker_lock(self, device: str) -> FileLock:
        """The lock that the worker of a device holds as long as it lives, however it ends."""
        return FileLock(self.folder / f"worker-{re.sub(r'[^a-z0-9]+', '-', device.lower())}.lock")

    def is_worked_on(self, device: str) -> bool:
        """Whether a worker of that device lives."""
        if not self.folder.is_dir():
            return False
        lock = self.worker_lock(device)
        with writing_to(self.folder):
            try:
                lock.acquire(timeout=0)
            except Timeout:  # which is an OSError, too
                return True
        lock.release()
        return False

    def jobs(self) -> tuple[KeptJob, ...]:
        """Every job that was not deleted, oldest first; those whose worker has ended have failed."""
        if self._lost(self._look()):
            with self.changing():
                return self.jobs_now()
        return _kept_ones(self._look())

    def jobs_now(self) -> tuple[KeptJob, ...]:
        """As jobs; the caller holds the lock, so that nothing changes until it lets go."""
        for job in self._lost(self._look()):
            self._settle(job)
        return _kept_ones(self._look())

    def find(self, id: str) -> KeptJob | None:
        """One job by its id; None = there is none."""
        place = JobPlace(self.folder / "jobs" / id)
        if not isinstance(id, str) or not ID.fullmatch(id) or not place.folder.is_dir() or place.gone.exists():
            return None
        return self._kept(id)

    def model_folder(self, id: str, run: int) -> Path:
        """Where the tuned model of a run is, in the format of save_pretrained; whoever knows the id may look at it.

        Raises:
            UnknownJob: There is no such job or run, or the run is not done.
        """
        job = self.find(id)
        if job is None or not 0 <= run < len(job.asked.spec.runs):
            raise UnknownJob("The job that made this model was deleted, or has left after its time.")
        if not job.place.outcome(run).exists() or not job.place.model(run).is_dir():
            raise UnknownJob("The run that makes this model is not done. Wait until it is, or resume it.")
        return job.place.model(run)

    def line(self, kept: tuple[KeptJob, ...]) -> tuple[str, ...]:
        """The ids of the jobs that wait, next one first."""
        waiting = [Waiting(job.place.id, job.owner, job.standing.number) for job in kept
                   if job.standing.state == "waiting"]  # fmt: skip
        now = self.now()
        return order_line(waiting, {owner: use.counted(now) for owner, use in self._use().items()})

    def charge(self, owner: str, seconds: float) -> None:
        """Count what the device did for an owner; the caller holds the lock."""
        now, use = self.now(), self._use()
        before = use[owner].counted(now) if owner in use else 0.0
        counting = {one: each for one, each in use.items() if each.counted(now) >= LEAST_USE_SECONDS}
        write_record(self.folder / "use.json", Uses(counting | {owner: Use(before + seconds, now)}))

    def next_number(self) -> int:
        """A number above all others; the caller holds the lock."""
        return 1 + max((max(job.standing.number, job.asked.number) for job in self._look()), default=0)

    def remove(self, place: JobPlace) -> None:
        """Take the files of a job away: first from sight, at once, then from the disk."""
        with writing_to(place.folder):
            away = place.folder.with_name(f".gone-{place.id}")
            place.folder.replace(away)
            shutil.rmtree(away, ignore_errors=True)  # what is still open goes with the next sweep

    def sweep(self) -> None:
        """Take away what a process that was ended left half made or half removed; the caller holds the lock."""
        for left in (self.folder / "jobs").glob(".*-*"):
            shutil.rmtree(left, ignore_errors=True)

    def settle_device(self, device: str) -> None:
        """Settle what says that it runs on a device; the caller holds the lock of the folder and of the device."""
        for job in self._look():
            if job.standing.state == "running" and job.standing.device == device:
                self._settle(job)

    def _lost(self, jobs: list[KeptJob]) -> list[KeptJob]:
        """Those that run and whose worker has ended, and those that were deleted while they ran."""
        devices = {job.standing.device for job in jobs if job.standing.state == "running"}
        dead = {device for device in devices if not self.is_worked_on(device)}
        return [job for job in jobs
                if (job.standing.device in dead if job.standing.state == "running" else job.is_deleted)]  # fmt: skip

    def _settle(self, job: KeptJob) -> None:
        """Say of a job whose worker has ended that it failed, or take it away if it was deleted."""
        if job.is_deleted:
            self.remove(job.place)
            return
        state, message = ("stopped", "") if job.is_stopping else ("failed", ENDED)
        standing = Standing(state, job.standing.number, message, self.ending(job))
        try:
            job.place.set_standing(standing)
            job.place.stop.unlink(missing_ok=True)
        except UnwritableFolder as error:  # said again at the next look, and true all the same
            LOG.warning("%s", error)
            self._small.put(job.place.standing, standing)
            self._known.pop(job.place.id, None)

    def ending(self, job: KeptJob) -> float:
        """The time at which a job ends now: never before it began, whatever the clock says."""
        return max(self.now(), job.asked.created_at)

    def _look(self) -> list[KeptJob]:
        try:
            names = [entry.name for entry in os.scandir(self.folder / "jobs") if ID.fullmatch(entry.name)]
        except OSError:
            return []
        found = [job for name in names if (job := self._kept(name)).owner]  # none: it is just being removed
        for gone in self._known.keys() - set(names):
            self._known.pop(gone, None)
        return sorted(found, key=lambda job: (job.asked.number, job.place.id))

    def _kept(self, id: str) -> KeptJob:
        """A job, read again only when something in its folder has come, gone or been replaced."""
        place = JobPlace(self.folder / "jobs" / id)
        try:
            stat = os.stat(place.folder)
        except OSError:
            return self._read_job(place)
        version = stat.st_mtime_ns, stat.st_ino
        known = self._known.get(id)
        if known is not None and known[0] == version:
            return known[1]
        job = self._read_job(place)
        if time.time_ns() - stat.st_mtime_ns > TICK_NS:  # else another change may bear the same time
            self._known[id] = version, job
        return job

    def _read_job(self, place: JobPlace) -> KeptJob:
        owner = place.owner()
        is_deleted = place.gone.exists()
        asked = self.read(place.asked, Asked)
        if asked is None:
            nothing = Asked(0, 0.0, JobSpec("A damaged job", (), ""))
            return KeptJob(place, owner, nothing, Standing("failed", 0, DAMAGED_JOB), False, is_deleted, True)
        standing = self.read(place.standing, Standing) or Standing("failed", asked.number, DAMAGED_STANDING)
        return KeptJob(place, owner, asked, standing, place.stop.exists(), is_deleted)

    def read(self, file: Path, kind: type) -> Any:
        """What a small file holds, read again only when it has changed; None = it is not there, or damaged."""
        return self._small.get(file, kind)

    def _use(self) -> dict[str, Use]:
        uses = self.read(self.folder / "use.json", Uses)
        return uses.owners if uses else {}


def _kept_ones(jobs: list[KeptJob]) -> tuple[KeptJob, ...]:
    return tuple(job for job in jobs if not job.is_deleted)
