"""Faults of the process that really trains: killed, with a full disk, without memory, with a loss that is no number."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from transformers import BertTokenizer

from explorer.settings import Settings
from explorer.training.jobs.results import JobSpec
from explorer.training.jobs.store import JobStore
from explorer.training.jobs.supervising import WorkerStarter
from explorer.training.tuning.examples import ExampleSet, LabelledText
from explorer.training.tuning.recipe import Recipe
from explorer.training.tuning.results import Run
from tests.analysis.tiny_models import WORDPIECES, tiny_bert
from tests.training.jobs.jobs_made import ANNE, BOB
from tests.training.tuning.tiny_examples import WORDS, example_set

ROOT = Path(__file__).parents[3]
WORKER = (sys.executable, "-m", "tests.training.jobs.hindered_worker", "--idle-seconds", "600")
MODEL = "kept/tiny"  # below the folder that the operator opened
PAGE = """
import sys, time
from pathlib import Path
from tests.training.jobs.test_real_worker import ANNE, asked, open_store, example_set
store = open_store(Path(sys.argv[1]), "--checkpoint-seconds", "0", "--hold-at-step", "100")
id = store.submit(ANNE, asked("full", epochs=50, batch_size=8), example_set())
while store.job(ANNE, id).state != "running":  # until its worker has the device, another page would start one, too
    time.sleep(0.05)
print(id, flush=True)
time.sleep(600)
"""
LONG = tuple(LabelledText(f"{' '.join(WORDS * 30)} {number}", ("animal", "royal")[number % 2]) for number in range(64))

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="sends signals, and reads /proc"),
]


def asked(*methods: str, **recipe) -> JobSpec:
    """A job with a run for each method."""
    runs = tuple(Run(Recipe(method=method, **recipe), 0, MODEL) for method in methods)
    return JobSpec("tiny", runs, "animals and royals")


def open_store(folder: Path, *hindrances: str) -> JobStore:
    """The jobs as a page opens them, with a worker that is hindered so."""
    return JobStore(folder, WorkerStarter(folder, "cpu", (*WORKER, *hindrances)), limits=Settings(most_waiting_jobs=9))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where jobs are; the worker finds a model of 0.2 MB to start from, and is ended with the test."""
    tokenizer = BertTokenizer(vocab={word: index for index, word in enumerate(WORDPIECES)})
    small = {"hidden_size": 48, "intermediate_size": 96, "num_attention_heads": 2, "max_position_embeddings": 512}
    for part in (tiny_bert(tokenizer, initializer_range=0.1, **small), tokenizer):
        part.save_pretrained(tmp_path / MODEL)
    monkeypatch.setenv("EXPLORER_LOCAL_MODELS", str(tmp_path))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    yield tmp_path / "jobs"
    if pid := worker_id(tmp_path / "jobs"):
        os.kill(pid, signal.SIGKILL)


def worker_id(folder: Path) -> int | None:
    """Of the process that works on a folder, whoever started it."""
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().split(b"\0")
        except OSError:  # ended meanwhile
            continue
        if b"tests.training.jobs.hindered_worker" in words and str(folder).encode() in words:
            return int(entry.parent.name)
    return None


def wait_for(store, condition, seconds=240.0):
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.05)
        store.look_after()
    return found


def is_whole(model: Path) -> bool:
    """Whether a model was written to its end."""
    return all(weight.isfinite().all() for weight in load_file(model / "model.safetensors").values())


def test_a_run_outlives_its_page_and_goes_on_from_its_checkpoint_when_its_process_was_killed(folder):
    page = subprocess.Popen([sys.executable, "-c", PAGE, str(folder)], cwd=ROOT, stdout=subprocess.PIPE, text=True,
                            env=os.environ | {"PYTHONPATH": str(ROOT)})  # fmt: skip
    id = page.stdout.readline().strip()
    page.send_signal(signal.SIGKILL)
    page.communicate()
    store = open_store(folder)  # the page after a restart
    job = folder / "jobs" / id
    wait_for(store, (job / "runs" / "0" / "checkpoint.pt").exists)
    wait_for(store, lambda: len(store.steps(ANNE, id)) > 2)
    assert store.job(ANNE, id).state == "running"
    os.kill(worker_id(folder), signal.SIGKILL)
    wait_for(store, lambda: store.job(ANNE, id).state == "failed")
    status = store.job(ANNE, id)
    assert "process was ended" in status.message and "Resume goes on" in status.message and status.can_resume
    saved = torch.load(job / "runs" / "0" / "checkpoint.pt", weights_only=True)["step"]
    before = [one.step for one in store.steps(ANNE, id) if one.step.step <= saved]
    assert before
    store.resume(ANNE, id)
    wait_for(store, lambda: store.job(ANNE, id).state == "done")
    steps = [one.step for one in store.steps(ANNE, id)]
    assert steps[: len(before)] == before  # which were not taken again
    numbers = [step.step for step in steps if step.phase == "training"]
    assert numbers == sorted(set(numbers)) and numbers[-1] == 300 == steps[-1].steps
    assert is_whole(store.model_folder(id, 0))


def test_on_a_full_disk_what_was_saved_stays_and_the_run_goes_on_when_there_is_room(folder):
    store = open_store(folder, "--checkpoint-seconds", "0.2", "--largest-file", "400000")
    id = store.submit(ANNE, asked("frozen", "full", epochs=50), example_set())
    wait_for(store, lambda: store.job(ANNE, id).state == "failed")
    status = store.job(ANNE, id)
    assert "Nothing more can be written" in status.message and "make room there" in status.message
    assert set(status.outcomes) == {0} and is_whole(store.model_folder(id, 0))
    assert not (folder / "jobs" / id / "runs" / "1" / "checkpoint.pt").exists()
    os.kill(worker_id(folder), signal.SIGTERM)
    wait_for(store, lambda: worker_id(folder) is None)
    store = open_store(folder)
    store.resume(ANNE, id)
    wait_for(store, lambda: store.job(ANNE, id).state == "done")
    assert is_whole(store.model_folder(id, 0)) and is_whole(store.model_folder(id, 1))


def test_a_loss_that_is_no_number_and_memory_that_cannot_be_had_end_their_jobs_with_the_reason(folder):
    store = open_store(folder, "--more-memory", str(500 * 2**20), "--wild-rate", "1")
    wild = store.submit(ANNE, asked("full", learning_rate=1), example_set())
    large = store.submit(
        ANNE, asked("full", batch_size=64, length_tokens=512), ExampleSet("long", "classification", LONG)
    )
    after = store.submit(BOB, asked("full"), example_set())
    wait_for(store, lambda: all(store.job(owner, id).state in ("done", "failed")
                                for owner, id in ((ANNE, wild), (ANNE, large), (BOB, after))))  # fmt: skip
    assert "no longer a number" in store.job(ANNE, wild).message
    assert "memory is too small" in store.job(ANNE, large).message and "LoRA" in store.job(ANNE, large).message
    assert store.job(BOB, after).state == "done" and is_whole(store.model_folder(after, 0))
    assert not list((folder / "jobs" / wild / "runs").rglob("checkpoint.pt"))  # nobody can go on from there
