"""What the local backend does when memory runs out, with turns, and with streams."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from threading import Barrier, Event, Lock, Thread, current_thread

import pytest
import torch

from explorer.errors import ModelUnavailable, NobodyWaits, OutOfMemory, TooBusy
from explorer.models.backend import LoadedModel
from explorer.models.callers import Caller, calling
from explorer.models.local import LocalBackend
from explorer.settings import Settings
from tests.models.tiny_loader import CARD, PARAMETERS, A, B, Loader, backend_of, name_of


@pytest.fixture
def loader() -> Loader:
    return Loader()


def fails_first(times: int, error: Exception):
    left = [error] * times

    def analysis(model: LoadedModel) -> str:
        if left:
            raise left.pop()
        return model.card.name

    return analysis


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory."),
        RuntimeError("[enforce fail] DefaultCPUAllocator: not enough memory: you tried to allocate 8 bytes."),
        MemoryError(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_out_of_memory_unloads_the_others_and_tries_once_more(loader, error):
    backend = backend_of(loader, models=3)
    backend.load(B)
    assert backend.run(A, fails_first(1, error)) == "A"
    assert list(backend.status()) == [A]
    assert loader.alive == 1


def test_out_of_memory_twice_says_what_to_choose_instead(loader):
    small = replace(CARD, name="Small", parameters=PARAMETERS // 2)
    backend = backend_of(loader, cards=(small,))
    with pytest.raises(OutOfMemory, match=r"memory of cpu is too small for A .* Shorten the text, or .* e.g. Small \("):
        backend.run(A, fails_first(2, torch.OutOfMemoryError()))
    assert backend.run(A, name_of) == "A"


def test_out_of_memory_while_loading_is_tried_once_more(loader):
    backend = backend_of(loader, models=3)
    backend.load(B)
    loader.failures.append(torch.OutOfMemoryError())
    assert backend.run(A, name_of) == "A"
    assert loader.names == ["B", "A", "A"]
    assert list(backend.status()) == [A]


def test_a_model_in_use_outlives_the_shortage_of_another(loader):
    backend = backend_of(loader, models=3)
    steps = backend.stream(B, lambda model: iter([1, 2]))
    next(steps)
    assert backend.run(A, fails_first(1, torch.OutOfMemoryError())) == "A"
    assert next(steps) == 2
    assert set(backend.status()) == {A, B}


def test_other_faults_are_not_tried_again(loader):
    backend = backend_of(loader)
    analysis = fails_first(1, RuntimeError("shapes do not match"))
    with pytest.raises(RuntimeError, match="shapes do not match"):
        backend.run(A, analysis)
    assert backend.status()[A].users == 0
    assert analysis(LoadedModel(A, None, None, 1, 1)) == "A"  # it had run only once


def test_no_more_analyses_at_work_than_allowed(loader):
    backend = backend_of(loader, analyses_at_once=3)
    at_work, most, lock, three_at_work = set(), [], Lock(), Barrier(3)

    def analysis(model: LoadedModel) -> None:
        with lock:
            at_work.add(current_thread())
            most.append(len(at_work))
        three_at_work.wait(timeout=10)
        with lock:
            at_work.discard(current_thread())

    with ThreadPoolExecutor(12) as pool:
        for visit in [pool.submit(backend.run, A, analysis) for _ in range(12)]:
            visit.result()
    assert max(most) == 3


def test_who_waits_too_long_for_a_turn_is_told(loader):
    backend = backend_of(loader, analyses_at_once=1, longest_wait_seconds=0.05)
    both_here = Barrier(2)
    release = Event()
    thread = Thread(target=backend.run, args=(A, lambda model: both_here.wait() and 0 or release.wait(timeout=30)))
    thread.start()
    both_here.wait()
    with pytest.raises(TooBusy, match="Too many analyses"):
        backend.run(A, name_of)
    release.set()
    thread.join()
    assert backend.run(A, name_of) == "A"


def count_up(model: LoadedModel, end: int, closed: list) -> Iterator[tuple[int, bool]]:
    try:
        for number in range(end):
            yield number, torch.is_inference_mode_enabled()
    finally:
        closed.append(True)


def test_a_stream_yields_its_steps_in_inference_mode_and_leaves_the_thread_as_it_was(loader):
    backend = backend_of(loader)
    closed = []
    for number, (step, is_inference) in enumerate(backend.stream(A, partial(count_up, end=3, closed=closed))):
        assert (step, is_inference) == (number, True)
        assert not torch.is_inference_mode_enabled()
    assert number == 2 and closed == [True]
    assert backend.status()[A].users == 0


def test_a_stream_holds_its_model_but_no_turn_between_steps(loader):
    backend = backend_of(loader, analyses_at_once=1, longest_wait_seconds=0.05)
    steps = backend.stream(A, partial(count_up, end=3, closed=[]))
    next(steps)
    assert backend.status()[A].users == 1
    assert backend.run(B, name_of) == "B"


@pytest.mark.parametrize("leave", [lambda steps: steps.close(), lambda steps: None], ids=["closed", "abandoned"])
def test_a_stream_that_is_left_lets_its_model_go(loader, leave):
    backend = backend_of(loader)
    closed = []
    steps = backend.stream(A, partial(count_up, end=3, closed=closed))
    next(steps)
    leave(steps)
    del steps
    assert closed == [True]
    assert backend.status()[A].users == 0


def test_a_stream_that_was_never_begun_holds_nothing(loader):
    backend = backend_of(loader)
    backend.stream(A, partial(count_up, end=3, closed=[]))
    assert backend.status() == {}


def test_a_stream_starts_again_only_while_nothing_has_been_seen(loader):
    backend = backend_of(loader)
    failures = [torch.OutOfMemoryError()]

    def late(model: LoadedModel) -> Iterator[int]:
        if failures:
            raise failures.pop()
        yield 1
        raise torch.OutOfMemoryError

    steps = backend.stream(A, late)
    assert next(steps) == 1
    with pytest.raises(OutOfMemory, match="Shorten the text"):
        next(steps)
    assert backend.status()[A].users == 0


def test_an_analysis_runs_in_inference_mode(loader):
    assert backend_of(loader).run(A, lambda model: torch.is_inference_mode_enabled())
    assert not torch.is_inference_mode_enabled()


def test_half_of_the_memory_is_the_budget_where_none_is_set(loader):
    budget = LocalBackend(loader, settings=Settings(device="cpu")).budget()
    assert budget.limit_bytes == budget.device_bytes // 2
    assert (budget.device, budget.used_bytes) == ("cpu", 0)


def test_nothing_is_downloaded_for_a_question_that_is_over(loader):
    backend = backend_of(loader)
    with calling(Caller("gone", lambda: False)), pytest.raises(ModelUnavailable, match="stopped"):
        backend.run(A, name_of)
    assert backend.run(A, name_of) == "A"


def test_who_has_left_takes_no_turn(loader):
    backend = backend_of(loader)
    backend.load(A)
    with calling(Caller("gone", lambda: False)), pytest.raises(NobodyWaits):
        backend.run(A, name_of)
    with calling(Caller("here")):
        assert backend.run(A, name_of) == "A"
