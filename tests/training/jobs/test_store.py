"""The visitors' side of jobs: what is kept, who sees it, and who is refused."""

from dataclasses import replace

import pytest

from explorer.errors import JobRefused, UnknownJob
from explorer.settings import Settings
from explorer.training.jobs.records import append_step, read_examples, read_steps
from explorer.training.jobs.results import LoggedStep
from explorer.training.jobs.store import JobStore
from explorer.training.tuning.examples import AnsweredQuestion, ExampleSet, PlainText, ScoredPair, TaggedWords
from explorer.training.tuning.results import TrainingStep
from tests.training.jobs.jobs_made import ANNE, BOB, CARLA, EXAMPLES, spec_of

STEP = TrainingStep("training", 1, 9, 0.1, 2.0, 0.7)


@pytest.fixture
def store(tmp_path):
    return JobStore(tmp_path / "jobs", limits=Settings(most_waiting_jobs=2, most_jobs=3))


def test_a_job_is_found_again_by_another_process(store):
    spec = spec_of("  My\n job ", "second")
    id = store.submit(ANNE, spec, EXAMPLES)
    (found,) = JobStore(store.shelf.folder).jobs(ANNE)
    assert (found.id, found.state, found.place) == (id, "waiting", 1)
    assert found.spec == replace(spec, title="My job")
    assert store.examples(ANNE, id) == EXAMPLES
    assert store.steps(ANNE, id) == ()


def test_the_disk_does_not_hold_the_token(store):
    store.submit(ANNE, spec_of("one"), EXAMPLES)
    for file in store.shelf.folder.rglob("*"):
        assert ANNE not in file.name
        assert not file.is_file() or ANNE.encode() not in file.read_bytes()


def test_nobody_sees_or_touches_the_jobs_of_others(store):
    id = store.submit(ANNE, spec_of("one"), EXAMPLES)
    assert store.jobs(BOB) == ()
    for act in (store.job, store.steps, store.stop, store.resume, store.delete, store.examples):
        with pytest.raises(UnknownJob):
            act(BOB, id)
    assert store.job(ANNE, id).state == "waiting"


@pytest.mark.parametrize("token", ["", "short", "x" * 1000])
def test_a_token_that_can_be_guessed_is_refused(store, token):
    with pytest.raises(UnknownJob, match="random characters"):
        store.submit(token, spec_of("one"), EXAMPLES)


@pytest.mark.parametrize("id", ["", "..", "../../etc", "0" * 12])
def test_an_id_that_is_none_is_unknown(store, id):
    with pytest.raises(UnknownJob):
        store.job(ANNE, id)
    with pytest.raises(UnknownJob):
        store.model_folder(id, 0)


def test_a_job_that_waits_is_stopped_resumed_and_deleted(store):
    id = store.submit(ANNE, spec_of("one"), EXAMPLES)
    store.stop(ANNE, id)
    stopped = store.job(ANNE, id)
    assert (stopped.state, stopped.place, stopped.can_resume) == ("stopped", 0, True)
    assert stopped.ended_at >= stopped.created_at
    store.resume(ANNE, id)
    assert store.job(ANNE, id).state == "waiting"
    store.delete(ANNE, id)
    assert store.jobs(ANNE) == ()
    assert list((store.shelf.folder / "jobs").iterdir()) == []


def test_quotas_refuse_with_what_to_do(store):
    first = store.submit(ANNE, spec_of("one"), EXAMPLES)
    store.submit(ANNE, spec_of("two"), EXAMPLES)
    with pytest.raises(JobRefused, match="wait or run already"):
        store.submit(ANNE, spec_of("three"), EXAMPLES)
    store.submit(BOB, spec_of("his"), EXAMPLES)  # others are not held up
    store.stop(ANNE, first)
    third = store.submit(ANNE, spec_of("three"), EXAMPLES)
    with pytest.raises(JobRefused, match="wait or run already"):
        store.resume(ANNE, first)
    store.stop(ANNE, third)
    with pytest.raises(JobRefused, match="Delete one first"):
        store.submit(ANNE, spec_of("four"), EXAMPLES)
    store.delete(ANNE, first)
    store.submit(ANNE, spec_of("four"), EXAMPLES)


