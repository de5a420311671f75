"""Labelled examples of the rows of a table: few rows that cannot be used are left out and named, many are refused."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from functools import lru_cache

from explorer.errors import UnsuitableText
from explorer.settings import settings
from explorer.training.tuning.columns import layout_of
from explorer.training.tuning.examples import Example, ExampleSet
from explorer.training.tuning.recipe import TASKS
from explorer.training.tuning.row_examples import READERS, UnusableRow, read_words, score_scale
from explorer.training.tuning.table import Table

TRAIN = frozenset({"", "train", "training", "learn"})
HELD_OUT = frozenset({"heldout", "test", "testing", "dev", "valid", "validation", "val", "eval", "evaluation"})
MOST_NAMED = 5  # rows in a message
MOST_LOST = 0.5  # share of the rows: beyond it the columns or the file are mistaken, not some rows
SEED = 0

Marked = tuple[int, str, Example]  # number of the row, its part, the example


def make_examples(table: Table, task: str, columns: dict[str, str], name: str = "") -> ExampleSet:
    """Examples of a table's rows.

    Args:
        table: As it was read.
        task: A key of TASKS.
        columns: Role.key -> name of a column, as guess_columns finds them or the visitor chose them. With a "split",
            rows marked "test", "held-out", "dev" or "validation" are measured on and not learned from.
        name: Of the set; "" = that of the table.

    Returns:
        At most settings().most_examples to learn from and as many to measure on, drawn evenly; its notes say which
        rows were left out, and why.

    Raises:
        UnsuitableText: A needed column is missing or taken twice, or half of the rows cannot be used.
    """
    _check_columns(table, task, columns)
    notes = list(table.notes)
    chosen = {key: table.column(called) for key, called in columns.items()}
    lost: dict[str, list[int]] = {}
    if task == "tagging" and not any(len(cell.split()) > 1 for cell in chosen["words"]):
        made = read_words(table, chosen, lost, notes)
        count = len(made) + _number_of(lost)
    else:
        places = _draw_rows(chosen.get("split", ("",) * len(table.rows)), notes)
        made, count = list(_read_rows(table, task, chosen, places, lost, notes)), len(places)
    _tell_losses(table, name or table.name, lost, count, notes)
    train = [example for _, part, example in made if part in TRAIN]
    held_out = [example for _, part, example in made if part not in TRAIN]
    if held_out and not train:
        raise UnsuitableText(f"All rows of {table.name} are marked to measure on; mark some “train” to learn from.")
    return ExampleSet(
        name=name or table.name,
        task=task,
        train=tuple(train[place] for place in _draw(range(len(train)), "learned from", notes)),
        held_out=tuple(held_out[place] for place in _draw(range(len(held_out)), "measured on", notes)),
        notes=tuple(dict.fromkeys(notes)),
    )


def with_held_out(examples: ExampleSet, held_out: ExampleSet) -> ExampleSet:
    """A set to learn from, and another to measure on.

    Args:
        examples: What it has to measure on already is left out.
        held_out: Of the same task; all of it is measured on.

    Raises:
        UnsuitableText: They are of two tasks.
    """
    if examples.task != held_out.task:
        raise UnsuitableText(
            f"{examples.name} is for “{TASKS[examples.task]}” and {held_out.name} for “{TASKS[held_out.task]}”."
        )
    measured = held_out.train + held_out.held_out
    notes = dict.fromkeys((*examples.notes, *(f"{held_out.name}: {note}" for note in held_out.notes)))
    return ExampleSet(examples.name, examples.task, examples.train, measured, tuple(notes))


def _check_columns(table: Table, task: str, columns: dict[str, str]) -> None:
    for role in layout_of(task, columns):
        called = columns.get(role.key)
        if called is None and role.is_needed:
            raise UnsuitableText(f"Choose the column for “{role.label}”.")
        if called is not None and called not in table.columns:
            raise UnsuitableText(f"{table.name} has no column “{called}”. It has: {', '.join(table.columns)}.")
    twice = {called for called in columns.values() if list(columns.values()).count(called) > 1}
    if twice:
        raise UnsuitableText(f"The column “{min(twice)}” is chosen twice. Choose another for one of the two.")


def _read_rows(
    table: Table,
    task: str,
    chosen: dict[str, tuple[str, ...]],
    places: Sequence[int],
    lost: dict[str, list[int]],
    notes: list[str],
) -> Iterable[Marked]:
    keys = [key for key in chosen if key != "split"]
    read = READERS[task]
    scale = score_scale(chosen["score"], notes) if "score" in chosen else None
    longest = settings().longest_text_characters
    parts = chosen.get("split", [""] * len(table.rows))
    for place in places:
        number = table.numbers[place]
        cells = {key: chosen[key][place] for key in keys}
        try:
            if any(len(cell) > longest for cell in cells.values()):
                raise UnusableRow(f"a text is longer than {longest:,} characters")
            example = read(cells) if scale is None else read(cells | {"scale": scale})
            part = _part_of(parts[place])
        except UnusableRow as why:
            lost.setdefault(str(why), []).append(number)
        else:
            yield number, part, example


def _part_of(cell: str) -> str:
    part = _tidy(cell)
    if part not in TRAIN | HELD_OUT:
        raise UnusableRow("the part is neither “train” nor “held-out”, “test”, “dev” or “validation”")
    return part


@lru_cache(maxsize=64)  # few different cells, in each of many rows
def _tidy(part: str) -> str:
    return "".join(filter(str.isalnum, part.casefold()))


def _tell_losses(table: Table, name: str, lost: dict[str, list[int]], count: int, notes: list[str]) -> None:
    if not lost:
        return
    number = _number_of(lost)
    said = "; ".join(
        f"{reason} ({_rows(rows)})" for reason, rows in sorted(lost.items(), key=lambda one: -len(one[1]))
    )  # fmt: skip
    if number >= max(1, count) * MOST_LOST:
        all_of = "None of its rows" if number >= count else f"Only {count - number:,} of its {count:,} rows"
        mend = "Choose other columns, or mend the rows."
        raise UnsuitableText(f"{name}: {all_of} can be used: {said}. {mend}{_counting(table)}")
    notes.append(f"{number:,} of {count:,} {'was' if number == 1 else 'were'} left out: {said}.{_counting(table)}")


def _counting(table: Table) -> str:
    """Which row is which, where the first is no example."""
    if not table.names_row:
        return ""
    return (
        f" Rows are counted as in the file: row {table.names_row} holds the names of the columns, and row "
        f"{table.numbers[0]:,} is the first example."
    )


def _number_of(lost: dict[str, list[int]]) -> int:
    return sum(map(len, lost.values()))


def _rows(rows: Sequence[int]) -> str:
    named = ", ".join(f"{row:,}" for row in rows[:MOST_NAMED])
    more = f" and {len(rows) - MOST_NAMED:,} more" if len(rows) > MOST_NAMED else ""
    return f"row{'s' if len(rows) > 1 else ''} {named}{more}"


def _draw_rows(parts: Sequence[str], notes: list[str]) -> Sequence[int]:
    """Places of the rows that are read: of many, so many of each part as the settings allow."""
    train = [place for place, part in enumerate(parts) if _tidy(part) in TRAIN]
    others = [place for place, part in enumerate(parts) if _tidy(part) not in TRAIN]
    return sorted([*_draw(train, "learned from", notes), *_draw(others, "measured on", notes)])


def _draw(places: Sequence[int], purpose: str, notes: list[str]) -> Sequence[int]:
    """At random, in their order: the first ones may all be of one class."""
    most = settings().most_examples
    if len(places) <= most:
        return places
    notes.append(f"Of {len(places):,} examples {most:,} are {purpose}, drawn at random.")
    return sorted(random.Random(SEED).sample(places, most))
