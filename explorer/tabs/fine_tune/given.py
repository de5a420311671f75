"""Tables that visitors gave, kept on this side by keys that nobody can guess; the page holds the key alone."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cache

from explorer.errors import UnsuitableText
from explorer.tabs.kept import Kept
from explorer.training.tuning.columns import LAYOUTS, Role, guess_columns, layout_of
from explorer.training.tuning.examples import ExampleSet
from explorer.training.tuning.making import make_examples, with_held_out
from explorer.training.tuning.own import own_examples, own_table
from explorer.training.tuning.reading import PASTED
from explorer.training.tuning.table import Table, clean_text

ROOM_MIB = 768
CELL_BYTES = 60  # what a cell takes beside its characters
SHOWN_ROWS = 20  # that can be edited, until more are added
LEAST_SHARE, LONGEST_SHARE = 9, 24  # characters that a column is made for
OURS, OUR_SCORES, YOURS = "ours", "ours scored", "yours"


@dataclass(frozen=True)
class EditedTable(Table):
    """A table whose first rows were written on the page.

    Attributes:
        shown: How many of them stand there, empty ones included.
    """

    shown: int = 0


@dataclass(frozen=True)
class _Sized:
    table: Table
    size_bytes: int


class GivenTables:
    """Recent tables of all visitors; the longest unused leave when they take more than their room."""

    def __init__(self, room_mib: float = ROOM_MIB) -> None:
        self._held: Kept[str, _Sized] = Kept(room_mib, lambda one: one.size_bytes)

    def put(self, table: Table) -> str:
        """Keep a table; returns its key."""
        cells = sum(sum(map(len, row)) + CELL_BYTES * len(row) for row in table.rows)
        key = secrets.token_urlsafe(12)
        self._held.put(key, _Sized(table, cells))
        return key

    def get(self, key: str) -> Table:
        """The table of a key.

        Raises:
            UnsuitableText: It has left, or never was here.
        """
        found = self._held.find(key)
        if found is None:
            raise UnsuitableText("These examples are no longer in memory. Load the file or paste the rows again.")
        return found.table


@cache
def given_tables() -> GivenTables:
    """Those of this process."""
    return GivenTables()


def table_in_sight(task: str, source: str, key: str) -> Table | None:
    """What is looked at; None = the visitor has given nothing yet."""
    if source != YOURS:
        return without_part(own_table(task, scored=source == OUR_SCORES))
    return given_tables().get(key) if key else None


def without_part(table: Table) -> Table:
    """A table without its column of parts, which is in order and takes room."""
    places = [place for place, name in enumerate(table.columns) if name not in ("split", "start")]
    rows = tuple(tuple(row[place] for place in places) for row in table.rows)
    return replace(table, columns=tuple(table.columns[place] for place in places), rows=rows)


def first_rows(table: Table | None, task: str) -> dict[str, list]:
    """What the editable table shows of a table, or empty rows to type into."""
    if table is None:
        roles = [role for role in LAYOUTS[task][0] if role.is_needed]
        return {"headers": [role.key for role in roles], "data": [[""] * len(roles) for _ in range(3)]}
    return {"headers": list(table.columns), "data": [list(row) for row in table.rows[: _count_shown(table)]]}


def column_shares(rows: dict[str, list]) -> list[str]:
    """How wide the columns of first_rows are: by their texts, so that a label beside a long sentence is in sight."""
    cells = [rows["headers"], *rows["data"]]
    lengths = [max(len(str(row[place])) for row in cells) for place in range(len(rows["headers"]))]
    weights = [min(LONGEST_SHARE, max(LEAST_SHARE, length)) for length in lengths]
    return [f"{100 * weight / sum(weights):.0f}%" for weight in weights]


def edited(table: Table | None, task: str, rows: Sequence[Sequence[object]]) -> EditedTable:
    """A table whose first rows are others now.

    Args:
        table: What first_rows showed the beginning of.
        task: A key of TASKS.
        rows: As they stand on the page. Empty ones keep their place, so that the others keep theirs when more is
            typed, and do not count when the table is read.
    """
    written = [tuple("" if cell is None else clean_text(str(cell)) for cell in row) for row in rows]
    if table is None:
        names = tuple(first_rows(None, task)["headers"])
        return EditedTable(
            "Your examples", names, tuple(written), tuple(range(1, len(written) + 1)), shown=len(written)
        )
    width, shown = len(table.columns), _count_shown(table)
    written = [(*row, *[""] * width)[:width] for row in written]
    last = table.numbers[shown - 1] if shown else 0
    added = range(last + 1, last + 1 + len(written))
    known = {one.name: getattr(table, one.name) for one in fields(Table)}
    return EditedTable(
        **known
        | {
            "rows": (*written, *table.rows[shown:]),
            "numbers": (*[*table.numbers[:shown], *added][: len(written)], *table.numbers[shown:]),
        },
        shown=len(written),
    )


def _count_shown(table: Table) -> int:
    return table.shown if isinstance(table, EditedTable) else min(SHOWN_ROWS, len(table.rows))


def _filled(table: Table) -> Table:
    """A table without the rows that stand empty on the page; of a file, the reader has left them out."""
    if not isinstance(table, EditedTable):
        return table
    kept = [place for place, row in enumerate(table.rows) if any(cell.strip() for cell in row)]
    rows, numbers = ([of[place] for place in kept] for of in (table.rows, table.numbers))
    return replace(table, rows=tuple(rows), numbers=tuple(numbers))


def guess_roles(table: Table, task: str) -> tuple[tuple[Role, ...], dict[str, str]]:
    """What the columns of a table can be for a task, and which is taken for what.

    Raises:
        UnsuitableText: It has too few columns.
    """
    found = guess_columns(_filled(table), task)
    return layout_of(task, found), found


def chosen_columns(table: Table, task: str, chosen: Sequence[str | None]) -> dict[str, str]:
    """Role.key -> name of a column, as the visitor chose them; `chosen` and errors as of read_given."""
    roles, columns = guess_roles(table, task)
    if not any(chosen):
        return columns
    names = [*chosen[: len(roles) - 1], *chosen[-1:]]
    picked = {role.key: name for role, name in zip(roles, names, strict=False) if name in table.columns}
    guessed = {role.key: columns[role.key] for role in roles if role.is_needed}
    return {key: name for key, name in guessed.items() if name not in picked.values()} | picked


def examples_key(
    task: str, source: str, key: str = "", held_key: str = "", aside: float = 0.0, *chosen: str | None
) -> str:
    """Differs when the panel holds other examples, or takes them otherwise; arguments as of read_given, and:

    Args:
        aside: Share to measure on.
    """
    if source != YOURS:
        return f"{task} {source}"
    try:
        columns = chosen_columns(given_tables().get(key), task, chosen) if key else {}
    except UnsuitableText:  # said where they are read
        columns = {}
    return json.dumps([task, key, held_key, aside, sorted(columns.items())])


def source_of(task: str, name: str) -> str:
    """Where a set of a name is from: OURS, OUR_SCORES, or else YOURS."""
    scored = own_examples(task, scored=True).name
    return OURS if name == own_examples(task).name else OUR_SCORES if name == scored else YOURS


def is_pasted(key: str) -> bool:
    """Whether the visitor's table is what stood in the box of pasted rows, or none; not once rows of it are edited."""
    try:
        table = given_tables().get(key) if key else None
    except UnsuitableText:
        return True
    return table is None or (table.name == PASTED and not isinstance(table, EditedTable))


