"""Which models stay in memory, under a budget of bytes, and how they come and go."""

import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from threading import Event, Semaphore, Thread

import pytest

from explorer.errors import ModelUnavailable, OutOfMemory, TooBusy
from explorer.models.batching import Row, masked_logits
from explorer.models.callers import Caller, calling
from explorer.models.card import Ability, LocalFolder
from explorer.models.progress import Progress
from tests.models.tiny_loader import BYTES, CARD, PARAMETERS, A, B, C, Loader, backend_of, name_of, wait_until


@pytest.fixture
def loader() -> Loader:
    return Loader()


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


def test_a_download_ends_once_nobody_waits_for_it(loader):
    gone, more, reported = [Event(), Event()], Semaphore(0), Semaphore(0)

    def download(card, *, device, progress):
        while more.acquire(timeout=10):
            progress(Progress(1, 2, "downloading"))
            reported.release()
        raise AssertionError("the last report should have ended it")

    backend = backend_of(download)
    with ThreadPoolExecutor() as pool:
        waiting = [pool.submit(backend.load, A, lambda event=event: not event.is_set()) for event in gone]
        wait_until(lambda: backend.status() and backend.status()[A].users == 2)
        gone[0].set()
        more.release()
        assert reported.acquire(timeout=10)
        assert not any(each.done() for each in waiting)  # the other still wants it
        gone[1].set()
        more.release()
        for each in waiting:
            with pytest.raises(ModelUnavailable, match="The download of A was stopped. Ask again"):
                each.result(timeout=10)
    assert backend.status() == {}
    assert backend_of(loader).run(A, name_of) == "A"


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


def test_ten_visitors_load_a_model_once(loader):
    backend = backend_of(loader)
    loader.gate.clear()
    with ThreadPoolExecutor(10) as pool:
        visits = [pool.submit(backend.run, A, id) for _ in range(10)]
        wait_until(lambda: backend.status().get(A) and backend.status()[A].users == 10)
        loader.gate.set()
        assert len({visit.result() for visit in visits}) == 1
    assert loader.names == ["A"]


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
    with pytest.raises(TooBusy, match="1 analysis is using it"):
        backend.unload(A)
    steps.close()
    backend.unload(A)
    assert backend.status() == {} and loader.alive == 0


def test_a_visitor_unloads_what_no_other_has_used_for_a_minute(loader):
    now = [0.0]
    backend = backend_of(loader, clock=lambda: now[0])
    anna, ben = Caller("anna"), Caller("ben")
    with calling(anna):
        backend.run(A, name_of)
        backend.unload(A)
        backend.run(A, name_of)
    assert loader.names == ["A", "A"]
    now[0] += 20
    with calling(ben):
        backend.run(A, name_of)
        with pytest.raises(TooBusy, match="because another visitor used it 20 s ago .*; .* has used it for 60 s"):
            backend.unload(A)
        now[0] += 40
        backend.unload(A)
        backend.run(A, name_of)
    backend.run(B, name_of)  # by the operator, whose use keeps nobody from unloading it
    with calling(anna):
        backend.unload(B)
    backend.unload(A)  # and who may unload anything that is idle
    assert backend.status() == {}


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