def test_the_line_of_all_is_bounded_and_everybody_gets_a_place_before_anybody_gets_more(tmp_path):
    store = JobStore(tmp_path, limits=Settings(most_jobs_in_line=1))
    store.submit(ANNE, spec_of("one"), EXAMPLES)
    with pytest.raises(JobRefused, match="in line already"):
        store.submit(ANNE, spec_of("two"), EXAMPLES)
    store.submit(BOB, spec_of("his"), EXAMPLES)
    with pytest.raises(JobRefused, match="in line already"):
        store.submit(CARLA, spec_of("hers"), EXAMPLES)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"method": "magic"}, "no method"),
        ({"task": "magic"}, "no task"),
        ({"epochs": float("nan")}, "epochs"),
        ({"epochs": 1e9}, "epochs"),
        ({"batch_size": 0}, "batch_size"),
        ({"length_tokens": 10**9}, "length_tokens"),
        ({"learning_rate": -1.0}, "learning_rate"),
        ({"prefix": "ask " * 100}, "prefix"),
    ],
)
def test_a_recipe_that_no_run_can_follow_is_refused(store, changes, says):
    spec = spec_of("one")
    run = replace(spec.runs[0], recipe=replace(spec.runs[0].recipe, **changes))
    with pytest.raises(JobRefused, match=says):
        store.submit(ANNE, replace(spec, runs=(run,)), EXAMPLES)


def test_too_many_runs_or_examples_are_refused_and_leave_nothing(tmp_path):
    store = JobStore(tmp_path, limits=Settings(most_runs=1, most_examples=3, largest_examples_mib=0.001))
    with pytest.raises(JobRefused, match="1 to 1 runs"):
        store.submit(ANNE, spec_of("a", "b"), EXAMPLES)
    with pytest.raises(JobRefused, match="at most 3"):
        store.submit(ANNE, spec_of("a"), EXAMPLES)
    with pytest.raises(JobRefused, match="Paste or choose"):
        store.submit(ANNE, spec_of("a"), ExampleSet("none", "classification", ()))
    with pytest.raises(JobRefused, match="MiB"):
        store.submit(ANNE, spec_of("a"), ExampleSet("long", "masked", (PlainText("x" * 5000),)))
    assert not list((tmp_path / "jobs").iterdir())


def test_old_jobs_leave_when_room_is_short_and_young_ones_stay(tmp_path):
    day, times = 86_400.0, [1e9]
    limits = Settings(jobs_room_gib=0.00015, jobs_kept_days=10)  # of the ballast of two jobs
    store = JobStore(tmp_path, limits=limits, clock=lambda: times[0])
    old = store.submit(ANNE, spec_of("old"), EXAMPLES)
    store.stop(ANNE, old)
    times[0] += 2 * day
    young = store.submit(BOB, spec_of("young"), EXAMPLES)
    store.stop(BOB, young)
    kept = JobStore(tmp_path, limits=replace(limits, jobs_room_gib=0.0001), clock=lambda: times[0])
    third = kept.submit(BOB, spec_of("third"), EXAMPLES)
    assert kept.jobs(ANNE) == ()
    assert {job.id for job in kept.jobs(BOB)} == {young, third}
    full = JobStore(tmp_path, limits=replace(limits, jobs_room_gib=0.00001), clock=lambda: times[0])
    with pytest.raises(JobRefused, match="disk"):
        full.submit(BOB, spec_of("fourth"), EXAMPLES)
    times[0] += 11 * day
    store.submit(ANNE, spec_of("fifth"), EXAMPLES)
    assert {job.id for job in kept.jobs(BOB)} == {third}  # which still waits


