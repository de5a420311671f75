"""The worker's side of jobs, in this process: each run once, in a fair order, and nothing lost by what goes wrong."""

import errno
import time
from dataclasses import replace
from pathlib import Path

import pytest

from explorer.errors import OutOfMemory, UnwritableFolder
from explorer.settings import Settings
from explorer.training.jobs import desk as desk_module
from explorer.training.jobs.executing import WorkerEnded
from explorer.training.jobs.shelf import Shelf
from explorer.training.jobs.store import JobStore
from explorer.training.jobs.worker import work_off
from tests.training.jobs.jobs_made import ANNE, BOB, CARLA, EXAMPLES, choose, count_steps, find, spec_of


@pytest.fixture
def store(tmp_path):
    return JobStore(tmp_path / "jobs", limits=Settings(most_waiting_jobs=9))


def work(store, fine_tune=count_steps, *, most_seconds=60.0):
    return work_off(
        Shelf(store.shelf.folder), "cpu", fine_tune, find, choose, most_seconds=most_seconds, idle_seconds=0.0
    )


def test_a_job_is_worked_off_and_keeps_what_it_gave(store):
    id = store.submit(ANNE, spec_of("race", "second"), EXAMPLES)
    assert work(store)
    job = store.job(ANNE, id)
    assert (job.state, job.message, job.can_resume, job.place) == ("done", "", False, 0)
    assert job.outcomes[1].scores == {"accuracy": 0.75} and len(job.outcomes[0].judged) == 1
    assert store.jobs(ANNE)[0].outcomes[0].judged == ()  # a list stays light
    steps = store.steps(ANNE, id)
    assert [(one.run, one.step.step) for one in steps] == [(run, step) for run in (0, 1) for step in range(1, 6)]
    assert store.steps(ANNE, id, since=8) == steps[8:]
    assert job.last[1] == steps[-1].step
    assert (store.model_folder(id, 1) / "weights").exists()


def test_a_stop_between_steps_keeps_the_checkpoint_and_resume_goes_on(store):
    id = store.submit(ANNE, spec_of("one"), EXAMPLES)

    def stopped_at_three(model, examples, *, recipe, folder):
        for step in count_steps(model, examples, recipe=recipe, folder=folder):
            yield step
            if step.step == 3:
                store.stop(ANNE, id)
                assert store.job(ANNE, id).state == "stopping"
                with pytest.raises(Exception, match="just being stopped"):
                    store.resume(ANNE, id)

    work(store, lambda *a, **k: _ahead(stopped_at_three(*a, **k)))
    job = store.job(ANNE, id)
    assert (job.state, job.message, job.can_resume) == ("stopped", "", True)
    store.resume(ANNE, id)
    work(store)
    assert store.job(ANNE, id).state == "done"
    assert [one.step.step for one in store.steps(ANNE, id)] == [1, 2, 3, 4, 5]


def _ahead(steps):
    """One step late, so that what a generator does after a step is done before the step is seen."""
    before = next(steps)
    for step in steps:
        yield before
        before = step
    yield before


def test_runs_of_others_come_between_those_of_a_race(store):
    order = []

    def noting(model, examples, *, recipe, folder):
        order.append(recipe.seed)
        yield from count_steps(model, examples, recipe=recipe, folder=folder)

    store.submit(ANNE, spec_of("race", "of", "three", seed=11), EXAMPLES)
    store.submit(BOB, spec_of("plain", seed=12), EXAMPLES)
    store.submit(CARLA, spec_of("plain", seed=13), EXAMPLES)
    work(store, noting)
    assert order == [11, 12, 13, 11, 11]


def test_a_run_that_cannot_be_done_leaves_the_others_of_its_race(store):
    spec = spec_of("race", "second", "third")
    bad = replace(spec.runs[0], recipe=replace(spec.runs[0].recipe, seed=1))
    id = store.submit(ANNE, replace(spec, runs=(spec.runs[0], bad, spec.runs[2])), EXAMPLES)
    after = store.submit(BOB, spec_of("after"), EXAMPLES)
    work(store)
    job = store.job(ANNE, id)
    assert job.state == "failed" and job.can_resume
    assert job.message == "Run 2 of 3: The loss is not a number. Choose a lower learning rate."
    assert set(job.outcomes) == {0, 2}
    assert store.job(BOB, after).state == "done"


def test_a_fault_of_ours_becomes_a_reference(store, caplog):
    id = store.submit(ANNE, spec_of("one", seed=2), EXAMPLES)
    work(store)
    message = store.job(ANNE, id).message
    assert "reference" in message and "ZeroDivision" not in message
    assert "ZeroDivisionError" in caplog.text and message.split("reference ")[1][:8] in caplog.text


