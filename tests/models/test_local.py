"""What the local backend promises, whatever the model. Tiny real networks; their cards say their real size."""

import time
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from threading import Barrier, Event, Lock, Thread, current_thread

import pytest
import torch
from transformers import BertConfig, BertForMaskedLM

from explorer.errors import ModelUnavailable, OutOfMemory, TooBusy
from explorer.models.backend import LoadedModel
from explorer.models.batching import Row, masked_logits
from explorer.models.card import Ability, LocalFolder, ModelCard
from explorer.models.local import LocalBackend
from explorer.models.memory import measure_weights_bytes
from explorer.models.progress import Progress
from explorer.settings import GIB, Settings

TINY = BertConfig(vocab_size=50, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16)
PARAMETERS = BertForMaskedLM(TINY).num_parameters()
BYTES = measure_weights_bytes(BertForMaskedLM(TINY))
CARD = ModelCard(
    name="A",
    source=LocalFolder("nowhere"),
    model_type="bert",
    abilities=frozenset({Ability.FILL_BLANKS}),
    special="",
    licence="",
    paper="",
    paper_url="",
    parameters=PARAMETERS,
)
A, B, C, D = (replace(CARD, name=name) for name in "ABCD")


class Loader:
    """Makes tiny networks, remembers which, and can be held, or made to fail."""

    def __init__(self) -> None:
        self.names = []
        self.networks = []
        self.gate = Event()
        self.gate.set()
        self.failures = []
        self._lock = Lock()

    def __call__(self, card: ModelCard, *, device: str, progress) -> LoadedModel:
        with self._lock:
            self.names.append(card.name)
        progress(Progress(BYTES // 2, BYTES, "downloading"))
        assert self.gate.wait(timeout=30)
        if self.failures:
            raise self.failures.pop(0)
        network = BertForMaskedLM(TINY).eval().to(device)
        self.networks.append(weakref.ref(network))
        return LoadedModel(card, None, network, limit_tokens=64, weights_bytes=measure_weights_bytes(network))

    @property
    def alive(self) -> int:
        """How many of its networks still exist, without any help of the garbage collector."""
        return sum(network() is not None for network in self.networks)


@pytest.fixture
def loader() -> Loader:
    return Loader()


def backend_of(loader, models: float = 2, clock=time.monotonic, cards=(), **limits) -> LocalBackend:
    """A backend on the CPU with room for that many tiny models."""
    limits = {"device": "cpu", "idle_minutes": 0.0, "longest_wait_seconds": 10.0} | limits
    return LocalBackend(
        loader, settings=Settings(memory_budget_gib=models * BYTES / GIB, **limits), clock=clock, cards=cards
    )


def name_of(model: LoadedModel) -> str:
    return model.card.name


def wait_until(condition) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.002)


# --- budget and eviction


def test_the_least_recently_used_model_leaves(loader):
    backend = backend_of(loader, models=2.5)
    for card in (A, B, A, C, A, B):
        assert backend.run(card, name_of) == card.name
    assert loader.names == ["A", "B", "C", "B"]
    assert [card.name for card in backend.status()] == ["A", "B"]
    assert loader.alive == 2


def test_bytes_count_and_not_models(loader):
    backend = backend_of(loader, models=6)
    large = replace(CARD, name="large", parameters=5 * PARAMETERS)
    for card in (A, B, large):
        backend.run(card, name_of)
    assert [card.name for card in backend.status()] == ["B", "large"]  # A made room, B could stay


def test_measured_bytes_replace_expected_ones(loader):
    backend = backend_of(loader, models=6)
    backend.run(replace(CARD, parameters=5 * PARAMETERS), name_of)
    assert backend.budget().used_bytes == BYTES
    assert backend.budget().limit_bytes == 6 * BYTES


def test_a_model_that_turns_out_larger_than_said_makes_others_leave(loader):
    backend = backend_of(loader, models=2.5)
    small_on_paper = [replace(card, parameters=10) for card in (A, B, C)]
    for card in small_on_paper:
        backend.run(card, name_of)
    assert [card.name for card in backend.status()] == ["B", "C"]


def test_a_size_unknown_until_the_download_is_reserved_when_it_is_known(loader):
    backend = backend_of(loader, models=1.5)
    backend.run(A, name_of)
    loader.gate.clear()
    unknown = replace(B, parameters=None)
    thread = Thread(target=backend.load, args=(unknown,))
    thread.start()
    wait_until(lambda: list(backend.status()) == [unknown])
    assert backend.budget().used_bytes == BYTES
    loader.gate.set()
    thread.join()
    assert backend.status()[unknown].state == "ready"


def test_too_large_for_the_budget_is_refused_before_it_is_loaded(loader):
    small = replace(CARD, name="Small", parameters=PARAMETERS // 2)
    smaller = replace(CARD, name="Smaller", parameters=PARAMETERS // 4)
    other = replace(CARD, name="Other", abilities=frozenset({Ability.GENERATE}), parameters=PARAMETERS - 1)
    large = replace(CARD, name="Large", parameters=250_000_000 * 3)
    backend = backend_of(loader, cards=(smaller, small, other, large))
    with pytest.raises(OutOfMemory, match=r"Large takes 2.8 GiB, and models on cpu may take .* KiB.*e.g. Small \("):
        backend.run(large, name_of)
    assert loader.names == []


def test_a_size_that_proves_too_large_is_refused_after_all(loader):
    backend = backend_of(loader, models=0.5)
    with pytest.raises(OutOfMemory, match="choose a smaller model"):
        backend.run(replace(CARD, parameters=10), name_of)
    assert backend.status() == {} and loader.alive == 0


def test_a_model_in_use_never_leaves(loader):
    backend = backend_of(loader, models=1.5, longest_wait_seconds=0.05)
    with ThreadPoolExecutor() as pool:
        release = Event()
        using = pool.submit(backend.run, A, lambda model: release.wait(timeout=30) and model.card.name)
        wait_until(lambda: backend.status().get(A) and backend.status()[A].users == 1)
        with pytest.raises(TooBusy, match="no room for B"):
            backend.run(B, name_of)
        assert loader.alive == 1
        release.set()
        assert using.result() == "A"
    assert backend.run(B, name_of) == "B"


def test_who_waits_for_room_gets_it_when_it_comes_free(loader):
    backend = backend_of(loader, models=1.5)
    with ThreadPoolExecutor() as pool:
        release = Event()
        pool.submit(backend.run, A, lambda model: release.wait(timeout=30))
        wait_until(lambda: A in backend.status())
        waiting = pool.submit(backend.run, B, name_of)
        time.sleep(0.02)
        assert not waiting.done()
        release.set()
        assert waiting.result(timeout=10) == "B"


def test_200_switches_among_6_models_leave_nothing_behind(loader):
    backend = backend_of(loader, models=2.5)
    cards = [replace(CARD, name=f"model {number}") for number in range(6)]
    rows = [Row((5, 6, 7), (1,)), Row((5, 6), (0,))]
    for switch in range(200):
        backend.run(cards[switch % 6], partial(masked_logits, rows=rows))
    assert len(loader.names) == 200
    assert loader.alive == 2


def test_a_card_is_known_by_all_it_says(loader):
    backend = backend_of(loader)
    mine, yours = replace(A, source=LocalFolder("mine")), replace(A, source=LocalFolder("yours"))
    assert backend.run(mine, lambda model: model.card) == mine
    assert backend.run(yours, lambda model: model.card) == yours
    assert loader.names == ["A", "A"]


# --- loading


def test_ten_visitors_load_a_model_once(loader):
    backend = backend_of(loader)
    loader.gate.clear()
    with ThreadPoolExecutor(10) as pool:
        visits = [pool.submit(backend.run, A, id) for _ in range(10)]
        wait_until(lambda: backend.status().get(A) and backend.status()[A].users == 10)
        loader.gate.set()
        assert len({visit.result() for visit in visits}) == 1
    assert loader.names == ["A"]


def test_all_who_wait_get_the_same_failure_and_the_next_tries_again(loader):
    backend = backend_of(loader)
    failure = ModelUnavailable("no network")
    loader.failures.append(failure)
    loader.gate.clear()
    with ThreadPoolExecutor(3) as pool:
        visits = [pool.submit(backend.run, A, name_of) for _ in range(3)]
        wait_until(lambda: backend.status().get(A) and backend.status()[A].users == 3)
        loader.gate.set()
        assert [visit.exception() for visit in visits] == [failure] * 3
    assert backend.status() == {} and backend.budget().used_bytes == 0
    assert backend.run(A, name_of) == "A"
    assert loader.names == ["A", "A"]


def test_models_load_beside_each_other_and_beside_analyses(loader):
    backend = backend_of(loader, models=4)
    backend.load(A)
    loader.gate.clear()
    with ThreadPoolExecutor() as pool:
        loads = [pool.submit(backend.load, card) for card in (B, C)]
        wait_until(lambda: loader.names == ["A", "B", "C"])
        assert backend.run(A, name_of) == "A"
        assert [load.done() for load in loads] == [False, False]
        loader.gate.set()


def test_status_follows_a_model(loader):
    now = [100.0]
    backend = backend_of(loader, clock=lambda: now[0])
    loader.gate.clear()
    thread = Thread(target=backend.load, args=(A,))
    thread.start()
    wait_until(lambda: A in backend.status() and backend.status()[A].progress is not None)
    status = backend.status()[A]
    assert (status.name, status.state, status.device, status.users) == ("A", "downloading", "cpu", 1)
    assert status.progress == pytest.approx(0.5, abs=1e-3)
    loader.gate.set()
    thread.join()
    now[0] += 7
    status = backend.status()[A]
    assert (status.state, status.weights_bytes, status.progress) == ("ready", BYTES, None)
    assert (status.users, status.idle_seconds) == (0, 7.0)


def test_unload_lets_go_but_not_of_a_model_in_use(loader):
    backend = backend_of(loader)
    backend.unload(A)  # not here: nothing to do
    steps = backend.stream(A, lambda model: iter([1, 2]))
    next(steps)
    with pytest.raises(TooBusy, match="1 analyses are using it"):
        backend.unload(A)
    steps.close()
    backend.unload(A)
    assert backend.status() == {} and loader.alive == 0


def test_idle_models_leave_after_their_time(loader):
    now = [0.0]
    backend = backend_of(loader, clock=lambda: now[0], idle_minutes=10.0)
    backend.load(A)
    now[0] = 300.0
    backend.load(B)
    now[0] = 599.0
    backend.unload_idle()
    assert list(backend.status()) == [A, B]
    now[0] = 600.0
    backend.unload_idle()
    assert list(backend.status()) == [B]
    assert loader.alive == 1


def test_idle_models_leave_without_anybody_asking(loader):
    backend = backend_of(loader, idle_minutes=0.1 / 60)
    backend.load(A)
    wait_until(lambda: not backend.status())
    assert loader.alive == 0


def test_a_backend_that_nobody_needs_goes_and_takes_its_models_along(loader):
    backend = backend_of(loader, idle_minutes=30.0)
    backend.load(A)
    gone = weakref.ref(backend)
    del backend
    assert loader.alive == 0 and gone() is None


# --- running out of memory


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


# --- turns and streams


def test_no_more_analyses_at_work_than_allowed(loader):
    backend = backend_of(loader, analyses_at_once=3)
    at_work, most, lock = set(), [], Lock()

    def analysis(model: LoadedModel) -> None:
        with lock:
            at_work.add(current_thread())
            most.append(len(at_work))
        time.sleep(0.01)
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
