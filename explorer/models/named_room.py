"""Disk for the models that visitors name: what they fill, and which leave when it is full.

Their files are in the Hub's cache, beside the operator's own. So each revision of theirs has a mark: a file in a folder
beside that cache, which holds the bytes that it may fill, and was changed when the model was last used. What has none
never leaves.
"""

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from huggingface_hub import constants, scan_cache_dir
from huggingface_hub.errors import CacheNotFound
from huggingface_hub.file_download import repo_folder_name
from huggingface_hub.utils import WeakFileLock

from explorer.errors import ModelRefused, ModelUnavailable
from explorer.models.card import HubRepository
from explorer.models.status import format_bytes
from explorer.settings import GIB, settings

KEPT_SECONDS = 600  # since it was last used; whoever downloads or reads a model uses it
AT = "@"  # between the name of a repository's folder and the commit; neither can hold one


def claim(source: HubRepository, size_bytes: int, name: str) -> None:
    """Set room aside for a model that a visitor named, before its files come; those that were used longest ago leave.

    The operator's own files are no visitor's, and need none.

    Args:
        source: Its repository, at a commit.
        size_bytes: Of what will be fetched.
        name: Of the model, for the error message.

    Raises:
        ModelRefused: It is larger than all the room there is.
        ModelUnavailable: The others were used too lately to leave.
    """
    with _alone():
        mark = _mark_of(source)
        if not mark.exists() and _snapshot_of(source).exists():
            return
        marks = _marks()
        size_bytes = max(size_bytes, marks.pop(mark, 0))
        _make_room(marks, size_bytes, name)
        mark.write_text(str(size_bytes))


def note_use(source: HubRepository) -> None:
    """A model that a visitor named is in use, so it stays for now."""
    if source.is_named:
        with suppress(FileNotFoundError):  # the operator has it, too
            os.utime(_mark_of(source))


def stay(source: HubRepository) -> None:
    """A model is about to be read: what a visitor named stays for now, and what the operator uses for good.

    Args:
        source: Its repository, at a commit.
    """
    if source.is_named or _mark_of(source).exists():
        with _alone():  # else it might just be leaving
            note_use(source)
            if not source.is_named:
                _mark_of(source).unlink(missing_ok=True)


def room_bytes() -> int:
    """All the room there is."""
    return int(settings().named_room_gib * GIB)


def _make_room(marks: dict[Path, int], wanted_bytes: int, name: str) -> None:
    room = room_bytes()
    limit = f"all models that visitors name may fill {format_bytes(room)} (EXPLORER_NAMED_ROOM_GIB)"
    if wanted_bytes > room:
        raise ModelRefused(f"{name} takes {format_bytes(wanted_bytes)}, and {limit}. Choose a smaller model.")
    used_at = {mark: mark.stat().st_mtime for mark in marks}
    spare, leaving = room - wanted_bytes - sum(marks.values()), []
    for mark in sorted(marks, key=used_at.get):
        if spare >= 0 or time.time() - used_at[mark] < KEPT_SECONDS:
            break
        spare += marks[mark]
        leaving.append(mark)
    if spare < 0:
        raise ModelUnavailable(
            f"There is no room for {name} now: {limit}, and those that are here were used in the last "
            f"{KEPT_SECONDS // 60} minutes. Try again then, or choose one on offer."
        )
    _delete(leaving)


def _delete(marks: Iterable[Path]) -> None:
    """Delete revisions: of their files those that no other revision of the repository has."""
    for mark in marks:
        repository, _, commit = mark.name.rpartition(AT)
        with suppress(CacheNotFound):
            cache = scan_cache_dir(constants.HF_HUB_CACHE)
            # Copies of a repository have the same commits, and one may be the operator's.
            repositories = frozenset(one for one in cache.repos if one.repo_path.name == repository)
            if any(revision.commit_hash == commit for one in repositories for revision in one.revisions):
                replace(cache, repos=repositories).delete_revisions(commit).execute()
        for unfinished in Path(constants.HF_HUB_CACHE, repository, "blobs").glob("*.incomplete"):
            if time.time() - unfinished.stat().st_mtime > KEPT_SECONDS:  # else another revision is on its way
                unfinished.unlink()
        mark.unlink()


def _marks() -> dict[Path, int]:
    """The bytes that each marked revision may fill."""
    return {mark: int(mark.read_text() or 0) for mark in _folder().iterdir() if AT in mark.name}


@contextmanager
def _alone() -> Iterator[None]:
    """Inside, no other thread or process of this machine changes a mark."""
    _folder().mkdir(parents=True, exist_ok=True)
    with WeakFileLock(_folder() / ".lock"):
        yield


def _folder() -> Path:
    return Path(constants.HF_HUB_CACHE).parent / "explorer" / "named"


def _mark_of(source: HubRepository) -> Path:
    return _folder() / f"{repo_folder_name(repo_id=source.id, repo_type='model')}{AT}{source.revision}"


def _snapshot_of(source: HubRepository) -> Path:
    repository = repo_folder_name(repo_id=source.id, repo_type="model")
    return Path(constants.HF_HUB_CACHE) / repository / "snapshots" / source.revision
