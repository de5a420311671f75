"""The examples that a model is fine-tuned on: our own set of the task, or the visitor's, with what is to know of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import gradio as gr

from explorer.figures.class_balance import balance_bars
from explorer.figures.notes import note
from explorer.settings import settings
from explorer.tabs import lenient
from explorer.tabs.fine_tune.given import (
    OUR_SCORES,
    OURS,
    YOURS,
    column_shares,
    edited,
    first_rows,
    given_tables,
    guess_roles,
    is_pasted,
    read_given,
    table_in_sight,
)
from explorer.tabs.messages import QUIET, explain
from explorer.tabs.uploads import file_button
from explorer.training.tuning.checks import check_examples, refuse_problems
from explorer.training.tuning.examples import ExampleSet
from explorer.training.tuning.reading import Table, read_table
from explorer.training.tuning.recipe import FEW_HELD_OUT
from explorer.training.tuning.sampling import split_examples

SLOTS = 4  # roles of the task with most, but for the part
ASIDE = 0.2  # share of the examples
FEW = "{count} held out to measure on: a score on so few says little."
SEED = 0  # so that runs with other seeds are measured on the same examples
MOST_PASTED = 1_000_000  # characters; more comes as a file
READ_AT_ONCE = 2  # large files of all visitors, each of which takes a few seconds and some memory
PASTE = {  # task -> rows as they may be pasted
    "classification": "Lovely from start to finish.\tpraise\nThe soup was cold.\tcomplaint",
    "pairs": "A dog runs.\tAn animal moves.\tentailment\nA dog runs.\tA dog sleeps.\tcontradiction",
    "tagging": "Ada B-PER\nlives O\nin O\nYork B-LOC\n\nJo B-PER\nleft O",
    "answers": "Who ran home?\tAnn ran home.\tAnn",
    "similarity": "A boat sank.\tA ship went down.\tA boat was built.",
    "masked": "The queen is laying well.\nWe put a second super on hive four.",
    "causal": "The queen is laying well.\nWe put a second super on hive four.",
    "text_to_text": "He left at noon.\tDid he leave at noon?",
}


@dataclass(frozen=True)
class DataPanel:
    """The panel on the page.

    Attributes:
        inputs: What read_examples takes after the task, in its order.
        other_task: Event after which the task is another one.
        restored: What put_back fills, in its order.
    """

    inputs: list[gr.components.Component]
    other_task: gr.events.Dependency
    restored: list[gr.components.Component]


def build_data(task: gr.Dropdown) -> DataPanel:
    """Lay out the panel and wire it; when the task is another one, it offers the own set of that.

    Args:
        task: Holds a key of TASKS.
    """
    first = "classification"
    most = f"{settings().largest_examples_mib:g} MiB"
    key, held = gr.State(""), gr.State("")
    source = lenient.Radio(_sources(first), value=OURS, label="Examples", elem_id="tune-source")
    source.linked = (OURS, OUR_SCORES, YOURS)
    said = gr.HTML(_say(first, OURS, "", "", ASIDE), padding=False, elem_id="tune-data-said")
    with gr.Column(visible=False, elem_classes="tune-own") as group:
        file = file_button("Examples from a file", None, "tune-file")
        paste = gr.Textbox(
            "", lines=2, max_lines=8, max_length=MOST_PASTED, label="Or paste rows", elem_id="tune-paste",
            info=f"With tabs or commas between. Files: csv, tsv, jsonl, json or text, also in gzip; at most {most}.",
            placeholder=PASTE[first],
        )  # fmt: skip
        with gr.Row(elem_classes="tune-columns"):
            columns = [_column(f"tune-column-{slot}") for slot in range(SLOTS)]
        with gr.Accordion("Held-out examples", open=False, elem_id="tune-held"):
            held_file = file_button("From a second file", None, "tune-held-file")
            without = gr.Button("Without the second file", size="sm", visible=False, elem_classes="own-file")
            columns.append(_column("tune-part"))
            aside = gr.Slider(
                0.05, 0.5, ASIDE, step=0.05, label="Share set aside", elem_id="tune-aside",
                info="To measure on, where neither a file nor a column says which.",
            )  # fmt: skip
    with gr.Accordion("The first rows", open=False, elem_id="tune-rows"):
        seen = first_rows(table_in_sight(first, OURS, ""), first)
        rows = gr.Dataframe(
            seen, column_widths=column_shares(seen), type="array", interactive=False, wrap=True, max_height=320,
            show_label=False, elem_id="tune-table", buttons=[],
        )  # fmt: skip
    panel = [source, key, held, aside, *columns]
    shown = [said, group, paste, rows, *columns]
    unchanged = [gr.skip()] * len(shown)  # a handler that answers nothing would empty them all

    def redraw(task: str, source: str, key: str, held: str, aside: float) -> tuple:
        return _draw(task, source, key, held, aside)

    def take_file(path: str | None, task: str, held: str, aside: float) -> Iterator[tuple]:
        if path:
            yield from _take(task, held, aside, lambda: read_table(Path(path), task=task))
        else:
            yield gr.skip(), *unchanged

    def take_text(text: str | None, task: str, held: str, aside: float, key: str) -> Iterator[tuple]:
        if (text or "").strip():
            yield from _take(task, held, aside, lambda: read_table(text, task=task), is_all=True)
        elif is_pasted(key):  # what stood in the box goes with it
            said, group, _, *others = _draw(task, YOURS, "", held, aside)
            yield "", said, group, gr.skip(), *others
        else:
            yield gr.skip(), *unchanged

    def take_held(path: str | None, task: str, source: str, key: str, aside: float, *chosen: str | None) -> tuple:
        try:
            main = table_in_sight(task, source, key) if path else None
            names = main.columns if main else ()
            other = given_tables().put(read_table(Path(path), task=task, names=names)) if path else ""
        except Exception as error:
            return gr.skip(), gr.skip(), explain(error)
        return other, gr.Button(visible=bool(path)), _say(task, source, key, other, aside, chosen)

    def edit(rows: list[list], task: str, source: str, key: str, held: str, aside: float, *chosen: str | None) -> tuple:
        try:
            table = table_in_sight(task, source, key)
            changed = given_tables().put(edited(table, task, rows))
        except Exception as error:
            return gr.skip(), explain(error)
        return changed, _say(task, source, changed, held, aside, chosen)

    reading = QUIET | {"concurrency_limit": READ_AT_ONCE, "concurrency_id": "read_examples"}
    # Of fields that are filled together, a first event knows those before: what goes with the task is asked for after.
    settled = task.change(None, None, None, js="() => {}", **QUIET)
    other_task = settled.then(lambda task, source: _offer_sources(task, source), [task, source], source, **QUIET)
    times = gr.Number(0, visible="hidden")
    for event in (other_task.then, source.change):
        event(None, times, times, js="times => times + 1", **QUIET)
    # One event describes, and one at a time: of two, the one asked for a source left since may be answered last.
    times.change(redraw, [task, source, key, held, aside], shown, trigger_mode="always_last", **QUIET)
    given = [task, held, aside]
    file.upload(take_file, [file, *given], [key, *shown], trigger_mode="multiple", **reading)
    paste.change(take_text, [paste, *given, key], [key, *shown], trigger_mode="always_last", **reading)
    looked = [task, source, key, held, aside, *columns]
    asked = [task, source, key, aside, *columns]
    held_file.upload(take_held, [held_file, *asked], [held, without, said], trigger_mode="multiple", **reading)
    without.click(lambda *given: take_held(None, *given), asked, [held, without, said], **QUIET)
    for changed in (aside.release, *(column.input for column in columns)):
        changed(_look, looked, said, trigger_mode="always_last", **QUIET)
    rows.input(edit, [rows, *looked], [key, said], trigger_mode="always_last", **QUIET)
    return DataPanel(panel, other_task, [source, key, held, without, *shown])


def put_back(task: str, source: str, table: Table | None, aside: float) -> tuple[tuple, tuple]:
    """What read_examples takes after the task when the panel holds these examples, and what stands in it then.

    Args:
        task: A key of TASKS.
        source: OURS, OUR_SCORES or YOURS.
        table: The visitor's; None = there is none.
        aside: Share set aside, which stays as it is.
    """
    key = given_tables().put(table) if table else ""
    shown = _other_source(task, source), key, "", gr.Button(visible=False), *_draw(task, source, key, "", aside)
    return (source, key, "", aside), shown


def read_examples(
    task: str, source: str, key: str = "", held: str = "", aside: float = ASIDE, *chosen: str | None
) -> ExampleSet:
    """The examples that the panel holds, with a part to measure on.

    Args:
        task: A key of TASKS.
        source: Ours, or the visitor's.
        key: Of the visitor's table.
        held: Of the visitor's table to measure on.
        aside: Share set aside where there is none.
        chosen: Names of columns, in the order of the task's roles, that of the part last.

    Raises:
        ExplorerError: They cannot be learned from; the message says why, and what to do.
    """
    examples = read_given(task, source, key, held, chosen)
    refuse_problems(examples)
    return _set_aside(examples, aside)


def _set_aside(examples: ExampleSet, aside: float) -> ExampleSet:
    return split_examples(examples, min(max(float(aside), 0.05), 0.5), seed=SEED)


def _sources(task: str) -> list[tuple[str, str]]:
    if task != "similarity":
        return [("Ours", OURS), ("Yours", YOURS)]
    return [("Our triplets", OURS), ("Our scored pairs", OUR_SCORES), ("Yours", YOURS)]


def _other_source(task: str, source: str) -> gr.Radio:
    choices = _sources(task)
    return gr.Radio(choices, value=source if source in dict(map(reversed, choices)) else OURS)


def _offer_sources(task: str, source: str) -> gr.Radio:
    """As _other_source; but a source that suits is left alone: a job may have brought another meanwhile."""
    choices = _sources(task)
    return gr.Radio(choices) if source in dict(map(reversed, choices)) else gr.Radio(choices, value=OURS)


def _take(task: str, held: str, aside: float, read: Callable, *, is_all: bool = False) -> Iterator[tuple]:
    """Read a table, and draw what is in it; what was there before stays where it cannot be read, unless it is that."""
    nothing = [gr.skip()] * (4 + SLOTS)
    yield gr.skip(), note("Reading …"), *nothing
    try:
        key = given_tables().put(read())
    except Exception as error:
        yield (
            ("", explain(error), *_draw(task, YOURS, "", held, aside)[1:])
            if is_all
            else (gr.skip(), explain(error), *nothing)
        )
        return
    said, group, _, *others = _draw(task, YOURS, key, held, aside)
    yield key, said, group, gr.skip(), *others


def _draw(task: str, source: str, key: str, held: str, aside: float) -> tuple:
    """All that the panel shows of a task and a source: words, group, box, rows, columns."""
    said, slots = _say(task, source, key, held, aside), [gr.Dropdown(visible=False)] * (SLOTS + 1)
    try:
        table = table_in_sight(task, source, key)
        if source == YOURS and table is not None:
            slots = _slots(table, task)
    except Exception as error:
        table, said = None, explain(error)
    seen = first_rows(table, task)
    rows = gr.Dataframe(seen, column_widths=column_shares(seen), interactive=source == YOURS)
    return said, gr.Column(visible=source == YOURS), gr.Textbox(placeholder=PASTE[task]), rows, *slots


def _column(elem_id: str) -> gr.Dropdown:
    return lenient.Dropdown([], label=" ", visible=False, filterable=False, elem_id=elem_id, min_width=140)


def _slots(table: Table, task: str) -> list[gr.Dropdown]:
    """A choice of column for each role of the task; that of the part comes last."""
    roles, found = guess_roles(table, task)
    slots = [
        gr.Dropdown(
            [*table.columns] if role.is_needed else [("None", ""), *((name, name) for name in table.columns)],
            value=found.get(role.key, ""), label=role.label, visible=True,
        )
        for role in roles
    ]  # fmt: skip
    return slots[:-1] + [gr.Dropdown(visible=False)] * (SLOTS + 1 - len(slots)) + slots[-1:]


def _look(task: str, source: str, key: str, held: str, aside: float, *chosen: str | None) -> str:
    return _say(task, source, key, held, aside, chosen)


def _say(
    task: str, source: str, key: str, held: str, aside: float, chosen: tuple[str | None, ...] = ()
) -> str:  # fmt: skip
    """What the examples are, in bars and words; what is wrong with them."""
    if source == YOURS and not key:
        return note("Load a file, paste some rows, or type examples into the table under “The first rows”.")
    try:
        examples = read_given(task, source, key, held, chosen)
        unit = "phrases" if task == "tagging" else "examples"
        checks = check_examples(examples)
        if checks.problems:
            return balance_bars(checks, examples.name, unit)
        held_out = len(_set_aside(examples, aside).held_out)
        bars = balance_bars(checks, examples.name, unit, 0 if examples.held_out else held_out)
        more = " Give more, or set more aside." if source == YOURS else ""
        return bars + (note(FEW.format(count=held_out) + more) if held_out < FEW_HELD_OUT else "")
    except Exception as error:
        return explain(error)
