"""Where the uses found in corpora and their vectors are kept on disk, so that a search is done once.

A file is there in full or not at all, and carries a checksum: what is damaged is computed again. Entries that were not
used for longest leave when the room of settings().corpus_cache_gib is full.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock, Timeout
from huggingface_hub import constants
from jaxtyping import Float

from explorer.analysis.corpus_results import CorpusUses
from explorer.errors import UnwritableFolder
from explorer.settings import GIB, settings

VERSION = 1  # of what is kept; another one is not read
BLOCK_BYTES = 2**24
SPARE_BYTES = 2**28  # left free on the disk
USES, VECTORS, LOCKS = "uses", "vectors", "locks"


@dataclass(frozen=True, eq=False)
class StoredVectors:
    """Vectors of some uses, as the disk holds them.

    Attributes:
        chosen: Which of the uses that were found have a vector.
        tokens: The tokens of each.
        read: What the model read of each sentence, in characters.
        layers: Which layers.
        layer_count: How many the model has.
        remarks: What was said of them.
        vectors: Not writeable; read from the disk as they are needed.
    """

    chosen: tuple[int, ...]
    tokens: tuple[tuple[str, ...], ...]
    read: tuple[tuple[int, int], ...]
    layers: tuple[int, ...]
    layer_count: int
    remarks: tuple[str, ...]
    vectors: Float[np.ndarray, "layer point dim"]


def cache_folder() -> Path:
    """Where all of it is: beside the Hub's cache, as downloads from elsewhere are."""
    return Path(constants.HF_HUB_CACHE).parent / "explorer" / "corpora"


def key_of(*facts: object) -> str:
    """A name for what was made of these facts."""
    return hashlib.sha256(json.dumps([VERSION, *facts], sort_keys=True, default=repr).encode()).hexdigest()[:32]


def read_uses(key: str) -> CorpusUses | None:
    """The uses of that key, if they are here and whole."""
    kept = _read_json(cache_folder() / USES / f"{key}.json")
    if kept is None:
        return None
    for name in ("forms", "sentences", "lines", "remarks"):
        kept[name] = tuple(kept[name])
    return CorpusUses(**kept | {"positions": tuple((start, end) for start, end in kept["positions"])})


def write_uses(key: str, uses: CorpusUses) -> None:
    """Keep uses under a key.

    Raises:
        UnwritableFolder: The disk is full, or the folder may not be written.
    """
    _write_json(_made(cache_folder() / USES) / f"{key}.json", asdict(uses))


def vectors_file(key: str) -> Path:
    """Where the vectors of that key are, or will be."""
    return cache_folder() / VECTORS / key / "vectors.npy"


def read_vectors(file: Path) -> StoredVectors | None:
    """Vectors from a file, if they are there and whole; they count as used just now."""
    about = _read_json(file.with_suffix(".json"))
    try:
        if about is None or not (vectors := np.load(file, mmap_mode="r")).size:
            return None
        if list(vectors.shape) != about["shape"] or _checksum(vectors) != about["checksum"]:
            return None
        now = time.time_ns()  # the file system's own clock may tick too seldom to tell two uses apart
        os.utime(file.parent, ns=(now, now))
    except (OSError, ValueError, EOFError):  # it was just evicted, or is no such file
        return None
    return StoredVectors(
        chosen=tuple(about["chosen"]),
        tokens=tuple(tuple(some) for some in about["tokens"]),
        read=tuple((start, end) for start, end in about["read"]),
        layers=tuple(about["layers"]),
        layer_count=about["layer_count"],
        remarks=tuple(about["remarks"]),
        vectors=vectors,
    )


def write_vectors(file: Path, stored: StoredVectors) -> None:
    """Keep vectors in a file, whole or not at all.

    Raises:
        UnwritableFolder: The disk is full, or the folder may not be written.
    """
    with _writing(file) as temporary, temporary.open("wb") as opened:
        np.save(opened, stored.vectors)
    _write_about(file, stored)


def join_vectors(file: Path, parts: list[Path]) -> None:
    """Make one file of parts, which go; only one part is in memory at a time.

    Args:
        file: What becomes of them.
        parts: As write_vectors wrote them, in order.

    Raises:
        UnwritableFolder: The disk is full, or the folder may not be written, or a part has gone.
    """
    stored = [read_vectors(part) for part in parts]
    whole = [one for one in stored if one is not None]
    if len(whole) < len(parts):
        raise UnwritableFolder(f"Vectors in {file.parent} have gone or were damaged meanwhile. Search again.")
    layers, _, dim = whole[0].vectors.shape
    count = sum(len(one.chosen) for one in whole)
    with _writing(file) as temporary:
        together = np.lib.format.open_memmap(temporary, "w+", np.float32, (layers, count, dim))
        first = 0
        for one in whole:
            together[:, first : first + len(one.chosen)] = one.vectors
            first += len(one.chosen)
        together.flush()
        about = StoredVectors(
            chosen=tuple(use for one in whole for use in one.chosen),
            tokens=tuple(tokens for one in whole for tokens in one.tokens),
            read=tuple(span for one in whole for span in one.read),
            layers=whole[0].layers,
            layer_count=whole[0].layer_count,
            remarks=tuple(dict.fromkeys(remark for one in whole for remark in one.remarks)),
            vectors=together,
        )
    _write_about(file, about)
    for part in parts:
        part.unlink(missing_ok=True)
        part.with_suffix(".json").unlink(missing_ok=True)


