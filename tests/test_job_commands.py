"""`explorer jobs`."""

import json

import pytest

from explorer.cli import main
from explorer.settings import settings
from explorer.training.jobs.store import JobStore
from explorer.training.jobs.supervising import WorkerStarter
from tests.training.jobs.jobs_made import ANNE, BOB, EXAMPLES, spec_of


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("EXPLORER_JOBS_FOLDER", str(tmp_path / "jobs"))
    monkeypatch.setattr(WorkerStarter, "__call__", lambda self: None)
    settings.cache_clear()
    yield JobStore(tmp_path / "jobs")
    settings.cache_clear()


def run(capsys, *arguments) -> tuple[int, str]:
    with pytest.raises(SystemExit) as ended:
        main(["jobs", *arguments])
    said = capsys.readouterr()
    return ended.value.code or 0, said.out + said.err


def test_the_operator_lists_stops_resumes_and_deletes_the_jobs_of_all(store, capsys):
    assert run(capsys) == (0, "There are no jobs.\n")
    first = store.submit(ANNE, spec_of("Films", "twice"), EXAMPLES)
    store.submit(BOB, spec_of("Trains"), EXAMPLES)
    code, said = run(capsys, "stop", first)
    assert code == 0 and f"{first}  Films: stopped, 0 of 2 runs done" in said
    assert "Trains: waiting, place 1, 0 of 1 run done" in said
    assert "Films: waiting, place 2" in run(capsys, "resume", first)[1]
    listed = json.loads(run(capsys, "delete", first, "--json")[1])
    assert [job["spec"]["title"] for job in listed] == ["Trains"]


def test_a_job_that_is_not_there_or_not_named_says_so(store, capsys):
    code, said = run(capsys, "stop")
    assert code == 1 and "by its id" in said
    code, said = run(capsys, "stop", "0" * 12)
    assert code == 1 and "no such job" in said
