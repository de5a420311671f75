"""A tuned model as it is downloaded runs without this package, also where its base is only had from us."""

import csv
import io
import os
import shutil
import subprocess
import sys
import zipfile
from functools import partial

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from explorer.errors import UnknownJob
from explorer.tabs.fine_tune.download import download_address, download_route
from explorer.training.jobs.naming import find_start, tuned_name
from explorer.training.jobs.records import write_record
from explorer.training.jobs.results import JobSpec
from explorer.training.jobs.store import JobStore
from explorer.training.tuning.bases import find_base
from explorer.training.tuning.examples import ExampleSet, LabelledText
from explorer.training.tuning.fine_tuning import fine_tune
from explorer.training.tuning.recipe import Recipe
from explorer.training.tuning.results import Run
from tests.conftest import SHIPPED

ANNE = "token-of-anne-0123456789"
EXAMPLES = ExampleSet(
    "films",
    "classification",
    tuple(LabelledText(f"A {word} film.", label) for label, words in (
        ("good", ("lovely", "great", "wonderful", "fine")), ("bad", ("dull", "poor", "terrible", "boring"))
    ) for word in words),
    (LabelledText("A good film.", "good"), LabelledText("A bad film.", "bad")),
)  # fmt: skip
WITHOUT_US = """
import runpy, sys
sys.modules["explorer"] = None  # to import it is an error
sys.argv = ["recipe.py"]
runpy.run_path("recipe.py", run_name="__main__")
"""


def tuned(store: JobStore, registry, model: str, method: str) -> str:
    """A job that is done; returns its id."""
    spec = JobSpec("My films", (Run(Recipe(method=method, epochs=0.01), 0, model),), "films")
    id = store.submit(ANNE, spec, EXAMPLES)
    place = store.shelf.find(id).place
    found, name = find_start(registry, store.shelf, model)
    work = partial(fine_tune, examples=EXAMPLES, recipe=spec.runs[0].recipe, folder=place.run(0))
    *_, last = found.stream(name, work)
    write_record(place.outcome(0), last.outcome)
    return id


@pytest.fixture
def store(tmp_path):
    return JobStore(tmp_path / "jobs")


@pytest.fixture
def take(shipped_registry, store, tmp_path):
    """Download the model of a job, and unpack it; returns its folder."""
    client = TestClient(Starlette(routes=[download_route(shipped_registry, store)]))

    def take(id: str):
        answer = client.get("/" + download_address(id, 0))
        assert answer.status_code == 200 and f"tuned-{id}-0.zip" in answer.headers["content-disposition"]
        zipfile.ZipFile(io.BytesIO(answer.content)).extractall(tmp_path / "taken")
        return tmp_path / "taken" / f"tuned-{id}-0"

    yield take
    assert client.get("/tuned/0123456789ab/0.zip").status_code == 404
    assert client.get("/tuned/..%2f..%2fetc/0.zip").status_code == 404


def run_recipe(folder) -> str:
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    ran = subprocess.run(
        [sys.executable, "-I", "-c", WITHOUT_US],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_a_base_that_only_we_have_goes_along(take, store, shipped_registry):
    id = tuned(store, shipped_registry, SHIPPED, "frozen")
    folder = take(id)
    assert run_recipe(folder).splitlines()[-1].startswith("accuracy ")
    assert "`base`, where it is there" in (folder / "README.md").read_text()
    with (folder / "examples.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 10
    [kept] = (store.shelf.folder / "bases").iterdir()
    written = (kept / "model.safetensors").stat().st_mtime_ns
    assert take(id) == folder and (kept / "model.safetensors").stat().st_mtime_ns == written, "it is kept once"


@pytest.mark.slow
def test_so_does_a_tuned_base_without_its_examples_until_it_is_deleted(take, store, shipped_registry):
    first = tuned(store, shipped_registry, "all-MiniLM-L6-v2", "full")
    assert not (take(first) / "base").exists(), "this one is on the Hub"
    name = tuned_name(first, store.shelf.find(first).asked.spec, 0)
    second = tuned(store, shipped_registry, name, "frozen")
    folder = take(second)
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= {path.name for path in (folder / "base").iterdir()}
    assert not (folder / "base" / "examples.csv").exists()
    assert (folder / "base" / "model.safetensors").read_bytes() == (
        store.model_folder(first, 0) / "model.safetensors"
    ).read_bytes()
    store.delete(ANNE, first)
    with pytest.raises(UnknownJob):
        find_base(store.model_folder(second, 0), partial(find_start, shipped_registry, store.shelf), store.shelf.folder)
    shutil.rmtree(folder)
    assert not (take(second) / "base").exists()


@pytest.mark.slow
def test_random_weights_need_no_base(take, store, shipped_registry):
    folder = take(tuned(store, shipped_registry, SHIPPED, "scratch"))
    assert not (folder / "base").exists() and not (store.shelf.folder / "bases").exists()
