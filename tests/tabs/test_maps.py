"""Maps that visitors share: PCA at once, another method when it is ready, none that nobody waits for."""

from functools import partial
from queue import Queue
from threading import Event
from types import SimpleNamespace

import numpy as np
import pytest

from explorer.analysis.embedding_results import Occurrences
from explorer.analysis.labelled_uses import LabelledUses
from explorer.analysis.paired_maps import pair_projections
from explorer.errors import UnsuitableText
from explorer.models.catalogue import CATALOGUE
from explorer.tabs.neighbours import maps as maps_module
from explorer.tabs.neighbours.maps import Ask, Maps
from explorer.tabs.neighbours.use_map import _foot
from explorer.tabs.neighbours.which_vector import Vector

COUNT = 12
GIVE_UP_SECONDS = 60
USES = LabelledUses(("a play",) * COUNT, ((2, 6),) * COUNT, ("x", "y") * (COUNT // 2))


def ask(method="pca", dimensions=2, **vector):
    return Ask(CATALOGUE[0], USES, Vector(0, **vector), method, dimensions)


@pytest.fixture
def occurrences():
    vectors = np.random.default_rng(0).standard_normal((5, COUNT, 6)).astype(np.float32)
    about = (USES.sentences, USES.positions, ("play",) * COUNT, (("play",),) * COUNT, ((0, 6),) * COUNT)
    return Occurrences("tiny", *about, "mean", (0, 1, 2, 3, 4), 5, vectors, ())


@pytest.fixture
def held(monkeypatch):
    """Maps by other methods than PCA stand still after their first layer; tells what becomes of them."""
    told, go_on, real = Queue(), Event(), maps_module.project_occurrences

    def stand_still(occurrences, *, on_layer=None, **options):
        if on_layer is not None:
            on_layer(0, 5)
            told.put("stands still")
            assert go_on.wait(GIVE_UP_SECONDS)
            try:
                on_layer(1, 5)
            except InterruptedError:
                told.put("ended")
                raise
        return real(occurrences, **options)

    monkeypatch.setattr(maps_module, "project_occurrences", stand_still)
    return SimpleNamespace(tells=partial(told.get, timeout=GIVE_UP_SECONDS), told=told, go_on=go_on)


def test_pca_is_there_at_once_and_kept(occurrences):
    maps = Maps()
    assert not maps.lacks(ask())
    first = maps.get(ask(), occurrences)
    assert first.maps.method == "pca" and first.layers == (0, 1, 2, 3, 4)
    assert maps.get(ask(), occurrences) is first


@pytest.mark.parametrize(
    ("word", "file", "title"),
    [
        (" play ", "map-play-tiny", "“play”, tiny, PCA"),
        ("<b>/..", "map-b-tiny", "“&amp;lt;b&amp;gt;/..”, tiny, PCA"),
        ("", "map-tiny", "tiny, PCA"),
    ],
)
def test_what_is_taken_away_names_the_word(occurrences, word, file, title):
    foot = _foot(Maps().get(ask(), occurrences), word, "a sentence", "")
    assert f"data-file='{file}' data-title='{title}'" in foot
    assert f"download='{file}.json'" in foot


def test_the_line_below_names_no_layer_of_the_second_model(occurrences):
    one = Maps().get(ask(), occurrences)
    foot = _foot(pair_projections(one, one), "play", "a sentence", "")
    assert (
        "layers 0 to 4 · PCA" in foot.replace("</span>", "") and "beside input embeddings" not in foot.split("href")[0]
    )


def test_another_method_follows(occurrences):
    maps = Maps()
    assert maps.lacks(ask("tsne"))
    words = list(maps.make({ask("tsne"): occurrences}))
    assert all(one.startswith("PCA is shown until t-SNE is drawn") for one in words)
    assert not maps.lacks(ask("tsne"))
    found = maps.get(ask("tsne"), occurrences)
    assert found.maps.method == "tsne" and found.senses == USES.senses


def test_many_who_ask_share_one_map(occurrences, held):
    maps = Maps()
    first, second = (maps.make({ask("tsne"): occurrences}) for _ in range(2))
    next(first), next(second)
    assert held.tells() == "stands still"
    first.close()  # one of them pressed Stop
    held.go_on.set()
    list(second)
    assert not maps.lacks(ask("tsne")) and held.told.empty()


def test_of_two_maps_both_are_made_however_long_the_first_takes(occurrences, held):
    maps, wanted = Maps(), [ask("tsne"), ask("tsne", 3)]
    waiting = maps.make(dict.fromkeys(wanted, occurrences))
    next(waiting)
    assert [held.tells() for _ in wanted] == ["stands still"] * 2
    next(waiting), next(waiting)
    held.go_on.set()
    list(waiting)
    assert not any(map(maps.lacks, wanted))


def test_sums_and_weights_are_one_map(occurrences):
    maps = Maps()
    assert maps.get(ask(combine="last_four"), occurrences).vectors == ("sum of layers 1 to 4",)
    weighted = maps.get(ask(combine="softmax", weights="1, 2, 3, 4, 5"), occurrences)
    assert weighted.layers == () and weighted.maps.coordinates.shape == (1, COUNT, 2)
    with pytest.raises(UnsuitableText, match="Give one weight for each"):
        maps.get(ask(combine="weighted", weights="1, 2"), occurrences)


def test_what_nobody_waits_for_ends_at_the_next_layer(occurrences, held):
    maps = Maps()
    waiting = maps.make({ask("tsne"): occurrences})
    assert "t-SNE" in next(waiting)
    assert held.tells() == "stands still"
    assert "layer 1 of 5" in next(waiting)
    waiting.close()  # as Stop does
    held.go_on.set()
    assert held.tells() == "ended" and maps.lacks(ask("tsne"))
    list(maps.make({ask("tsne"): occurrences}))  # who asks again has it made anew
    assert not maps.lacks(ask("tsne"))


def test_an_error_reaches_who_waits(occurrences, monkeypatch):
    def broken(*arguments, **options):
        raise UnsuitableText("no such map")

    monkeypatch.setattr(maps_module, "project_occurrences", broken)
    with pytest.raises(UnsuitableText, match="no such map"):
        list(Maps().make({ask("tsne"): occurrences}))


def test_room_is_bounded(occurrences):
    maps = Maps(room_mib=0.01)
    first = maps.get(ask(), occurrences)
    for dimensions in (3, 2):
        for adjust in ("centred", "z_scored", "none"):
            maps.get(ask(dimensions=dimensions, adjust=adjust), occurrences)
    again = maps.get(ask(), occurrences)
    assert again is not first and (again.maps.coordinates == first.maps.coordinates).all()