def test_too_little_memory_fails_one_job_and_not_the_next(store):
    id = store.submit(ANNE, spec_of("large"), EXAMPLES)
    after = store.submit(BOB, spec_of("small"), EXAMPLES)
    calls = []

    def starved(model, examples, *, recipe, folder):
        calls.append(model)
        if len(calls) == 1:
            raise OutOfMemory("The memory of cpu is too small.")
        return count_steps(model, examples, recipe=recipe, folder=folder)

    work(store, starved)
    assert (store.job(ANNE, id).state, store.job(ANNE, id).can_resume) == ("failed", True)
    assert store.job(ANNE, id).message.startswith("The memory of cpu is too small. Smaller batches")
    assert store.job(BOB, after).state == "done"


def test_a_run_of_which_nothing_is_heard_says_so(store):
    id = store.submit(ANNE, spec_of("one"), EXAMPLES)
    said = []

    def silent(model, examples, *, recipe, folder):
        for step in count_steps(model, examples, recipe=recipe, folder=folder):
            yield step
            later = JobStore(store.shelf.folder, clock=lambda: time.time() + 600)
            said.append((store.job(ANNE, id).message, later.job(ANNE, id).message))

    work(store, silent)
    assert said[0][0] == "" and "for 10 minutes" in said[0][1]


def test_a_job_that_takes_too_long_is_stopped_and_says_so(store):
    id = store.submit(ANNE, spec_of("long", steps=50), EXAMPLES)
    work(store, most_seconds=0.1)
    job = store.job(ANNE, id)
    assert job.state == "stopped" and "longer than" in job.message and job.can_resume
    done = job.last[0].step
    assert 1 <= done < 50
    store.resume(ANNE, id)
    work(store)
    assert store.job(ANNE, id).state == "done"
    assert [one.step.step for one in store.steps(ANNE, id)] == sorted({one.step.step for one in store.steps(ANNE, id)})


def test_a_job_deleted_while_it_runs_goes_at_the_next_step(store):
    id = store.submit(ANNE, spec_of("one"), EXAMPLES)

    def deleting(model, examples, *, recipe, folder):
        for step in count_steps(model, examples, recipe=recipe, folder=folder):
            if step.step == 2:
                store.delete(ANNE, id)
                assert store.jobs(ANNE) == ()
            yield step

    work(store, deleting)
    assert list((store.shelf.folder / "jobs").iterdir()) == []


def test_a_worker_that_is_told_to_end_leaves_the_job_in_line(store):
    id = store.submit(ANNE, spec_of("one"), EXAMPLES)

    def ended(model, examples, *, recipe, folder):
        for step in count_steps(model, examples, recipe=recipe, folder=folder):
            if step.step == 3:
                raise WorkerEnded
            yield step

    with pytest.raises(WorkerEnded):
        work(store, ended)
    assert store.job(ANNE, id).state == "waiting"
    work(store)
    assert store.job(ANNE, id).state == "done"


def test_a_full_disk_fails_the_job_with_the_reason_and_resume_goes_on(store, monkeypatch):
    id = store.submit(ANNE, spec_of("one"), EXAMPLES)
    ballast = store.shelf.folder / "jobs" / id / "ballast"
    assert ballast.stat().st_size > 0

    def full(model, examples, *, recipe, folder):
        for step in count_steps(model, examples, recipe=recipe, folder=folder):
            yield step
            if step.step == 3:
                monkeypatch.setattr(Path, "write_text", _until_there_is_room(Path.write_text, ballast))
                raise UnwritableFolder("Nothing more can be written (No space left on device): make room.")

    work(store, full)
    monkeypatch.undo()
    job = store.job(ANNE, id)
    assert job.state == "failed" and "No space left" in job.message and "Resume" in job.message
    assert [one.step.step for one in store.steps(ANNE, id)] == [1, 2, 3]
    store.resume(ANNE, id)
    work(store)
    assert store.job(ANNE, id).state == "done" and ballast.exists()


def _until_there_is_room(write, ballast):
    """A disk on which nothing can be written before the ballast has gone."""

    def write_text(path, *arguments, **options):
        if ballast.exists():
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(path, *arguments, **options)

    return write_text


def test_the_log_of_a_long_run_stays_short(store, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(desk_module.time, "monotonic", lambda: clock[0])
    id = store.submit(ANNE, spec_of("one"), EXAMPLES)
    shelf = Shelf(store.shelf.folder)
    desk = desk_module.Desk(shelf, "cpu")
    with shelf.changing():
        turn = desk.take()
    for number in range(5_000):  # an hour
        clock[0] += 0.72
        step = desk_module.TrainingStep("training", number, 5_000, 0.5, clock[0], 0.3)
        desk._charged_at = clock[0]  # counted elsewhere
        desk.log(turn, replace(step, held_out_loss=0.4) if number == 777 else step)
    steps = store.steps(ANNE, id)
    assert 500 < len(steps) < 1500
    assert any(one.step.held_out_loss == 0.4 for one in steps)
