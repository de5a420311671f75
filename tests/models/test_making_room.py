"""When models leave memory for another, and what a load that fails leaves behind."""

import gc
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event

import pytest

from explorer.errors import ModelRefused, ModelUnavailable, TooBusy
from explorer.models.progress import Progress
from tests.models.tiny_loader import BYTES, PARAMETERS, A, B, C, Loader, backend_of, name_of, wait_until


@pytest.fixture
def loader() -> Loader:
    return Loader()


def test_a_model_that_turns_out_larger_than_said_makes_others_leave(loader):
    backend = backend_of(loader, models=2.5)
    small_on_paper = [replace(card, parameters=10) for card in (A, B, C)]
    for card in small_on_paper:
        backend.run(card, name_of)
    assert [card.name for card in backend.status()] == ["B", "C"]


@pytest.mark.parametrize("parameters", [PARAMETERS, None], ids=["its size known", "its size unknown"])
def test_no_model_leaves_before_the_files_of_the_next_are_here(loader, parameters):
    backend = backend_of(loader, models=1.5)
    backend.run(A, name_of)
    loader.gate.clear()
    coming = replace(B, parameters=parameters)
    with ThreadPoolExecutor() as pool:
        load = pool.submit(backend.load, coming)
        wait_until(lambda: coming in backend.status() and backend.status()[coming].progress)
        assert backend.status()[coming].state == "downloading"
        assert backend.status()[A].state == "ready" and backend.budget().used_bytes == BYTES
        assert backend.run(A, name_of) == "A"
        loader.gate.set()
        load.result(timeout=10)
    assert list(backend.status()) == [coming] and backend.budget().used_bytes == BYTES


def test_room_is_made_for_what_the_files_say_where_the_card_knows_their_size_alone(loader):
    used = []

    def load(card, *, device, progress):
        progress(Progress(0, BYTES, "loading"))
        used.append(backend.budget().used_bytes)
        return loader(card, device=device, progress=progress)

    backend = backend_of(load, models=1.5)
    backend.run(A, name_of)
    backend.run(replace(B, parameters=None, weights_bytes=BYTES // 4), name_of)
    assert used == [4 * PARAMETERS, BYTES], "A has left, and all of B is reserved"


def test_no_model_leaves_for_one_that_cannot_be_had(loader):
    backend = backend_of(loader, models=1.5)
    backend.run(A, name_of)
    loader.failures.append(ModelUnavailable("B is not on this machine, and the network is switched off."))
    with pytest.raises(ModelUnavailable, match="network is switched off"):
        backend.run(B, name_of)
    assert list(backend.status()) == [A] and loader.names == ["A", "B"]


def test_a_model_that_cannot_be_had_says_so_though_there_is_no_room_for_it_either(loader):
    backend = backend_of(loader, models=1.5, longest_wait_seconds=0.05)
    steps = backend.stream(A, lambda model: iter([1, 2]))
    next(steps)
    loader.failures.append(ModelUnavailable("B is not on this machine, and the network is switched off."))
    with pytest.raises(ModelUnavailable, match="network is switched off"):
        backend.run(B, name_of)
    with pytest.raises(TooBusy, match="no room for B"):
        backend.run(B, name_of)
    steps.close()


def test_what_a_failed_load_had_read_is_let_go_while_its_error_is_still_told(loader):
    read = []

    def load(card, *, device, progress):
        network = loader(card, device=device, progress=progress).network
        try:
            raise ValueError(f"the last weight of {len(list(network.parameters()))} is damaged")
        except ValueError as error:
            raise ModelRefused("The files of A are damaged.") from error

    backend = backend_of(load)
    gc.disable()  # the collector must not be what lets it go: it stops every visitor for most of a second
    try:
        for _ in range(3):
            with pytest.raises(ModelRefused) as refused:
                backend.load(A)
            read.append(refused.value)
            assert loader.alive == 0
    finally:
        gc.enable()
    assert len(loader.networks) == 3 and "is damaged" in str(read[0].__cause__)


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


def test_who_waits_for_room_gets_it_when_it_comes_free(loader, monkeypatch):
    backend = backend_of(loader, models=1.5)
    waits, changed = Event(), backend._leases._changed
    wait = changed.wait
    monkeypatch.setattr(changed, "wait", lambda seconds: waits.set() or wait(seconds))  # the lock is held here
    with ThreadPoolExecutor() as pool:
        release = Event()
        pool.submit(backend.run, A, lambda model: release.wait(timeout=30))
        wait_until(lambda: A in backend.status())
        waiting = pool.submit(backend.run, B, name_of)
        assert waits.wait(timeout=10) and not waiting.done()
        release.set()
        assert waiting.result(timeout=10) == "B"


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
