"""The process that works off the line: one per device, apart from any page, ended a minute after its last job.

`python -m explorer.training.jobs.worker --folder FOLDER --device auto`; pages start it by themselves.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from filelock import Timeout

from explorer.errors import UnwritableFolder
from explorer.logs import begin_log
from explorer.models.backend import LoadedModel
from explorer.models.catalogue import CATALOGUE
from explorer.models.registry import FindModel, Registry
from explorer.settings import settings
from explorer.training.jobs.desk import Desk
from explorer.training.jobs.executing import ChooseExamples, FineTune, WorkerEnded, take_turn
from explorer.training.jobs.naming import find_start
from explorer.training.jobs.places import jobs_folder
from explorer.training.jobs.shelf import LOG, Shelf
from explorer.training.tuning.examples import ExampleSet
from explorer.training.tuning.recipe import Recipe
from explorer.training.tuning.results import Run, TrainingStep

LOCK_SECONDS = 5.0  # a page that only looks whether there is a worker holds the lock for a moment
IDLE_SECONDS = 60.0
POLL_SECONDS = 0.5
NICENESS = 10  # about a tenth of the cores while the page wants them all, and all of them while it does not
FIRST_TO_GO = "600"  # of -1000 to 1000: when memory runs out, Linux ends this process rather than the page


def work_off(
    shelf: Shelf,
    device: str,
    fine_tune: FineTune,
    find_model: FindModel,
    choose: ChooseExamples,
    *,
    most_seconds: float,
    idle_seconds: float = IDLE_SECONDS,
) -> bool:
    """Work as long as there is something to do, and some time longer.

    Args:
        shelf: The jobs.
        device: Whose lock is held meanwhile.
        fine_tune: As executing.take_turn takes it.
        find_model: Likewise.
        choose: Likewise.
        most_seconds: Likewise.
        idle_seconds: How long to wait for more.

    Returns:
        False = somebody else works on this device.
    """
    with shelf.changing():  # which makes the folder
        pass
    lock = shelf.worker_lock(device)
    try:
        lock.acquire(timeout=LOCK_SECONDS)
    except Timeout:
        return False
    desk = Desk(shelf, device)
    try:
        with shelf.changing():
            desk.forget_leftovers()
            shelf.sweep()
        idle_since = time.monotonic()
        while shelf.folder.is_dir():  # else somebody has taken all of it away
            with shelf.changing():
                turn = desk.take()
                if turn is None and time.monotonic() - idle_since >= idle_seconds:
                    lock.release()  # within the other lock: who asks for a job now finds no worker, and starts one
                    return True
            if turn is None:
                time.sleep(POLL_SECONDS)
                continue
            take_turn(desk, turn, fine_tune, find_model, choose, most_seconds=most_seconds)
            idle_since = time.monotonic()
        return True
    finally:
        lock.release()


def be_modest() -> None:
    """Let the page go first: for the cores, and when memory runs out."""
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    with contextlib.suppress(OSError):  # there is none but on Linux
        Path("/proc/self/oom_score_adj").write_text(FIRST_TO_GO)


def end_gently(number: int, frame: object) -> None:
    """Let what is at work write its checkpoint, and then end: what SIGTERM means."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once is enough: a checkpoint is being written
    raise WorkerEnded


def main() -> None:
    """Work off the line of a folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=jobs_folder(), help="where the jobs are")
    parser.add_argument("--device", default=settings().device, help="where models run: auto, cpu, cuda, cuda:1, mps")
    parser.add_argument("--idle-seconds", type=float, default=IDLE_SECONDS, help="how long to wait for more jobs")
    given = parser.parse_args()
    begin_log()
    os.environ["EXPLORER_DEVICE"] = given.device
    settings.cache_clear()
    be_modest()
    signal.signal(signal.SIGTERM, end_gently)
    shelf = Shelf(given.folder)
    registry = Registry(CATALOGUE, _open_backend)
    try:
        work_off(
            shelf,
            given.device,
            _fine_tune,
            partial(find_start, registry, shelf),
            _choose,
            most_seconds=60 * settings().longest_job_minutes,
            idle_seconds=given.idle_seconds,
        )
    except (WorkerEnded, KeyboardInterrupt):
        LOG.info("ended from outside; what was at work waits for the next worker")
    except UnwritableFolder as error:
        LOG.error("%s", error)
        sys.exit(1)


def _open_backend() -> object:
    from explorer.models.local import LocalBackend

    return LocalBackend(cards=CATALOGUE)


def _fine_tune(model: LoadedModel, examples: ExampleSet, *, recipe: Recipe, folder: Path) -> Iterator[TrainingStep]:
    from explorer.training.jobs.runs import fine_tune_anyhow  # the lock of the device is taken before torch comes

    return fine_tune_anyhow(model, examples, recipe=recipe, folder=folder)


def _choose(examples: ExampleSet, run: Run) -> ExampleSet:
    from explorer.training.jobs.runs import choose_for

    return choose_for(examples, run)


if __name__ == "__main__":
    main()
