"""Jobs as a page opens them: whoever looks at them sees to it that their worker lives."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from functools import lru_cache
from pathlib import Path
from threading import Event, Lock

from explorer.errors import ExplorerError
from explorer.settings import ASSETS, settings
from explorer.training.jobs.places import jobs_folder
from explorer.training.jobs.shelf import LOG, Shelf
from explorer.training.jobs.store import JobStore
from explorer.training.writing import writing_to

LOG_FILE = "worker.log"
MOST_LOG_BYTES = 2**20
LOOK_SECONDS = 5.0
QUICK_SECONDS = 20.0  # a worker that ends in this time, and not well, is not started again at once
MOST_PAUSE_SECONDS = 300.0


class WorkerStarter:
    """Starts the worker of a device, in a session of its own so that it outlives the page, unless there is one.

    Args:
        folder: Of all jobs.
        device: As settings().device names it.
        command: What to run, up to its options.
    """

    def __init__(
        self,
        folder: Path,
        device: str,
        command: tuple[str, ...] = (sys.executable, "-m", "explorer.training.jobs.worker"),
    ) -> None:
        self._shelf = Shelf(folder)
        self._device = device
        self._command = command
        self._process: subprocess.Popen | None = None
        self._began, self._pause, self._is_counted = 0.0, 0.0, False
        self._lock = Lock()

    def __call__(self) -> None:
        """Start it if somebody waits, none is at work, and the last one did not fail just now."""
        with self._lock:
            if not self._is_needed():
                return
            self._process, self._began, self._is_counted = self._start(), time.monotonic(), False

    @property
    def process_id(self) -> int | None:
        """Of the worker that was started here last and lives, as far as is known; None = there is none."""
        return self._process.pid if self._process and self._process.poll() is None else None

    def _is_needed(self) -> bool:
        if self._process is not None:
            ended = self._process.poll()  # also lets the system forget a process that has ended
            if ended is None:
                return False
            seconds = time.monotonic() - self._began
            if ended <= 0:  # it was done; or it was killed, and what it worked on has failed and is not tried again
                self._pause = 0.0
            elif seconds < QUICK_SECONDS and not self._is_counted:
                self._pause = min(max(2 * self._pause, LOOK_SECONDS), MOST_PAUSE_SECONDS)
            self._is_counted = True
            if seconds < self._pause:
                return False
        is_waited_for = any(job.standing.state == "waiting" for job in self._shelf.jobs())
        return is_waited_for and not self._shelf.is_worked_on(self._device)

    def _start(self) -> subprocess.Popen:
        options = ["--folder", str(self._shelf.folder), "--device", self._device]
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(filter(None, [str(ASSETS.parent), os.environ.get("PYTHONPATH")])),
            "OMP_WAIT_POLICY": "PASSIVE",  # threads that wait leave their core to the page
            "TOKENIZERS_PARALLELISM": "false",
        }
        apart = (
            {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.BELOW_NORMAL_PRIORITY_CLASS}
            if sys.platform == "win32"
            else {"start_new_session": True}
        )
        with writing_to(self._shelf.folder):
            log = self._shelf.folder / LOG_FILE
            if log.exists() and log.stat().st_size > MOST_LOG_BYTES:
                log.replace(log.with_suffix(".log.1"))
            with log.open("ab") as output:
                return subprocess.Popen(
                    [*self._command, *options], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                    cwd=self._shelf.folder, env=environment, **apart,
                )  # fmt: skip


def open_jobs() -> JobStore:
    """The jobs of this machine's folder; asking for one starts their worker."""
    return _open(jobs_folder(), settings().device)


def open_worked_jobs(kind: type[JobStore]) -> JobStore:
    """As open_jobs, anew, for another kind of store."""
    return kind(jobs_folder(), WorkerStarter(jobs_folder(), settings().device))


@lru_cache(maxsize=8)
def _open(folder: Path, device: str) -> JobStore:
    return JobStore(folder, WorkerStarter(folder, device))


def watch_jobs(store: JobStore, stop: Event) -> None:
    """See to it that whoever waits is worked for, also after a restart, until told to stop; looks every few seconds."""
    while True:
        try:
            store.look_after()
        except (ExplorerError, OSError) as error:  # the disk is full, or is gone for a while
            LOG.warning("%s", error)
        if stop.wait(LOOK_SECONDS):
            return