def check_room(file: Path, needed_bytes: int) -> None:
    """Refuse a job for which the disk has no room.

    Raises:
        UnwritableFolder: It has not.
    """
    if shutil.disk_usage(_made(file.parent)).free < needed_bytes + SPARE_BYTES:
        raise UnwritableFolder(
            f"The disk has no room for {needed_bytes / 2**20:,.0f} MiB of vectors. Free some, or take a smaller sample."
        )


@contextmanager
def hold(key: str) -> Iterator[bool]:
    """Whether nobody else, on this machine, is at work on what has that key; until the end of the block it is ours."""
    lock = FileLock(_made(cache_folder() / LOCKS) / f"{key}.lock", timeout=0)
    try:
        lock.acquire()
    except Timeout:
        yield False
        return
    try:
        yield True
    finally:
        lock.release()


def evict(keep: str) -> None:
    """Let go of what was not used for longest, until the rest fits.

    Args:
        keep: A key of vectors that stay.
    """
    folders = cache_folder() / VECTORS
    entries = [*folders.iterdir(), *(cache_folder() / USES).glob("*.json")] if folders.is_dir() else []
    sizes = {entry: _size_bytes(entry) for entry in entries}
    room = settings().corpus_cache_gib * GIB
    for entry in sorted(entries, key=_last_used):
        if sum(sizes.values()) <= room:
            return
        if entry.name == keep:
            continue
        with hold(entry.stem) as is_free:
            if is_free:
                shutil.rmtree(entry, ignore_errors=True) if entry.is_dir() else entry.unlink(missing_ok=True)
                del sizes[entry]


def _last_used(entry: Path) -> float:
    return entry.stat().st_mtime if entry.exists() else 0.0


def _size_bytes(entry: Path) -> int:
    files = entry.iterdir() if entry.is_dir() else [entry]
    return sum(file.stat().st_size for file in files if file.exists())


def _write_about(file: Path, stored: StoredVectors) -> None:
    about = {name: getattr(stored, name) for name in stored.__dataclass_fields__ if name != "vectors"}
    about |= {"shape": stored.vectors.shape, "checksum": _checksum(stored.vectors)}
    _write_json(file.with_suffix(".json"), about)


def _checksum(vectors: Float[np.ndarray, "layer point dim"]) -> int:
    """CRC-32 of the numbers, some at a time."""
    found = 0
    for layer in vectors:
        step = max(1, BLOCK_BYTES // max(1, layer[:1].nbytes))
        for first in range(0, len(layer), step):
            found = zlib.crc32(np.ascontiguousarray(layer[first : first + step]), found)
    return found


def _read_json(file: Path) -> dict[str, Any] | None:
    """What a file holds, if it is here and as it was written; it counts as used just now."""
    try:
        checksum, _, text = file.read_text(encoding="utf-8").partition("\n")
        if checksum != _checksum_of(text):
            return None
        os.utime(file)
    except (OSError, UnicodeDecodeError):
        return None
    return json.loads(text)


def _write_json(file: Path, content: dict[str, Any]) -> None:
    text = json.dumps(content, ensure_ascii=False)
    with _writing(file) as temporary:
        temporary.write_text(f"{_checksum_of(text)}\n{text}", encoding="utf-8")


def _checksum_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@contextmanager
def _writing(file: Path) -> Iterator[Path]:
    """A file to be written in the place of another; it takes that place once the block has ended well."""
    temporary = None
    try:
        handle, name = tempfile.mkstemp(dir=_made(file.parent), prefix=f".{file.name}.")
        os.close(handle)
        temporary = Path(name)
        yield temporary
        temporary.replace(file)
    except OSError as error:
        raise UnwritableFolder(
            f"{file.parent} cannot be written: {error.strerror or error}. Free some room, or set HF_HOME to a folder "
            f"that may be written."
        ) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)  # sentences of visitors are nobody else's
    except OSError as error:
        raise UnwritableFolder(f"{folder} cannot be made: {error.strerror or error}. Set HF_HOME.") from error
    return folder
