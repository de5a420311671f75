"""The examples that the panel of the tab Fine-tune holds, from what visitors give."""

import gzip
import time
from threading import Thread

import gradio as gr
import pytest

from explorer.errors import UnsuitableText
from explorer.settings import settings
from explorer.tabs.fine_tune import data
from explorer.tabs.fine_tune.given import (
    OUR_SCORES,
    OURS,
    SHOWN_ROWS,
    YOURS,
    GivenTables,
    column_shares,
    edited,
    first_rows,
    given_tables,
    read_given,
    table_in_sight,
)
from explorer.training.tuning.own import own_examples
from explorer.training.tuning.reading import Table, read_table
from explorer.training.tuning.recipe import TASKS

ROWS = "id,kind,said\n" + "".join(f"{n},{'ab'[n % 2]},a sentence of {n} words\n" for n in range(40))


@pytest.fixture
def key():
    return given_tables().put(read_table(ROWS))


@pytest.mark.parametrize("task", TASKS)
def test_ours_of_each_task_are_offered_as_they_ship(task):
    assert data.read_examples(task, OURS) is own_examples(task)
    rows = first_rows(table_in_sight(task, OURS, ""), task)
    assert "split" not in rows["headers"] and len(rows["data"]) == SHOWN_ROWS
    said, group, box, table, *columns = data._draw(task, OURS, "", "", 0.2)
    assert "held out to measure on" in said and "error" not in said
    assert group.visible is False and not any(column.visible for column in columns)
    assert box.placeholder == data.PASTE[task] and table.interactive is False


def test_our_scored_pairs_are_another_choice_when_sentences_are_compared():
    assert data.read_examples("similarity", OUR_SCORES) is own_examples("similarity", scored=True)
    assert data._other_source("similarity", OURS).value == OURS
    assert data._other_source("pairs", OUR_SCORES).value == OURS and data._other_source("pairs", YOURS).value == YOURS


def test_a_source_that_suits_another_task_is_left_alone_as_a_job_may_have_brought_another_meanwhile():
    assert "value" not in data._offer_sources("similarity", OURS).constructor_args
    assert "value" not in data._offer_sources("pairs", YOURS).constructor_args
    assert data._offer_sources("pairs", OUR_SCORES).value == OURS


def test_the_examples_are_described_by_one_event_that_follows_the_source_and_of_several_answers_the_last():
    with gr.Blocks() as page:
        source, *_ = data.build_data(gr.Dropdown([*TASKS], value="classification")).inputs
    ids = {getattr(block, "elem_id", ""): key for key, block in page.blocks.items()}
    events = page.get_config_file()["dependencies"]
    [describes] = [
        one for one in events if ids["tune-table"] in one["outputs"][1:] and one["outputs"][0] == ids["tune-data-said"]
    ]
    assert describes["trigger_mode"] == "always_last" and source._id in describes["inputs"]
    [(trigger, _)] = describes["targets"]
    before = [one for one in events if trigger in one["outputs"]]
    assert [source._id, "change"] in [[*target] for one in before for target in one["targets"]]


def test_yours_are_read_by_the_columns_chosen_and_a_share_is_set_aside(key):
    made = data.read_examples("classification", YOURS, key, "", 0.25, "said", "kind", None, None, "")
    assert made == data.read_examples("classification", YOURS, key, "", 0.25)
    assert (len(made.train), len(made.held_out)) == (30, 10)
    assert read_given("classification", YOURS, key, "", ("id", "kind", None, None, "")).train[0].text == "0"
    with pytest.raises(UnsuitableText, match="chosen twice"):
        read_given("classification", YOURS, key, "", ("kind", "kind", None, None, ""))
    with pytest.raises(UnsuitableText, match="no examples yet"):
        data.read_examples("classification", YOURS)
    with pytest.raises(UnsuitableText, match="no longer in memory"):
        data.read_examples("classification", YOURS, "never given")