def test_a_clock_that_goes_backwards_keeps_the_order(tmp_path):
    times = [2e9]
    store = JobStore(tmp_path, clock=lambda: times[0])
    first = store.submit(ANNE, spec_of("first"), EXAMPLES)
    times[0] = 1e9
    second = store.submit(ANNE, spec_of("second"), EXAMPLES)
    assert [(job.id, job.place) for job in store.jobs(ANNE)] == [(second, 2), (first, 1)]
    store.stop(ANNE, first)
    assert store.job(ANNE, first).ended_at >= store.job(ANNE, first).created_at


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"spec": 1}', b"\xff\xfe\x00"])
def test_a_damaged_job_is_said_and_harms_no_other(store, content):
    bad = store.submit(ANNE, spec_of("bad"), EXAMPLES)
    good = store.submit(ANNE, spec_of("good"), EXAMPLES)
    folder = store.shelf.folder / "jobs" / bad
    (folder / "job.json").write_bytes(content)
    store = JobStore(store.shelf.folder)
    states = {job.id: job for job in JobStore(store.shelf.folder).jobs(ANNE)}
    assert states[good].state == "waiting" and states[good].place == 1
    assert states[bad].state == "failed" and "damaged" in states[bad].message and not states[bad].can_resume
    store.delete(ANNE, bad)
    assert [job.id for job in store.jobs(ANNE)] == [good]


def test_a_damaged_state_can_be_resumed(store):
    id = store.submit(ANNE, spec_of("one"), EXAMPLES)
    (store.shelf.folder / "jobs" / id / "state.json").write_bytes(b"{")
    store = JobStore(store.shelf.folder)
    assert store.job(ANNE, id).state == "failed"
    store.resume(ANNE, id)
    assert store.job(ANNE, id).state == "waiting"


def test_what_another_process_changes_is_seen_and_many_jobs_are_looked_at_quickly(store, monkeypatch):
    id = store.submit(ANNE, spec_of("one"), EXAMPLES)
    monkeypatch.setattr("explorer.training.jobs.shelf.TICK_NS", -1)  # as if it had been some time ago
    store.jobs(ANNE)
    read = []
    monkeypatch.setattr(store.shelf, "_read_job", lambda place: read.append(place))
    assert store.job(ANNE, id).state == "waiting" and not read
    monkeypatch.undo()
    JobStore(store.shelf.folder).stop(ANNE, id)
    assert store.job(ANNE, id).state == "stopped"


def test_damaged_examples_are_said(store):
    id = store.submit(ANNE, spec_of("one"), EXAMPLES)
    (store.shelf.folder / "jobs" / id / "examples.json").write_bytes(b'{"train": [["os", 1]]}')
    with pytest.raises(UnknownJob, match="damaged"):
        store.examples(ANNE, id)


def test_examples_of_every_kind_come_back_as_they_were(store):
    parts = (
        TaggedWords(("Anne", "sings"), ("B-PER", "O")),
        AnsweredQuestion("Who?", "Anne sings.", "Anne", 0),
        ScoredPair("a", "b", 0.5),
        PlainText("<b>עברית</b> \ud800"),
    )
    mixed = ExampleSet("mixed", "tagging", parts, parts[:1])
    id = store.submit(ANNE, spec_of("one"), mixed)
    assert read_examples(store.shelf.folder / "jobs" / id / "examples.json") == mixed


def test_a_torn_line_of_the_log_is_left_out_and_mended(tmp_path):
    log = tmp_path / "steps.jsonl"
    append_step(log, LoggedStep(0, STEP))
    whole = log.read_bytes()
    log.write_bytes(whole + whole[: len(whole) // 2])
    assert read_steps(log) == (LoggedStep(0, STEP),)
    append_step(log, LoggedStep(1, STEP))
    assert read_steps(log) == (LoggedStep(0, STEP), LoggedStep(1, STEP))
    log.write_bytes(b"not json\n" + log.read_bytes())
    assert len(read_steps(log)) == 2
