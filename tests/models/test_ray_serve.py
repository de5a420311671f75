"""The same promises on a real Ray Serve cluster of this machine: about half a minute to start, so marked slow."""

import os
import pickle
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from pathlib import Path

import numpy as np
import pytest

ray = pytest.importorskip("ray", reason="needs the extra 'ray': pip install -e '.[ray]'")

from ray import serve  # noqa: E402

from explorer.errors import ModelUnavailable, TooBusy, UnsuitableText  # noqa: E402
from explorer.models.backend import LoadedModel  # noqa: E402
from explorer.models.batching import Row, masked_logits  # noqa: E402
from explorer.models.local import LocalBackend  # noqa: E402
from explorer.models.ray_host import ModelHost  # noqa: E402
from explorer.models.ray_serve import RayServeBackend, _together  # noqa: E402
from explorer.models.registry import Registry  # noqa: E402
from explorer.models.status import ModelStatus  # noqa: E402
from explorer.settings import Settings  # noqa: E402
from tests.models.ray_cluster import MISSING, cluster, make_model  # noqa: E402
from tests.models.tiny_loader import BYTES, A, B, C, wait_until  # noqa: E402

pytestmark = pytest.mark.slow

ROWS = (Row((5, 6, 7), (1,)), Row((8, 9), (0, 1)))


@pytest.fixture(scope="module")
def backend():
    with cluster(__name__) as backend:
        yield backend


def numbers(model: LoadedModel, rows: tuple[Row, ...]) -> list:
    return [logits.numpy() for logits in masked_logits(model, rows)]


def where(model: LoadedModel) -> tuple[str, int]:
    return model.card.name, os.getpid()


def count(model: LoadedModel, end: int, seconds: float = 0.0):
    for number in range(end):
        time.sleep(seconds)
        yield number


def count_when_told(model: LoadedModel, folder: Path, end: int):
    """A number, and the next once a file called so is in the folder."""
    for number in range(end):
        yield number
        wait_until((folder / str(number)).exists)


def stay(model: LoadedModel, folder: Path) -> None:
    (folder / "begun").touch()
    wait_until((folder / "enough").exists, seconds=60)


def test_the_analysis_travels_and_its_result_returns(backend):
    name, process = backend.run(A, where)
    assert name == "A" and process != os.getpid()


def test_the_result_is_that_of_a_local_backend(backend):
    local = LocalBackend(make_model, settings=Settings(device="cpu", idle_minutes=0.0))
    analysis = partial(numbers, rows=ROWS)
    for there, here in zip(backend.run(A, analysis), local.run(A, analysis), strict=True):
        np.testing.assert_allclose(there, here, atol=1e-6)


def test_errors_for_the_visitor_come_back_as_themselves(backend):
    with pytest.raises(UnsuitableText, match="^The text has 11 tokens, and this model reads at most 10") as caught:
        backend.run(A, partial(numbers, rows=(Row((5,) * 11, (0,)),)))
    assert type(caught.value) is UnsuitableText
    assert type(pickle.loads(pickle.dumps(caught.value))) is UnsuitableText
    with pytest.raises(ModelUnavailable, match="^It cannot be had.$"):
        backend.run(MISSING, where)


def test_a_fault_stays_a_fault(backend):
    with pytest.raises(ZeroDivisionError):
        backend.run(A, lambda model: 1 / 0)


def test_steps_arrive_while_the_analysis_works(backend, tmp_path):
    seen = []
    for step in backend.stream(A, partial(count_when_told, folder=tmp_path, end=5)):
        seen.append(step)
        (tmp_path / str(step)).touch()
    assert seen == [0, 1, 2, 3, 4]


def test_an_error_in_the_middle_of_a_stream_comes_after_its_steps(backend):
    def fail_late(model: LoadedModel):
        yield 1
        raise UnsuitableText("Nothing follows.")

    steps = backend.stream(A, fail_late)
    assert next(steps) == 1
    with pytest.raises(UnsuitableText, match="^Nothing follows.$"):
        next(steps)
    wait_until(lambda: backend.status()[A].users == 0)