def test_a_part_is_a_column_or_a_second_file(key):
    measured = given_tables().put(read_table("id,kind,said\n1,a,something new\n2,b,something else\n"))
    made = data.read_examples("classification", YOURS, key, measured, 0.2)
    assert (len(made.train), [one.text for one in made.held_out]) == (40, ["something new", "something else"])
    other_names = given_tables().put(read_table("text\tlabel\nsomething new\ta\nsomething else\tb\n"))
    assert data.read_examples("classification", YOURS, key, other_names).held_out == made.held_out
    told = data._look("classification", YOURS, key, other_names, 0.2)
    assert (
        "it has no column “said”, “kind”, as the first file has; read here are “text” as Sentence, “label” as" in told
    )
    assert "has no column" not in data._look("classification", YOURS, key, measured, 0.2)
    wrong = given_tables().put(read_table("remark;comment;stars\nx;new here;5\ny;else there;1\n"))
    told = data._look("classification", YOURS, key, wrong, 0.2)
    assert "only among the examples that are measured on" in told and "it has no column “said”, “kind”" in told
    split = ROWS.replace("id,", "split,").replace("\n3,", "\ntest,").replace("\n7,", "\ndev,")
    split = "\n".join(line if line[:1] in "std" else "train" + line[line.index(",") :] for line in split.splitlines())
    made = data.read_examples("classification", YOURS, given_tables().put(read_table(split)))
    assert (len(made.train), len(made.held_out)) == (38, 2)


def read_edited(task, table):
    return read_given(task, YOURS, given_tables().put(table), "", ())


def test_edited_rows_take_the_place_of_the_first_ones(key):
    table = given_tables().get(key)
    rows = first_rows(table, "classification")["data"]
    rows[0][2], rows[1] = "changed", ["", None, ""]
    rows.append(["", "b", "added"])
    after = edited(table, "classification", rows)
    assert after.rows[0][2] == "changed" and after.rows[SHOWN_ROWS][2] == "added"
    assert after.rows[SHOWN_ROWS + 1 :] == table.rows[SHOWN_ROWS:] and table.rows[0][2] != "changed"
    assert len(read_edited("classification", after).train) == len(table.rows), "one emptied, one added"


def test_rows_edited_again_and_again_keep_their_numbers_and_none_is_lost_or_taken_twice(key):
    table = given_tables().get(key)
    rows = first_rows(table, "classification")["data"]
    for change in ([1, ["", "", ""]], [0, ["0", "a", "changed"]], [SHOWN_ROWS, ["", "b", "added"]], [2, [""] * 3]):
        rows[change[0] : change[0] + 1] = [change[1]]
        table = edited(table, "classification", rows)
        assert first_rows(table, "classification")["data"] == [list(row) for row in rows], "as on the page"
    said = [one.text for one in read_edited("classification", table).train]
    wanted = ["changed", *(f"a sentence of {n} words" for n in range(3, SHOWN_ROWS)), "added"]
    assert said == [*wanted, *(f"a sentence of {n} words" for n in range(SHOWN_ROWS, 40))]


def test_of_what_is_typed_from_nothing_a_message_names_the_row_where_it_stands_on_the_page():
    table, rows = None, first_rows(None, "pairs")["data"]
    for place, row in ((1, ["A dog", "An animal", "yes"]), (2, ["A cat", "", "no"]), (4, ["", "A bird", "no"])):
        rows += [["", "", ""] for _ in range(place + 1 - len(rows))]
        rows[place] = row
        table = edited(table, "pairs", rows)
    assert table.columns == ("premise", "hypothesis", "label") and table.numbers == (1, 2, 3, 4, 5)
    said = data._say("pairs", YOURS, given_tables().put(table), "", data.ASIDE)
    assert "the second is empty (row 3); the first sentence is empty (row 5)" in said


def test_a_label_beside_a_long_sentence_has_room():
    rows = {"headers": ["text", "label"], "data": [["a long sentence " * 9, "x"]]}
    assert column_shares(rows) == ["73%", "27%"]


def test_the_oldest_tables_leave_when_room_is_short():
    tables = GivenTables(room_mib=0.01)
    keys = [tables.put(read_table(ROWS.replace("kind", f"kind{n}"))) for n in range(4)]
    assert tables.get(keys[-1]).columns[1] == "kind3"
    with pytest.raises(UnsuitableText, match="Load the file"):
        tables.get(keys[0])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"<html><body>no</body></html>", "is a web page"),
        (b"PK\x03\x04", "zip file"),
        (gzip.compress(bytes(2**20), 9) * 80, "NUL"),
        (gzip.compress(b"x" * 2**20, 9) * 80, "64 MiB"),
        (b"text,label\nonly one,a\n", "one example"),
        (b"text,label\n" + b"one more,a\n" * 20, "nothing to tell apart"),
        (b"one column <script>alert(1)</script>\n" * 9, "has one column"),
    ],
)
def test_what_cannot_be_used_is_said_in_place_and_the_page_goes_on(tmp_path, content, said):
    path = tmp_path / "mine <i>.csv"
    path.write_bytes(content)
    assert settings().largest_examples_mib == 64
    first, *_, last = data._take("classification", "", 0.2, lambda: read_table(path, task="classification"))
    assert "Reading" in first[1] and len(first) == len(last) == 6 + data.SLOTS
    assert said in last[1] and "role='alert'" in last[1]
    assert "<i>" not in last[1] and "<script>" not in last[1]


