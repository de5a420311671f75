"""Disk for the models that visitors name: which of them leave when it is full, and which never do."""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Barrier

import pytest
from huggingface_hub import constants

from explorer.errors import ModelRefused, ModelUnavailable
from explorer.models import named_room
from explorer.models.card import HubRepository
from explorer.models.hub import download
from explorer.models.named_room import KEPT_SECONDS, claim, note_use
from explorer.models.progress import ignore
from explorer.models.visitor_card import visitor_card
from tests.models.hub_server import Repository
from tests.models.small_models import contents
from tests.models.tiny_loader import Loader, backend_of, name_of

A, B, C = "people/a", "people/b", "people/c"
COMMIT = "1" * 40


@pytest.fixture
def repositories(hub, bert_folder):
    """Three, with files of their own: A, B and C."""
    for index, id in enumerate((A, B, C)):
        files = contents(bert_folder)
        files["model.safetensors"] += bytes(index)  # other checksums
        hub.repositories[id] = Repository(files, commit=str(index + 1) * 40)
    return hub.repositories


@pytest.fixture
def room(set_settings, repositories):
    """Set the room to that of so many models."""

    def set_room(models: float) -> None:
        size_bytes = sum(map(len, repositories[A].files.values()))
        set_settings(named_room_gib=models * size_bytes / 2**30)

    return set_room


def fetch(id: str, *, is_named: bool = True):
    """Name a model and bring its files here."""
    card = visitor_card(id, is_named=is_named)
    download(card, ignore)
    return card


def is_here(id: str) -> bool:
    """Whether its weights are on the disk."""
    return any(Path(constants.HF_HUB_CACHE).glob(f"models--{id.replace('/', '--')}/snapshots/*/model.safetensors"))


def blobs(id: str) -> set[str]:
    return {file.name for file in Path(constants.HF_HUB_CACHE).glob(f"models--{id.replace('/', '--')}/blobs/*")}


def marks() -> list[Path]:
    return sorted(named_room._marks())


def let_time_pass(seconds: float = KEPT_SECONDS + 1) -> None:
    """Whatever was used, was used so much earlier."""
    for mark in marks():
        used_at = mark.stat().st_mtime - seconds
        os.utime(mark, (used_at, used_at))


def test_what_was_used_longest_ago_leaves_and_can_be_had_again(room):
    room(2.5)
    first = fetch(A)
    fetch(B)
    let_time_pass()
    note_use(first.source)
    fetch(C)
    assert [is_here(id) for id in (A, B, C)] == [True, False, True]
    assert blobs(B) == set()
    let_time_pass()
    fetch(B)
    assert is_here(B) and len(marks()) == 2


def test_what_is_used_lately_stays_and_the_new_one_is_refused_until_then(room):
    room(2.5)
    fetch(A)
    fetch(B)
    card = visitor_card(C, is_named=True)
    with pytest.raises(ModelUnavailable, match=r"no room for people/c now: .*NAMED_ROOM_GIB.* in the last 10 minutes"):
        download(card, ignore)
    assert [is_here(id) for id in (A, B, C)] == [True, True, False]


def test_a_model_larger_than_the_room_is_refused_and_none_leaves_for_it(room, repositories):
    room(1.5)
    fetch(A)
    let_time_pass()
    repositories[B].files["model.safetensors"] *= 2
    card = visitor_card(B, is_named=True)
    with pytest.raises(ModelRefused, match=r"people/b takes .*, and all models that visitors name may fill"):
        download(card, ignore)
    assert is_here(A)


def test_a_question_is_a_use(room):
    room(2.5)
    first = fetch(A)
    fetch(B)
    let_time_pass()
    backend_of(Loader()).run(first, name_of)
    fetch(C)
    assert [is_here(id) for id in (A, B)] == [True, False]


def test_the_operators_own_files_need_no_room_and_never_leave(room):
    room(1.5)
    fetch(A, is_named=False)
    fetch(A)  # a visitor names the same
    fetch(B)
    let_time_pass()
    fetch(C)
    assert [is_here(id) for id in (A, B, C)] == [True, False, True]


def test_what_the_operator_asks_for_too_stays_for_good(room):
    room(1.5)
    fetch(A)
    fetch(A, is_named=False)
    assert marks() == []
    fetch(B)
    let_time_pass()
    fetch(C)
    assert [is_here(id) for id in (A, B)] == [True, False]


def test_a_copy_of_the_operators_repository_leaves_without_it(room, repositories):
    room(1.5)
    repositories["people/copy"] = replace(repositories[A])  # of the same commits, as a mirror has
    fetch(A, is_named=False)
    fetch("people/copy")
    let_time_pass()
    fetch(B)
    assert [is_here(id) for id in (A, "people/copy", B)] == [True, False, True]


def test_of_two_revisions_one_leaves_and_the_files_of_both_stay(room, repositories):
    room(2.5)
    old = fetch(A)
    cut = Path(constants.HF_HUB_CACHE, "models--people--a", "blobs", "0.incomplete")
    cut.write_text("an earlier download")
    os.utime(cut, (0, 0))
    both = blobs(A)
    repositories[A].commit = "9" * 40
    repositories[A].files = repositories[A].files | {"config.json": repositories[A].files["config.json"] + b"\n"}
    new = fetch(A)
    let_time_pass()
    note_use(new.source)
    fetch(B)
    assert [mark.name.rpartition("@")[2] for mark in marks()] == ["9" * 40, "2" * 40]
    assert is_here(A) and old.source.revision == COMMIT
    gone = both - blobs(A)
    assert cut.name in gone and len(gone) == 2  # and the old config.json


def test_a_name_alone_takes_next_to_nothing(room, repositories):
    room(1.5)
    fetch(A)
    visitor_card(B, is_named=True)
    assert is_here(A)
    assert sum(named_room._marks().values()) < 1.01 * sum(map(len, repositories[A].files.values()))


def test_who_claim_at_once_never_get_more_than_there_is(room, repositories):
    room(4.5)
    size_bytes = sum(map(len, repositories[A].files.values()))
    barrier = Barrier(12)

    def claim_one(index: int) -> bool:
        barrier.wait()
        try:
            claim(HubRepository(f"people/{index}", COMMIT, is_named=True), size_bytes, "it")
        except ModelUnavailable:
            return False
        return True

    with ThreadPoolExecutor(12) as pool:
        assert sum(pool.map(claim_one, range(12))) == 4


def test_a_model_is_in_use_as_long_as_its_bytes_come(room, repositories, monkeypatch):
    room(2.5)
    monkeypatch.setattr("explorer.models.download.PAUSE_SECONDS", 0.0)
    repositories[A].cuts["model.safetensors"] = [1000] * 8
    card = visitor_card(A, is_named=True)
    seen = []

    def report(progress) -> None:
        seen.append(time.time() - marks()[0].stat().st_mtime)
        let_time_pass()

    download(card, report)
    assert len(seen) > 8 and max(seen[1:]) < KEPT_SECONDS
