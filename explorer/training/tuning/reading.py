"""Tables of labelled examples from files or pasted text: csv, tsv, jsonl, json, or a word and its tag in each line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

from explorer.analysis.delimited import MOST_COLUMNS, find_delimiter, read_all_rows, read_rows
from explorer.analysis.text_files import check_start, decode_text, read_chunks
from explorer.errors import UnsuitableText
from explorer.settings import settings
from explorer.training.tuning.columns import guess_columns, is_number, known_names, tidy_name
from explorer.training.tuning.json_rows import read_json
from explorer.training.tuning.making import make_examples
from explorer.training.tuning.table import Table, clean_text

__all__ = ["Table", "guess_columns", "make_examples", "read_table"]

PASTED = "The pasted text"
PLAIN_TASKS = ("masked", "causal")  # whose examples are texts: a comma in a line is a comma
IN_MARKS = "A text that holds a comma, or whatever parts the columns, belongs in quotation marks."
TAKEN = "Row {0:,} was taken for the names of the columns: {1}. If it is an example, put a row of names above it."
MOST_NAMED = 3
PACKED = frozenset({".gz", ".xz"})
LOOKED_AT = 200  # rows, to find out how a table is made
LONGEST_NAME_CHARACTERS = 40
TAG_AT_END = re.compile(r"\S+(?:\t\S+){0,8}\t(?:O|[BIES]-\S+)|\S+(?: +\S+){0,8} +(?:O|[BIES]-\S+)")
SENTENCE_ROW = re.compile(r"\S+(?: +\S+)+?[,;|] *(?:O|[BIES]-\S+)(?: +(?:O|[BIES]-\S+))*")  # its words, its tags
DOCUMENT = "-DOCSTART-"
MIB = 2**20
Numbered = list[tuple[int, Sequence[str]]]  # rows with their numbers


def read_table(source: Path | str, name: str = "", *, task: str = "", names: Sequence[str] = ()) -> Table:
    """Read a table, whatever it is made of.

    Args:
        source: A file, which may be in gzip or xz; or the text itself, as pasted.
        name: Of the file, for messages; "" = that of the path.
        task: A key of TASKS; of "masked" and "causal", whose examples are plain texts, a text file is read as one
            text in each line.
        names: What columns are called in a file that this one goes with: a first row of them is no example.

    Returns:
        What stands in it: in columns with tabs, semicolons, vertical bars or commas between; in json, a list of objects
        or one in each line; in lines of a word and its tag, with an empty line after each sentence; or else one column.
        The first row names the columns if it looks as if it did. The encoding is told by the file's mark; without one
        it is UTF-8, or else Windows-1252, and a note says so.

    Raises:
        UnsuitableText: It is empty, no text, too large, or has too many columns; the message says what to do.
    """
    name = name or (source.name if isinstance(source, Path) else PASTED)
    if isinstance(source, Path):
        text, notes = decode_text(name, _read_bytes(source, name))
    else:
        text, notes = clean_text(source.removeprefix("\ufeff")), ()
        check_start(name, text[:2000].encode("utf-8", "surrogatepass"))
        if len(text) > settings().largest_examples_mib * MIB:
            raise UnsuitableText(_too_large(name))
    if not text.strip():
        raise UnsuitableText(f"{name} is empty. Give a file with an example in each row, or paste some rows.")
    return _shape(name, text, notes, task, names)


def _shape(name: str, text: str, notes: tuple[str, ...], task: str, names: Sequence[str]) -> Table:
    most = settings().most_example_rows
    if rows := read_json(name, text, most):
        header, rows = rows[0], rows[1:]
    elif _is_word_per_line(text):
        rows, header = _read_words(text), None
    else:
        rows, header = _read_rows(name, text, task), None
    numbered = list(islice(rows, most + 1))
    if len(numbered) > most:
        del numbered[most:]
        notes += (f"{name} has more than {most:,} rows; those after row {numbered[-1][0]:,} were not read.",)
    numbered, left_out = _leave_wider_out(numbered)
    notes += left_out
    width = max(len(row) for _, row in numbered)
    if width > MOST_COLUMNS:
        raise UnsuitableText(
            f"{name} has {width:,} columns; at most {MOST_COLUMNS} are read. Save only those with the texts and labels."
        )
    if header is None:
        header, numbered = _split_header(numbered, width, names)
        cells = [cell.strip() for cell in header[1]]
        if header[0] and cells != list(names) and not _has_known(cells):
            notes += (TAKEN.format(header[0], ", ".join(f"“{cell}”" for cell in cells[:MOST_NAMED])),)
    uneven = [number for number, row in numbered if len(row) != width]
    if not numbered:
        raise UnsuitableText(f"{name} has names of columns, and no row below them. Add examples.")
    if uneven:
        rows_are = f"Row {uneven[0]:,} has" if len(uneven) == 1 else f"{len(uneven):,} rows have"
        notes += (f"{rows_are} fewer columns than the others (first: row {uneven[0]:,}); the rest was taken as empty.",)
        if len(header[1]) < width:
            notes = (*notes[:-1], f"{notes[-1]} {IN_MARKS}")
    padded = tuple((*row, *[""] * (width - len(row))) for _, row in numbered)
    numbers = tuple(number for number, _ in numbered)
    return Table(name, _unique(header[1], width), padded, numbers, notes, names_row=header[0])


def _leave_wider_out(rows: Numbered) -> tuple[Numbered, tuple[str, ...]]:
    """Rows without those that have a cell too many, as of a text with a comma in it; and what to say of these."""
    usual, count = Counter(len(row) for _, row in rows).most_common(1)[0]
    first = len(rows[0][1])
    if 2 * count <= len(rows):  # which number of columns is meant, a row of names tells
        usual = first if _is_header([row for _, row in rows[:LOOKED_AT]]) else 0
    wider = {number: len(row) for number, row in rows if any(cell.strip() for cell in row[usual:])}
    if usual < 2 or first > usual or not wider:
        return rows, ()
    number, width = next(iter(wider.items()))
    if len(wider) == 1:
        said = f"Row {number:,} was left out: it has {width} columns, not {usual}."
    else:
        said = f"{len(wider):,} rows were left out, as they have more than {usual} columns (first: row {number:,})."
    return [(number, row[:usual]) for number, row in rows if number not in wider], (f"{said} {IN_MARKS}",)


def _read_bytes(path: Path, name: str) -> bytes:
    """All of a file, in bounded memory: a few kilobytes of gzip can hold gigabytes."""
    parts, size = [], 0
    for chunk, _ in read_chunks(path, name):
        parts.append(chunk)
        size += len(chunk)
        if size > settings().largest_examples_mib * MIB:
            raise UnsuitableText(_too_large(name))
    return b"".join(parts)


def _too_large(name: str) -> str:
    return (
        f"{name} holds more than {settings().largest_examples_mib:g} MiB of text. Fine-tuning here learns from "
        f"{settings().most_examples:,} examples at most: give a part of it."
    )


def _read_rows(name: str, text: str, task: str) -> Iterable[tuple[int, Sequence[str]]]:
    suffixes = [one.lower() for one in Path(name).suffixes if one.lower() not in PACKED]
    is_table = bool(suffixes) and suffixes[-1] in {".csv", ".tsv", ".tab"}
    delimiter = ""
    if is_table or task not in PLAIN_TASKS:
        delimiter = find_delimiter(name, text, known_names())
    if delimiter:
        return read_all_rows(name, text, delimiter)
    if is_table:  # one column, perhaps in quotation marks
        try:
            return list(read_rows(name, text, "\0"))
        except UnsuitableText:  # no table at all: a quotation mark is a character
            pass
    lines = enumerate(re.split(r"\r\n|\r|\n", text), start=1)
    return [(number, [line]) for number, line in lines if line.strip()]


def _is_word_per_line(text: str) -> bool:
    lines = text[: 2**16].splitlines()
    if len(text) > 2**16:
        lines = lines[:-1]
    filled = [line.rstrip() for line in lines[:LOOKED_AT] if line.strip() and not line.startswith((DOCUMENT, "#"))]
    fitting = sum(bool(TAG_AT_END.fullmatch(line)) for line in filled)
    if 2 * sum(bool(SENTENCE_ROW.fullmatch(line)) for line in filled) > len(filled):
        return False
    return len(filled) > 1 and fitting >= 0.9 * len(filled) - 1 and fitting > 0  # but for a first line of names


def _read_words(text: str) -> list[tuple[int, list[str]]]:
    """The first and the last field of each line; what stands between is of other tasks. A word alone has no tag."""
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        fields = line.split()
        if not fields or fields[0] == DOCUMENT or (fields[0].startswith("#") and len(fields) != 2):
            continue
        found.append((number, [fields[0], fields[-1] if len(fields) > 1 else ""]))
    return found


def _split_header(
    rows: list[tuple[int, Sequence[str]]], width: int, names: Sequence[str]
) -> tuple[tuple[int, Sequence[str]], list[tuple[int, Sequence[str]]]]:
    """The row of names, with made-up ones if there is none, and the rest."""
    if [cell.strip() for cell in rows[0][1]] == list(names) or _is_header([row for _, row in rows[:LOOKED_AT]]):
        return rows[0], rows[1:]
    return (0, [""] * width), rows


def _is_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row looks like names: some are known, or a column of numbers or labels begins with another."""
    first, body = [cell.strip() for cell in rows[0]], rows[1:]
    if any(len(cell) > LONGEST_NAME_CHARACTERS for cell in first):
        return False
    if any(
        cell and any(cell == row[place].strip() for row in body if place < len(row)) for place, cell in enumerate(first)
    ):
        return False  # a label that comes again; "pos" may be one or a name
    if _has_known(first) and len(first) + len(rows) > 2:
        return not any(is_number(cell) for cell in first)
    if len(body) < 2 or len(set(first)) < len(first) or any(is_number(cell) for cell in first):
        return False
    for place, cell in enumerate(first):
        below = [row[place].strip() for row in body if place < len(row)]
        if below and all(is_number(one) for one in below if one) and any(below):
            return True
        if len(body) >= 10 and len(set(below)) <= len(below) // 5 and cell not in below:
            return True
    return False


def _has_known(names: Iterable[str]) -> bool:
    """Whether one of some names is one that columns are known to have."""
    known = known_names()
    return any(name.strip().casefold() in known or tidy_name(name) in known for name in names)


def _unique(names: Sequence[str], width: int) -> tuple[str, ...]:
    found: list[str] = []
    for place in range(width):
        name = " ".join(names[place].split())[:LONGEST_NAME_CHARACTERS] if place < len(names) else ""
        name = name or f"column {place + 1}"
        number = 2
        while name in found:
            name, number = f"{name.removesuffix(f' ({number - 1})')} ({number})", number + 1
        found.append(name)
    return tuple(found)