def read_given(task: str, source: str, key: str, held_key: str, chosen: Sequence[str | None]) -> ExampleSet:
    """The examples that the panel holds, as they are.

    Args:
        task: A key of TASKS.
        source: OURS, OUR_SCORES or YOURS.
        key: Of the visitor's table; "" = there is none.
        held_key: Of one to measure on; "" = there is none.
        chosen: Names of columns, in the order of the roles, that of the part last; () = as they are guessed. None or
            "" = of a needed role as it is guessed, else none.

    Raises:
        UnsuitableText: There are none, or they cannot be read so; the message says what to do.
    """
    if source != YOURS:
        return own_examples(task, scored=source == OUR_SCORES)
    if not key:
        raise UnsuitableText("There are no examples yet. Load a file, paste some rows, or type them into the table.")
    table = _filled(given_tables().get(key))
    columns = chosen_columns(table, task, chosen)
    examples = make_examples(table, task, columns)
    if held_key:
        measured = given_tables().get(held_key)
        lacking = [name for name in columns.values() if name not in measured.columns]
        found = guess_columns(measured, task) if lacking else columns
        held_out = make_examples(measured, task, found)
        if lacking:
            held_out = replace(held_out, notes=(_read_otherwise(task, lacking, found), *held_out.notes))
        examples = with_held_out(examples, held_out)
    return examples


def _read_otherwise(task: str, lacking: Sequence[str], found: dict[str, str]) -> str:
    """What stands for columns of the first table that the second lacks: a guess, which may be a wrong one."""
    read = ", ".join(f"“{found[role.key]}” as {role.label}" for role in layout_of(task, found) if role.key in found)
    return f"it has no column {', '.join(map('“{}”'.format, lacking))}, as the first file has; read here are {read}."
