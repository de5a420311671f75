"""Pairs of words or sentences with a score that people gave them, from files of many shapes. Free of torch."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from explorer.analysis.blanks import check_characters
from explorer.errors import UnsuitableText, quoted
from explorer.settings import settings

SEPARATORS = ("\t", ";", ",")
FIRST = ("word1", "sentence1", "sentencea", "text1", "first", "s1")
SECOND = ("word2", "sentence2", "sentenceb", "text2", "second", "s2")
SCORE = (
    "score",
    "simlex999",
    "humanmean",
    "similarity",
    "similarityscore",
    "relatednessscore",
    "gold",
    "rating",
    "mean",
)
MEBIBYTE = 2**20
FEWEST_PAIRS = 3  # two would always be ranked alike, or the other way round
MOST_SAID = 4  # columns of a line that is no pair
NO_NUMBERS = ("", "nan", "inf", "-inf", "infinity", "-infinity", "none", "null", "na", "n/a", "-", "?")


@dataclass(frozen=True)
class ScoredPair:
    """Two texts, and how alike people found them.

    Attributes:
        first: A word or a sentence.
        second: Another.
        score: On any scale, more = more alike.
    """

    first: str
    second: str
    score: float


def read_pair_file(path: Path) -> tuple[ScoredPair, ...]:
    """Read a visitor's file; see read_pairs.

    Raises:
        UnsuitableText: It cannot be read; the message says why.
    """
    try:
        size = path.stat().st_size
        if size > settings().largest_request_mib * MEBIBYTE:
            raise UnsuitableText(
                f"{path.name} has {size / MEBIBYTE:,.0f} MiB; at most {settings().largest_request_mib:g} are read."
            )
        written = path.read_bytes()
    except OSError as error:
        raise UnsuitableText(f"{path.name} cannot be read: {error.strerror}.") from error
    try:
        text = written.decode("utf-8-sig")  # editors on Windows begin a file with a mark
    except UnicodeDecodeError as error:
        raise UnsuitableText(f"{path.name} is not UTF-8 text. Save it as UTF-8.") from error
    return read_pairs(text.splitlines())


def read_pairs(lines: Iterable[str]) -> tuple[ScoredPair, ...]:
    """Pairs of texts with scores, one a line, separated by tabs, semicolons or commas.

    Args:
        lines: Two texts and a score in each, as in "old<TAB>new<TAB>1.58"; a text that holds the separator stands in
            quotes. With more columns the first line names them, as SimLex-999 and WordSim-353 do, or they are those of
            the STS benchmark: genre, file, year, number, score, two sentences. Empty lines are skipped.

    Raises:
        UnsuitableText: A line is no pair with a score, or there are fewer than two; the message says which line.
    """
    written = [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    if not written:
        raise UnsuitableText("There are no pairs. Give two texts and a score in each line.")
    separator = next((one for one in SEPARATORS if written[0][1].count(one) >= 2), "\t")
    rows = [(number, _cells(line, separator, number)) for number, line in written]
    columns = _find_columns(rows[0][1])
    if columns and _is_name(name := rows[0][1][columns[2]]):
        number, rows = rows[0][0], rows[1:]
        if len(rows) < FEWEST_PAIRS:
            raise UnsuitableText(
                f"Line {number} was read as names of columns, for {quoted(name.strip())} is no number. To be ranked, "
                "there must be three pairs at least below it."
            )
    pairs = []
    for number, cells in rows:
        places = columns or _usual_columns(cells)
        if places is None or max(places) >= len(cells):
            said = ", ".join(map(quoted, cells[:MOST_SAID])) + ", …" * (len(cells) > MOST_SAID)
            raise UnsuitableText(f"Line {number} is not two texts and a score: {said}. Write them with tabs between.")
        if not _is_score(cells[places[2]]):
            raise UnsuitableText(
                f"Line {number}: {quoted(cells[places[2]].strip())} is no number. Give the two texts a score such as "
                "7.5, or leave the line out."
            )
        pairs.append(ScoredPair(*(cells[place].strip() for place in places[:2]), float(cells[places[2]])))
    check_pairs(pairs)
    return tuple(pairs)


def check_pairs(pairs: Sequence[ScoredPair]) -> None:
    """Refuse pairs that cannot be compared.

    Raises:
        UnsuitableText: There are fewer than two or too many, a text is empty, or all scores are the same.
    """
    if len(pairs) > settings().most_uses:
        raise UnsuitableText(f"There are {len(pairs):,} pairs; at most {settings().most_uses:,} are compared at once.")
    for number, pair in enumerate(pairs, start=1):
        for text in (pair.first, pair.second):
            check_characters(text)
            if not text.strip():
                raise UnsuitableText(f"A text of pair {number} is empty. Give two texts and a score.")
        if not math.isfinite(pair.score):
            raise UnsuitableText(f"The score of pair {number} is not a finite number.")
    if len(pairs) < FEWEST_PAIRS or len({pair.score for pair in pairs}) < 2:
        raise UnsuitableText("To be ranked, there must be three pairs at least, and not all of one score. Give more.")


def _cells(line: str, separator: str, number: int) -> list[str]:
    try:
        # a tab stands in no text, so quotes between tabs are quotes that someone wrote
        quoting = csv.QUOTE_NONE if separator == "\t" else csv.QUOTE_MINIMAL
        return next(csv.reader([line], delimiter=separator, quoting=quoting, strict=separator != "\t"))
    except csv.Error as error:
        raise UnsuitableText(f"Line {number} cannot be read: {error}. Close its quotes.") from error


def _find_columns(cells: Sequence[str]) -> tuple[int, int, int] | None:
    """Where the texts and the score are, if the line names its columns."""
    names = ["".join(filter(str.isalnum, cell.lower())) for cell in cells]
    found = [next((names.index(name) for name in known if name in names), None) for known in (FIRST, SECOND, SCORE)]
    if None not in found:
        return tuple(found)
    return (0, 1, 2) if len(cells) == 3 else None


def _usual_columns(cells: Sequence[str]) -> tuple[int, int, int] | None:
    return (5, 6, 4) if len(cells) >= 7 else None


def _is_name(cell: str) -> bool:
    """Whether a cell names the column of scores, rather than being a score that is miswritten: 7,5, NaN, or none."""
    word = cell.strip().lower()
    is_known = "".join(filter(str.isalnum, word)) in SCORE
    return is_known or (word not in NO_NUMBERS and not any(map(str.isdigit, word)))


def _is_score(cell: str) -> bool:
    try:
        return math.isfinite(float(cell))
    except ValueError:
        return False
