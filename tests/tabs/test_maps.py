"""Maps that visitors share: PCA at once, another method when it is ready, none that nobody waits for."""

import time
from threading import Event

import numpy as np
import pytest

from explorer.analysis.embedding_results import Occurrences
from explorer.analysis.labelled_uses import LabelledUses
from explorer.errors import UnsuitableText
from explorer.models.catalogue import CATALOGUE
from explorer.tabs.neighbours import maps as maps_module
from explorer.tabs.neighbours.maps import Ask, Maps
from explorer.tabs.neighbours.which_vector import Vector

COUNT = 12
USES = LabelledUses(("a play",) * COUNT, ((2, 6),) * COUNT, ("x", "y") * (COUNT // 2))


def ask(method="pca", dimensions=2, **vector):
    return Ask(CATALOGUE[0], USES, Vector(0, **vector), method, dimensions)


@pytest.fixture
def occurrences():
    vectors = np.random.default_rng(0).standard_normal((5, COUNT, 6)).astype(np.float32)
    about = (USES.sentences, USES.positions, ("play",) * COUNT, (("play",),) * COUNT, ((0, 6),) * COUNT)
    return Occurrences("tiny", *about, "mean", (0, 1, 2, 3, 4), 5, vectors, ())


def test_pca_is_there_at_once_and_kept(occurrences):
    maps = Maps()
    first, coming = maps.now(ask(), occurrences)
    assert coming is None and first.maps.method == "pca" and first.layers == (0, 1, 2, 3, 4)
    assert maps.now(ask(), occurrences)[0] is first


def test_another_method_follows(occurrences):
    maps = Maps()
    shown, coming = maps.now(ask("tsne"), occurrences)
    assert shown.maps.method == "pca"
    words = list(maps.wait_for(ask("tsne"), coming))
    assert all(one.startswith("PCA is shown until t-SNE is drawn") for one in words)
    found, none = maps.now(ask("tsne"), occurrences)
    assert none is None and found.maps.method == "tsne" and found.senses == USES.senses


def test_many_who_ask_share_one_map(occurrences):
    maps = Maps()
    _, first = maps.now(ask("tsne"), occurrences)
    _, second = maps.now(ask("tsne"), occurrences)
    assert first is second
    for coming in (first, second):
        list(maps.wait_for(ask("tsne"), coming))


def test_sums_and_weights_are_one_map(occurrences):
    maps = Maps()
    assert maps.now(ask(combine="last_four"), occurrences)[0].vectors == ("sum of layers 1 to 4",)
    weighted = maps.now(ask(combine="softmax", weights="1, 2, 3, 4, 5"), occurrences)[0]
    assert weighted.layers == () and weighted.maps.coordinates.shape == (1, COUNT, 2)
    with pytest.raises(UnsuitableText, match="Give one weight for each"):
        maps.now(ask(combine="weighted", weights="1, 2"), occurrences)


def test_what_nobody_waits_for_ends_at_the_next_layer(occurrences, monkeypatch):
    begun, go_on = Event(), Event()

    def slow(occurrences, *, method, on_layer=None, **options):
        if on_layer is None:
            return real(occurrences, method=method, **options)
        on_layer(0, 5)
        begun.set()
        go_on.wait(20)
        on_layer(1, 5)
        pytest.fail("it went on")

    real = maps_module.project_occurrences
    monkeypatch.setattr(maps_module, "project_occurrences", slow)
    maps = Maps()
    _, coming = maps.now(ask("tsne"), occurrences)
    waiting = maps.wait_for(ask("tsne"), coming)
    assert begun.wait(20)
    assert "layer 1 of 5" in next(waiting)
    waiting.close()  # as Stop does
    time.sleep(2 * maps_module.POLL_SECONDS)
    go_on.set()
    assert isinstance(coming.answer.exception(timeout=20), InterruptedError)
    monkeypatch.undo()
    _, again = maps.now(ask("tsne"), occurrences)
    assert again is not coming
    list(maps.wait_for(ask("tsne"), again))


def test_an_error_reaches_who_waits(occurrences, monkeypatch):
    real = maps_module.project_occurrences

    def broken(occurrences, *, method, on_layer=None, **options):
        if on_layer is None:
            return real(occurrences, method=method, **options)
        raise UnsuitableText("no such map")

    monkeypatch.setattr(maps_module, "project_occurrences", broken)
    maps = Maps()
    _, coming = maps.now(ask("tsne"), occurrences)
    with pytest.raises(UnsuitableText, match="no such map"):
        list(maps.wait_for(ask("tsne"), coming))


def test_room_is_bounded(occurrences):
    maps = Maps(room_mib=0.01)
    first = maps.now(ask(), occurrences)[0]
    for dimensions in (3, 2):
        for adjust in ("centred", "z_scored", "none"):
            maps.now(ask(dimensions=dimensions, adjust=adjust), occurrences)
    again = maps.now(ask(), occurrences)[0]
    assert again is not first and (again.maps.coordinates == first.maps.coordinates).all()
