"""Faults of real processes: pages and workers that are killed, and several that start at once."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Thread

import pytest

from explorer.errors import JobRefused
from explorer.settings import Settings
from explorer.training.jobs.store import JobStore
from explorer.training.jobs.supervising import LOG_FILE, WorkerStarter, watch_jobs
from tests.training.jobs.jobs_made import ANNE, BOB, EXAMPLES, spec_of

ROOT = Path(__file__).parents[3]
FAKE = (sys.executable, "-m", "tests.training.jobs.fake_worker")
PAGE = """
import sys, time
from pathlib import Path
from explorer.training.jobs.store import JobStore
from explorer.training.jobs.supervising import WorkerStarter
from tests.training.jobs.jobs_made import ANNE, EXAMPLES, spec_of
folder, python = Path(sys.argv[1]), sys.executable
store = JobStore(folder, WorkerStarter(folder, "cpu", (python, "-m", "tests.training.jobs.fake_worker")))
print(store.submit(ANNE, spec_of("one", steps=60), EXAMPLES), flush=True)
time.sleep(60)
"""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sends signals")


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "jobs"


@pytest.fixture
def started(folder):
    """Opens the jobs as a page does; at the end their workers have ended."""
    starters = []

    def start(**limits) -> JobStore:
        starter = WorkerStarter(folder, "cpu", FAKE)
        starters.append(starter)
        return JobStore(folder, starter, limits=Settings(**limits))

    yield start
    for starter in starters:
        if starter.process_id:
            os.kill(starter.process_id, signal.SIGKILL)


def wait_for(condition, seconds=20.0):
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.02)
    return found


def state(store, owner, id):
    return store.job(owner, id).state


def test_a_job_goes_on_while_its_page_is_killed_and_another_page_finds_it(folder, started):
    page = subprocess.Popen([sys.executable, "-c", PAGE, str(folder)], cwd=ROOT, stdout=subprocess.PIPE, text=True,
                            env=os.environ | {"PYTHONPATH": str(ROOT)})  # fmt: skip
    id = page.stdout.readline().strip()
    looking = JobStore(folder)  # starts nothing
    wait_for(lambda: looking.job(ANNE, id).last)
    page.send_signal(signal.SIGKILL)
    page.wait()
    page.stdout.close()
    again = started()
    again.look_after()  # finds the worker by its lock
    assert state(again, ANNE, id) == "running"
    wait_for(lambda: state(again, ANNE, id) == "done")
    assert [one.step.step for one in again.steps(ANNE, id)] == list(range(1, 61))
    wait_for(lambda: not again.shelf.is_worked_on("cpu"))  # it ends by itself
    assert (folder / LOG_FILE).read_text().count("worked") == 1


def test_a_worker_that_is_killed_fails_its_job_and_the_next_one_comes(folder, started):
    store = started()
    killed = store.submit(ANNE, spec_of("killed", "second", seed=3), EXAMPLES)
    after = store.submit(BOB, spec_of("after"), EXAMPLES)
    wait_for(lambda: state(store, ANNE, killed) == "failed")
    job = store.job(ANNE, killed)
    assert "process was ended" in job.message and "Resume" in job.message and job.can_resume
    assert job.last[0].step == 2 and job.ended_at
    wait_for(lambda: store.look_after() or state(store, BOB, after) == "done")
    store.resume(ANNE, killed)  # its second run meets the same trap
    wait_for(lambda: store.look_after() or state(store, ANNE, killed) == "failed")
    assert set(store.job(ANNE, killed).outcomes) == {0}
    store.resume(ANNE, killed)
    wait_for(lambda: store.look_after() or state(store, ANNE, killed) == "done")
    steps = [(one.run, one.step.step) for one in store.steps(ANNE, killed)]
    assert steps == [(run, step) for run in (0, 1) for step in range(1, 6)]


def test_a_job_that_was_to_stop_when_its_worker_was_killed_is_stopped(folder, started):
    store = started()
    id = store.submit(ANNE, spec_of("long", steps=100), EXAMPLES)
    wait_for(lambda: store.job(ANNE, id).last)
    os.kill(store._wake.process_id, signal.SIGSTOP)  # so that it cannot hear of it first
    (folder / "jobs" / id / "stop").touch()
    os.kill(store._wake.process_id, signal.SIGKILL)
    wait_for(lambda: state(store, ANNE, id) == "stopped")


def test_a_job_deleted_before_its_worker_was_killed_goes(folder, started):
    store = started()
    id = store.submit(ANNE, spec_of("long", steps=100), EXAMPLES)
    wait_for(lambda: store.job(ANNE, id).last)
    os.kill(store._wake.process_id, signal.SIGSTOP)
    store.delete(ANNE, id)
    assert store.jobs(ANNE) == () and (folder / "jobs" / id).exists()
    os.kill(store._wake.process_id, signal.SIGKILL)
    wait_for(lambda: store.look_after() or not (folder / "jobs" / id).exists())


def test_a_worker_that_is_told_to_end_leaves_its_job_to_the_next(folder, started):
    store = started()
    id = store.submit(ANNE, spec_of("one", steps=40), EXAMPLES)
    wait_for(lambda: store.job(ANNE, id).last)
    os.kill(store._wake.process_id, signal.SIGTERM)
    wait_for(lambda: state(store, ANNE, id) == "waiting")
    wait_for(lambda: store.look_after() or state(store, ANNE, id) == "done")
    assert [one.step.step for one in store.steps(ANNE, id)] == list(range(1, 41))
    assert "ended from outside" in (folder / LOG_FILE).read_text()


def test_of_two_workers_that_start_at_once_one_works(folder):
    store = JobStore(folder)
    ids = [store.submit(ANNE, spec_of("one"), EXAMPLES), store.submit(BOB, spec_of("two"), EXAMPLES)]
    command = [*FAKE, "--folder", str(folder), "--device", "cpu"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    both = [subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = sorted(one.communicate(timeout=30)[0].split("\n")[0] for one in both)
    assert said == ["somebody else works", "worked"] or said == ["worked", "worked"]  # one after the other
    for owner, id in zip((ANNE, BOB), ids, strict=True):
        steps = store.steps(owner, id)
        assert state(store, owner, id) == "done" and len(steps) == 5  # each was done once


def test_a_file_that_cannot_be_written_and_memory_that_cannot_be_had_fail_their_jobs_alone(folder):
    starter = WorkerStarter(folder, "cpu", (*FAKE, "--largest-file", "200000"))
    store = JobStore(folder, starter)
    full = store.submit(ANNE, spec_of("full", seed=4), EXAMPLES)
    large = store.submit(BOB, spec_of("large", seed=5), EXAMPLES)
    after = store.submit(BOB, spec_of("after"), EXAMPLES)
    wait_for(lambda: state(store, BOB, after) == "done")
    assert state(store, ANNE, full) == state(store, BOB, large) == "failed"
    message = store.job(ANNE, full).message
    assert "File too large" in message and "make room" in message and "Resume goes on" in message
    assert "too small for this run" in store.job(BOB, large).message
    store.resume(ANNE, full)  # the trap is behind it
    wait_for(lambda: store.look_after() or state(store, ANNE, full) == "done")


def test_a_page_sees_to_those_who_wait_from_before_a_restart(folder, started):
    id = JobStore(folder).submit(ANNE, spec_of("one"), EXAMPLES)
    store, stop = started(), Event()
    watch = Thread(target=watch_jobs, args=(store, stop))
    watch.start()
    wait_for(lambda: state(store, ANNE, id) == "done")
    stop.set()
    watch.join()


def test_a_worker_that_cannot_start_is_not_started_all_the_time(folder):
    starter = WorkerStarter(folder, "cpu", (sys.executable, "-c", "raise SystemExit(3)"))
    store = JobStore(folder, starter)
    store.submit(ANNE, spec_of("one"), EXAMPLES)
    wait_for(lambda: starter.process_id is None)
    began = starter._began
    for _ in range(20):
        store.look_after()
    assert starter._began == began


def test_thirty_owners_at_once_are_served_fairly_within_their_quotas(folder, started):
    store = JobStore(folder, limits=Settings(most_waiting_jobs=2, most_jobs_in_line=40))
    owners = [f"token of student number {number:02d}" for number in range(30)]

    def ask(owner):
        answers = []
        for _ in range(3):
            try:
                answers.append(store.submit(owner, spec_of("one", steps=1), EXAMPLES))
            except JobRefused as error:
                answers.append(str(error))
        return answers

    with ThreadPoolExecutor(30) as pool:
        answers = list(pool.map(ask, owners))
    taken = [answer for some in answers for answer in some if len(answer) == 12]
    assert 40 <= len(taken) == len(set(taken)) <= 60
    assert all(len(some[0]) == 12 and len(some[2]) > 12 for some in answers)  # one at least, two at most
    places = [job.place for owner in owners for job in store.jobs(owner)]
    assert sorted(places) == list(range(1, len(taken) + 1))
    first = [store.jobs(owner)[-1].place for owner in owners]
    assert sorted(first) == list(range(1, 31))  # the first job of each comes before the second of any
    started().look_after()
    wait_for(lambda: all(job.state == "done" for owner in owners for job in store.jobs(owner)), seconds=60)
