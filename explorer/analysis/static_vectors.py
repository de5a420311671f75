"""A file of static vectors, GloVe's or word2vec's text, read line by line and no further than wanted; who is near."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from io import BufferedIOBase
from pathlib import Path

import numpy as np
from jaxtyping import Float

from explorer.analysis.blanks import check_characters, check_option
from explorer.analysis.embedding_results import StaticNeighbour, StaticNeighbours, StaticVectors
from explorer.analysis.neighbours import find_neighbours, prepare_points
from explorer.errors import UnsuitableText, quoted
from explorer.settings import settings

LONGEST_LINE_BYTES = 2**16
MOST_DIMS = 2_048
LINES_AT_ONCE = 2_000
MOST_BAD_LINES = 1_000
MIB = 2**20
GZIP, ZIP = b"\x1f\x8b", b"PK\x03\x04"
HOW = "Load a text file with a word and its numbers in each line, as GloVe and word2vec (binary=0) write it."


def read_static_vectors(path: Path) -> StaticVectors:
    """Read words and their vectors.

    Args:
        path: UTF-8 text, or that in gzip: a word and its numbers in each line, separated by spaces or tabs; a first
            line of two whole numbers (how many words, how many numbers), as word2vec writes it, is skipped.

    Returns:
        The first settings().most_static_words words, or as many as fit into settings().most_vectors_mib; of a word that
        stands there twice the first. Lines that are damaged are left out; how many is said in the remarks.

    Raises:
        UnsuitableText: The file is no such file, or cannot be read.
    """
    try:
        with path.open("rb") as raw:
            start = raw.read(4)
            raw.seek(0)
            if start.startswith(ZIP):
                raise UnsuitableText(f"{path.name} is a zip file. Unpack it, and load the text file in it.")
            if start.startswith(GZIP):
                with gzip.open(raw) as unpacked:
                    return _read(path.name, unpacked)
            return _read(path.name, raw)
    except (OSError, EOFError, zlib.error) as error:  # the latter two are those of a damaged gzip file
        raise UnsuitableText(f"{path.name} cannot be read: it is damaged or incomplete. {HOW}") from error


def find_file_neighbours(vectors: StaticVectors, *, word: str, k: int = 10) -> StaticNeighbours:
    """The words of a file of vectors that are nearest to a word.

    Args:
        vectors: As read_static_vectors reads them.
        word: One word, or several whose mean is taken; looked up as it is, and then in lower case.
        k: How many, from 1 to settings().most_choices.

    Raises:
        UnsuitableText: The word is empty, or the file lacks it.
    """
    check_option("k", k, settings().most_choices)
    check_characters(word)
    places = {name: index for index, name in enumerate(vectors.words)}
    parts = [word] if word in places else word.split()
    found = [places.get(part, places.get(part.lower())) for part in parts]
    if not found or None in found:
        lacking = quoted(parts[found.index(None)]) if found else "An empty word"
        raise UnsuitableText(f"{lacking} is not among the {len(places):,} words of {vectors.source}. Try another.")
    query = vectors.points.unit[found].mean(axis=0)
    near = find_neighbours(query, vectors.points, k=min(k + len(found), len(places)))
    neighbours = [
        StaticNeighbour(vectors.words[index], vectors.words[index], float(cosine))
        for index, cosine in zip(near.indices[0], near.cosines[0], strict=True)
        if index not in found
    ]
    tokens = tuple(vectors.words[index] for index in found)
    return StaticNeighbours(vectors.source, word, tokens, len(places), tuple(neighbours[:k]), vectors.remarks)


def _read(name: str, file: BufferedIOBase) -> StaticVectors:
    first = file.readline(LONGEST_LINE_BYTES)
    dim = _width(name, first)
    most = min(settings().most_static_words, int(settings().most_vectors_mib * MIB / (4 * dim)))
    words: dict[str, None] = {}
    blocks: list[Float[np.ndarray, "word dim"]] = []
    bad = 0
    lines = _lines(
        name, file, first=b"" if _is_header(first) else first, most=2 * most + MOST_BAD_LINES + LINES_AT_ONCE
    )
    is_cut = False
    for read, numbers in _blocks(lines, dim):
        bad += len(read) - len(numbers)
        if bad > MOST_BAD_LINES:
            raise UnsuitableText(f"More than {MOST_BAD_LINES:,} lines of {name} hold no word and {dim} numbers. {HOW}")
        new = []
        for place, word in enumerate(word for word in read if word is not None):
            if word not in words:
                if len(words) == most:
                    is_cut = True
                    break
                words[word] = None
                new.append(place)
        blocks.append(numbers[new])
        if is_cut:
            break
    if not words:
        raise UnsuitableText(f"{name} holds no vectors. {HOW}")
    return StaticVectors(
        name, tuple(words), prepare_points(np.concatenate(blocks)), tuple(_remarks(len(words), bad, is_cut))
    )


def _width(name: str, first: bytes) -> int:
    """How many numbers each line has."""
    fields = first.split()
    if _is_header(first):
        dim = int(fields[1])
    else:
        dim = len(fields) - 1
        while dim > 0 and not all(_is_number(field) for field in fields[-dim:]):
            dim -= 1  # the word itself may hold spaces
    if not 1 < dim <= MOST_DIMS:
        raise UnsuitableText(f"The first line of {name} is not a word and 2 to {MOST_DIMS:,} numbers. {HOW}")
    return dim


def _is_header(first: bytes) -> bool:
    fields = first.split()
    return len(fields) == 2 and all(field.isdigit() and len(field) < 12 for field in fields)


def _is_number(field: bytes) -> bool:
    try:
        return bool(np.isfinite(float(field)))
    except ValueError:
        return False


def _lines(name: str, file: BufferedIOBase, first: bytes, most: int) -> Iterator[bytes]:
    line = first or file.readline(LONGEST_LINE_BYTES)
    read = 0
    while line:
        read += 1
        if read > most:  # a few kilobytes of gzip can hold gigabytes of empty lines, or of one word
            raise UnsuitableText(f"{name} has few words in its first {most:,} lines: most are empty, or repeat. {HOW}")
        if len(line) == LONGEST_LINE_BYTES:
            raise UnsuitableText(f"A line of {name} is longer than {LONGEST_LINE_BYTES:,} bytes. {HOW}")
        if line.strip():
            yield line
        line = file.readline(LONGEST_LINE_BYTES)


def _blocks(lines: Iterator[bytes], dim: int) -> Iterator[tuple[list[str | None], Float[np.ndarray, "word dim"]]]:
    """Words and numbers, some lines at a time; None for a line that cannot be read, which has no numbers."""
    while some := [line for _, line in zip(range(LINES_AT_ONCE), lines, strict=False)]:
        try:
            words, numbers = _parse_fast(some, dim)
        except ValueError:  # a line is damaged, or a word holds spaces
            words, numbers = _parse_each(some, dim)
        good = np.isfinite(numbers).all(axis=1) & np.array([word is not None for word in words])
        yield [word if fine else None for word, fine in zip(words, good, strict=True)], numbers[good]


def _parse_fast(lines: list[bytes], dim: int) -> tuple[list[str | None], Float[np.ndarray, "word dim"]]:
    """Words and numbers of lines that all are as they should be; a ValueError otherwise."""
    words, numbers = zip(*(line.split(None, 1) for line in lines), strict=True)
    read = np.loadtxt([row.decode("ascii") for row in numbers], dtype=np.float32, comments=None, ndmin=2)
    if read.shape != (len(lines), dim):
        raise ValueError("another width")
    return [_word(word) for word in words], read


def _parse_each(lines: list[bytes], dim: int) -> tuple[list[str | None], Float[np.ndarray, "word dim"]]:
    words: list[str | None] = []
    numbers = np.full((len(lines), dim), np.nan, dtype=np.float32)
    for row, line in enumerate(lines):
        fields = line.rsplit(None, dim)
        words.append(_word(fields[0].strip()))
        if len(fields) == dim + 1 and all(map(_is_number, fields[1:])):
            numbers[row] = [float(field) for field in fields[1:]]
    return words, numbers


def _word(spelled: bytes) -> str | None:
    try:
        return spelled.decode("utf-8") or None
    except UnicodeDecodeError:
        return None


def _remarks(words: int, bad: int, is_cut: bool) -> Iterator[str]:
    if is_cut:
        yield f"The file holds more words; the first {words:,} were read."
    if bad:
        yield "One line was left out: it is damaged." if bad == 1 else f"{bad:,} lines were left out: they are damaged."