def test_fifty_megabytes_are_read_while_another_visitor_is_answered(tmp_path):
    path, rows = tmp_path / "large.csv", 24_000
    path.write_text("text,label\n" + "".join(f'"{"sentence" * 256}{n}",{"ab"[n % 2]}\n' for n in range(rows)))
    assert 48e6 < path.stat().st_size < settings().largest_examples_mib * 2**20
    drawn, waits = [], []

    def load() -> None:
        drawn.extend(data._take("classification", "", 0.2, lambda: read_table(path, task="classification")))

    loading = Thread(target=load)
    loading.start()
    began = time.perf_counter()
    while loading.is_alive():
        asked = time.perf_counter()
        assert "complaint" in data._say("classification", OURS, "", "", 0.2)
        waits.append(time.perf_counter() - asked)
        loading.join(0.1)
    took = time.perf_counter() - began
    key, said, *_ = drawn[-1]
    assert "large.csv" in said and f"Of {rows:,} examples 20,000 are learned from" in said
    assert len(given_tables().get(key).rows) == rows
    assert len(waits) > 5 and sorted(waits)[int(0.95 * len(waits))] < took / 4, (
        "whoever waits for the whole file waits longer"
    )


def test_what_is_read_fills_the_choice_of_columns():
    *_, (key, said, group, _, rows, *columns) = data._take("classification", "", 0.2, lambda: read_table(ROWS))
    assert given_tables().get(key).columns == ("id", "kind", "said")
    assert "40 examples; 8 of them (20 %) are" in said and group.visible and rows.interactive
    shown = [(column.label, column.value) for column in columns if column.visible]
    assert shown == [("Sentence", "said"), ("Label", "kind"), ("Part (train, held-out)", "")]
    assert data._draw("similarity", YOURS, key, "", 0.2)[0].count("error") == 1  # other columns are needed for that


def test_pasted_rows_go_with_what_stood_in_the_box_and_a_file_or_edits_do_not(tmp_path):
    with gr.Blocks() as page:
        data.build_data(gr.Dropdown([*TASKS], value="classification"))
    take_text = next(one.fn for one in page.fns.values() if "take_text" in getattr(one.fn, "__qualname__", ""))
    pasted = given_tables().put(read_table(ROWS, task="classification"))
    for key in (pasted, "", "one that has left"):
        [(left, said, _, box, rows, *columns)] = take_text("", "classification", "", 0.2, key)
        assert left == "" and "Load a file, paste some rows" in said and box == gr.skip()
        assert rows.value["data"] == [["", ""]] * 3 and not any(column.visible for column in columns)
    file = tmp_path / "a.csv"
    file.write_text(ROWS)
    held = read_table(file), edited(given_tables().get(pasted), "classification", [["1", "a", "another"]])
    for key in map(given_tables().put, held):
        assert list(take_text("", "classification", "", 0.2, key)) == [tuple([gr.skip()] * 10)]


@pytest.mark.parametrize(("classes", "each", "held_out"), [(6, 2, 6), (2, 5, 2), (2, 60, None)])
def test_so_few_as_will_be_held_out_are_told_before_the_start(classes, each, held_out):
    rows = tuple((f"text {label} {number}", f"class {label}") for label in range(classes) for number in range(each))
    key = given_tables().put(Table("mine", ("text", "label"), rows, tuple(range(1, len(rows) + 1))))
    told = data._say("classification", YOURS, key, "", data.ASIDE)
    if held_out is None:
        assert "a score on so few" not in told
    else:
        assert f"{held_out} held out to measure on: a score on so few" in told
        assert len(data.read_examples("classification", YOURS, key).held_out) == held_out
