"""Sentences of a visitor's own from a file: a sentence in each line, or a table of sentences and their senses."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from explorer.analysis.delimited import (
    DELIMITERS,
    HOW_TO_QUOTE,
    LOOKED_AT,
    MOST_COLUMNS,
    Row,
    find_delimiter,
    read_all_rows,
    read_rows,
)
from explorer.analysis.labelled_uses import SENSE_NAMES, SENTENCE_NAMES, choose_split, join_sense, names_columns
from explorer.analysis.text_files import decode_text, read_chunks
from explorer.errors import TooManySentences, UnsuitableText, quoted
from explorer.settings import settings

PLAIN = frozenset({".txt", ".text", ""})
PACKED = frozenset({".gz", ".xz"})
MOST_ROWS = 100_000
LONGEST_SENSE_CHARACTERS = 60
FEWEST_TO_DOUBT = 10  # labels: fewer may well all be different
MIB = 2**20


@dataclass(frozen=True)
class SentenceFile:
    """What a file holds, as gather_uses takes it.

    Attributes:
        name: Of the file.
        lines: A sentence each, its sense and a tab before it where it has one; no line is empty.
        labelled: How many have a sense.
        remarks: What a reader must know: which columns were read, what was left out.
    """

    name: str
    lines: tuple[str, ...]
    labelled: int
    remarks: tuple[str, ...]


def read_sentence_file(path: Path, name: str = "") -> SentenceFile:
    """Read sentences, with their senses if it has any.

    Args:
        path: Text with a sentence in each line, and its sense before or behind it if wanted (.txt); or a table (.csv,
            .tsv or any other ending), with or without a first row of names, its columns separated by tabs, semicolons,
            vertical bars or commas. Either may be in gzip or xz. The encoding is told by the file's mark; without one
            it is UTF-8, or else Windows-1252.
        name: Of the file, for messages; "" = that of the path.

    Returns:
        Its sentences, each once, in their order. The column of sentences is the one called "sentence" or "text", or
        else the one with the longest texts; the column of senses the one called "sense" or "label", or else one in
        which few different short texts come again and again.

    Raises:
        UnsuitableText: It is too large, is no text, has no sentences, or its quotation marks or columns do not fit; the
            message says where, and what to do.
    """
    name = name or path.name
    text, remarks = decode_text(name, _read_bytes(path, name))
    suffixes = [one.lower() for one in Path(name).suffixes if one.lower() not in PACKED]
    if (suffixes[-1] if suffixes else "") in PLAIN:
        rows, more = _read_plain(name, text), ()
    else:
        rows, more = _read_table(name, text)
    return _tidy(name, rows, (*remarks, *more))


def _read_bytes(path: Path, name: str) -> bytes:
    most = settings().largest_sentences_mib
    parts, size = [], 0
    for chunk, _ in read_chunks(path):
        parts.append(chunk)
        size += len(chunk)
        if size > most * MIB:
            raise TooManySentences(
                f"{name} is larger than the {most:g} MiB of sentences that are read here. Give a part of it."
            )
    return b"".join(parts)


def _read_plain(name: str, text: str) -> list[tuple[str, str]]:
    """Senses and sentences of lines."""
    lines = [line.rstrip("\n") for line in islice(io.StringIO(text, newline=None), MOST_ROWS + 1)]
    _check_count(name, len(lines))
    has_names = bool(lines) and names_columns(lines[0])
    split = choose_split(lines[has_names:][:LOOKED_AT])
    return [split(line) for line in lines[has_names:]]


def _read_table(name: str, text: str) -> tuple[list[tuple[str, str]], tuple[str, ...]]:
    """Senses and sentences of a table, and which columns they are from."""
    if not text.strip("".join(DELIMITERS) + ' \r\n"'):
        return [], ()
    delimiter = find_delimiter(name, text, SENTENCE_NAMES)
    if not delimiter:  # one column, whatever stands in it
        first, *rest = io.StringIO(text, newline=None)
        is_named = _tidy_name(first.strip().strip('"')) in SENTENCE_NAMES
        try:
            cells = ["".join(row) for _, row in read_rows(name, text, "\0")]
        except UnsuitableText:  # no table at all: a quotation mark is a character
            cells = [first, *rest]
        _check_count(name, len(cells))
        return [("", cell) for cell in cells[is_named:]], ()
    rows = [row for _, row in read_all_rows(name, text, delimiter)]
    _check_count(name, len(rows))
    sentence, sense, has_names = _find_columns(rows)
    width = max(len(row) for row in rows[:LOOKED_AT])
    if sentence is None or width > MOST_COLUMNS:
        raise UnsuitableText(
            f"{name} has {width:,} columns, and none is called “sentence” or “text”. Name the column of sentences in "
            f"the first row, or give a text file with a sentence in each line."
        )
    used = max(sentence, -1 if sense is None else sense)
    found = []
    for number, row in enumerate(rows[has_names:], start=1 + has_names):
        if len(row) != len(rows[0]) and (len(row) > len(rows[0]) or len(row) <= used) and any(row):
            raise UnsuitableText(
                f"Row {number} of {name} has {len(row):,} columns and the first row {len(rows[0]):,} "
                f"({DELIMITERS[delimiter]} between them): {quoted(delimiter.join(row))}. {HOW_TO_QUOTE}"
            )
        if len(row) > used:
            found.append(("" if sense is None else row[sense], row[sentence]))
    columns = [index for index in (sentence, sense) if index is not None]
    called = [f"column {index + 1}{f' (“{rows[0][index].strip()}”)' if has_names else ''}" for index in columns]
    return found, (f"Sentences were read from {called[0]}{f', senses from {called[1]}' if called[1:] else ''}.",)


def _find_columns(rows: Sequence[Row]) -> tuple[int | None, int | None, bool]:
    """The columns of sentences and of senses, and whether the first row names them."""
    first = [_tidy_name(cell) for cell in rows[0][: MOST_COLUMNS + 1]]
    sentence = next((index for index, cell in enumerate(first) if cell in SENTENCE_NAMES), None)
    has_names = sentence is not None
    if has_names:
        named = next((index for index, cell in enumerate(first) if cell in SENSE_NAMES), None)
        return sentence, named, True
    if len(first) > MOST_COLUMNS:
        return None, None, False
    some = rows[:LOOKED_AT]
    columns = [[row[index].strip() for row in some if len(row) > index] for index in range(len(first))]
    lengths = [sum(map(len, column)) / len(column) for column in columns]
    sentence = max(range(len(columns)), key=lambda index: lengths[index])
    spaces = [" " in cell for cell in columns[sentence]]
    has_names = len(spaces) > 1 and not spaces[0] and all(spaces[1:])
    if named := next((index for index, cell in enumerate(first) if cell in SENSE_NAMES and index != sentence), None):
        has_names = True
    elif first[0] in SENSE_NAMES and sentence != 0:
        named, has_names = 0, True
    if named is not None:
        return sentence, named, has_names
    bodies = [column[has_names:] for column in columns]
    labels = [
        index
        for index, column in enumerate(bodies)
        if index != sentence
        and len(set(column)) <= max(1, len(column) // 2, 2 if len(column) < 4 else 0)
        and any(column)
        and max(map(len, column)) <= LONGEST_SENSE_CHARACTERS
        and not all(cell.isdigit() and int(cell) == place for place, cell in enumerate(column, start=1))
    ]
    return sentence, labels[0] if labels else None, has_names


def _tidy(name: str, found: Sequence[tuple[str, str]], remarks: tuple[str, ...]) -> SentenceFile:
    """One line for each sentence, said once."""
    rows = [(" ".join(sense.split()), " ".join(sentence.split())) for sense, sentence in found]
    rows = [(sense, sentence) for sense, sentence in rows if sentence]
    if not rows:
        raise UnsuitableText(f"{name} holds no sentences. Give a file with a sentence in each line.")
    said = list(remarks)
    senses = [sense for sense, _ in rows if sense]
    if len(senses) >= FEWEST_TO_DOUBT and len(set(senses)) == len(senses):
        said.append(f"All {len(senses):,} labels are different, so they are no senses; they were left out.")
        rows = [("", sentence) for _, sentence in rows]
    different: dict[str, str] = {}
    clashes = 0
    for sense, sentence in rows:
        clashes += different.setdefault(sentence, sense) != sense
    if again := len(rows) - len(different):
        said.append(f"{_count(again, 'sentence')} stood there before, and {'count' if again > 1 else 'counts'} once.")
    if clashes:
        said.append(f"{_count(clashes, 'of them has', 'of them have')} another sense there; the first one counts.")
    lines = tuple(join_sense(sense, sentence) for sentence, sense in different.items())
    return SentenceFile(name, lines, sum(map(bool, different.values())), tuple(said))


def _check_count(name: str, count: int) -> None:
    if count > MOST_ROWS:
        raise TooManySentences(f"{name} has more than {MOST_ROWS:,} lines. Give a part of it.")


def _tidy_name(cell: str) -> str:
    return cell.strip().casefold()


def _count(number: int, one: str, many: str = "") -> str:
    return f"One {one}" if number == 1 else f"{number:,} {many or one + 's'}"