@pytest.mark.parametrize("seconds", [0.0, 0.3], ids=["between steps", "during a step"])
def test_a_stream_that_is_left_lets_its_model_go(backend, seconds):
    steps = backend.stream(A, partial(count, end=1000, seconds=seconds))
    next(steps)
    assert backend.status()[A].users == 1
    steps.close()
    wait_until(lambda: backend.status()[A].users == 0)


def test_models_are_loaded_unloaded_and_evicted_by_bytes_there(backend):
    for card in (A, B, C):
        backend.load(card)
    assert [status.state for status in backend.status().values()] == ["ready", "ready"]
    assert set(backend.status()) == {B, C}
    budget = backend.budget()
    assert (budget.device, budget.used_bytes) == ("cpu", 2 * BYTES)
    assert budget.limit_bytes == pytest.approx(2.5 * BYTES, abs=1)
    backend.unload(B)
    assert set(backend.status()) == {C}


def test_a_model_in_use_is_not_unloaded(backend):
    steps = backend.stream(C, partial(count, end=1000, seconds=0.1))
    next(steps)
    with pytest.raises(TooBusy, match="C stays in memory"):
        backend.unload(C)
    steps.close()


def test_a_registry_needs_to_know_nothing_of_it(backend):
    registry = Registry([A, B], lambda: backend)
    assert registry.run("B", where)[0] == "B"
    assert list(registry.stream("B", partial(count, end=3))) == [0, 1, 2]
    assert {status.name: status.state for status in registry.status()}["B"] == "ready"


def test_thirty_callers_at_once_get_their_own_answers(backend):
    alone = [backend.run(A, partial(numbers, rows=(Row((5, number), (1,)),)))[0] for number in range(30)]
    with ThreadPoolExecutor(30) as pool:
        asked = [pool.submit(backend.run, A, partial(numbers, rows=(Row((5, n), (1,)),))) for n in range(30)]
        for answer, expected in zip(asked, alone, strict=True):
            np.testing.assert_allclose(answer.result()[0], expected, atol=1e-5)


def test_a_cluster_that_is_full_is_too_busy(backend, tmp_path):
    host = ModelHost.options(
        name="small", max_ongoing_requests=1, max_queued_requests=1, ray_actor_options={"num_cpus": 1}
    )
    serve.run(host.bind(make_model, Settings(device="cpu", idle_minutes=0.0)), name="small", route_prefix=None)
    small, hurried = RayServeBackend("small"), RayServeBackend("small", wait_seconds=0.5)
    small.load(A)
    assert A in small.status()
    with ThreadPoolExecutor(8) as pool:
        try:
            asked = [pool.submit(small.run, A, partial(stay, folder=tmp_path))]
            wait_until((tmp_path / "begun").exists)
            assert A in small.status()  # it cannot answer now
            with pytest.raises(TooBusy, match="had no time for this"):
                hurried.run(A, where)
            asked += [pool.submit(small.run, A, partial(stay, folder=tmp_path)) for _ in range(7)]
            first = next(as_completed(asked, timeout=20))  # all that have room stay
            assert isinstance(first.exception(), TooBusy)
        finally:
            (tmp_path / "enough").touch()
        errors = [answer.exception() for answer in asked]
    assert {type(error) for error in errors} == {type(None), TooBusy}
    serve.delete("small")


def test_two_replicas_are_shown_together():
    here = ModelStatus("A", "ready", "cuda", weights_bytes=100, users=2, idle_seconds=0.0)
    there = ModelStatus("A", "loading", "cuda", weights_bytes=90, progress=0.5, users=1)
    assert _together([there, here]) == ModelStatus("A", "ready", "cuda ×2", weights_bytes=190, users=3)
    assert _together([here]) == here


def test_an_application_that_does_not_run_is_named(backend):
    with pytest.raises(ModelUnavailable, match="'nothing'.*python -m explorer.models.ray_serve --application nothing"):
        RayServeBackend("nothing")
