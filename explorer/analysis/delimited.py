"""Tables in text: rows of columns with something between them, as spreadsheets and data sets write them."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Collection, Iterator
from itertools import islice

from explorer.errors import UnsuitableText

DELIMITERS = {"\t": "tab", ";": "semicolon", "|": "vertical bar", ",": "comma"}
MOST_COLUMNS = 100
LOOKED_AT = 200  # rows, to find out how a table is made
LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")  # str.splitlines also breaks at marks that csv keeps
HOW_TO_QUOTE = (
    "In a csv file a field with quotation marks, delimiters or line breaks stands in quotation marks, and one inside "
    "it is written twice. Save the table anew from the spreadsheet, or give a text file with a sentence in each line."
)

Row = list[str]


def find_delimiter(name: str, text: str, names: Collection[str]) -> str:
    """What stands between the columns.

    Args:
        name: Of the file, for messages.
        text: All of it.
        names: What columns may be called, in small letters: a first row with one of them settles it.

    Returns:
        A key of DELIMITERS; "" = there is one column.
    """
    head = text[: 2**16]
    first = re.split(r"[\r\n]", head, maxsplit=1)[0]
    for delimiter in DELIMITERS:
        row = next(csv.reader([first], delimiter=delimiter), [])[: MOST_COLUMNS + 1]
        if len(row) > 1 and not {cell.strip().strip('"').strip().casefold() for cell in row}.isdisjoint(names):
            return delimiter
    for delimiter in DELIMITERS:
        lines = head if len(head) == len(text) else head.rpartition("\n")[0] or head
        try:
            rows = list(islice(read_rows(name, lines, delimiter, is_cut=True), LOOKED_AT))
        except UnsuitableText:  # quotation marks in a table of tabs are often no more than that
            rows = [(1, line.split(delimiter)) for line in lines.splitlines()[:LOOKED_AT]]
        widths = Counter(len(row) for _, row in rows if any(cell.strip() for cell in row))
        if len(widths) == 1 and 1 not in widths:
            return delimiter
    for delimiter in ("\t", ","):  # a row that does not fit is a mistake to be told, if nearly all others do
        widths = Counter(len(line.split(delimiter)) for line in head.splitlines()[:LOOKED_AT] if line.strip())
        width, count = widths.most_common(1)[0] if widths else (1, 0)
        if 1 < width and count > 0.8 * widths.total() and '"' in text:
            return delimiter
    return ""


def read_all_rows(name: str, text: str, delimiter: str) -> list[tuple[int, Row]]:
    """All rows that are not empty, as read_rows has them; quotation marks between tabs may be no more than that.

    Raises:
        UnsuitableText: Its quotation marks do not fit; the message says from which line on.
    """
    try:
        return list(read_rows(name, text, delimiter))
    except UnsuitableText:
        if delimiter != "\t":
            raise
    return list(read_rows(name, text, delimiter, csv.QUOTE_NONE))


def read_rows(
    name: str, text: str, delimiter: str, quoting: int = csv.QUOTE_MINIMAL, *, is_cut: bool = False
) -> Iterator[tuple[int, Row]]:
    """Rows of a table that are not empty, one after the other.

    Args:
        name: Of the file, for messages.
        text: All of it.
        delimiter: Between the columns.
        quoting: As csv has it.
        is_cut: Whether the text may end within a row.

    Yields:
        The number of the row, counted from 1 with empty ones, as a spreadsheet does; its cells.

    Raises:
        UnsuitableText: Its quotation marks do not fit; the message says from which line on.
    """
    lines = (line.group() for line in LINE.finditer(text))
    reader = csv.reader(lines, delimiter=delimiter, quoting=quoting, strict=True)
    began, number = 1, 0
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            if is_cut and "end of data" in str(error):
                return
            said = "Its quotation marks do not fit: one is opened and not closed, or stands inside a field"
            if "field limit" in str(error) or "larger than field" in str(error):
                said = "A field is longer than any sentence, or a quotation mark before it is not closed"
            raise UnsuitableText(f"{name} cannot be read from line {began:,} on. {said}. {HOW_TO_QUOTE}") from error
        began = reader.line_num + 1
        number += 1
        if any(cell.strip() for cell in row):
            yield number, row
