import csv
import io
import json
import math

import numpy as np
import pytest

from explorer.analysis.compute_loss import compute_loss
from explorer.analysis.contrast_texts import contrast_texts
from explorer.analysis.exporting import escape_formulas, to_csv, to_json, to_tables
from explorer.analysis.fill_blanks import fill_blanks, fill_blanks_batch
from explorer.analysis.rank_candidates import rank_candidates
from explorer.analysis.results import TracePoint, TrainingTrace
from explorer.analysis.reveal_blanks import reveal_blanks
from explorer.analysis.span_filling import fill_spans
from explorer.analysis.tokenize_text import tokenize_text


@pytest.fixture(scope="module")
def results(bert):
    return {
        "fills": fill_blanks(bert, "the ___ is ___", top_k=2, count=3),
        "reveal": reveal_blanks(bert, "the ___ is ___", top_k=2),
        "ranking": rank_candidates(bert, "the ___ is ___", candidates=[["cat", "new york"], []], top_k=2),
        "contrast": contrast_texts(bert, "he is ___", other_text="she is ___", top_k=4),
        "spans": fill_spans(bert, "the ___ is ___", count=2),
        "tokens": tokenize_text(bert, "the ___ is"),
        "example": compute_loss(bert, "the cat is in paris", seed=1),
        "trace": TrainingTrace(
            "tiny bert",
            tuple(TracePoint(n, 2.0 * n, {"loss": 3.0 / n}, (("a", "=b"), ("c", "d"))) for n in (1, 2)),
        ),
    }


def test_json_of_a_result_has_the_promised_fields(results):
    fills = json.loads(json.dumps(to_json(results["fills"])))
    assert set(fills) == {"model", "text", "tokens", "strategy", "score", "blanks", "completions", "remarks"}
    assert set(fills["blanks"][0]["choices"][0]) == {"text", "token", "token_id", "probability"}
    assert set(fills["completions"][0]) == {"text", "fills", "log_probability"}
    assert fills["completions"][0]["log_probability"] == results["fills"].completions[0].log_probability


def test_every_result_turns_into_strict_json(results):
    for result in results.values():
        json.dumps(to_json(result), allow_nan=False)


def test_json_of_arrays_sets_and_numbers_that_are_not_finite():
    value = to_json({"a": np.array([[1.5, np.nan]]), "b": np.float32(2), "c": frozenset("ba"), "d": (math.inf, None)})
    assert value == {"a": [[1.5, None]], "b": 2.0, "c": ["a", "b"], "d": [None, None]}


def test_json_refuses_what_it_does_not_know():
    with pytest.raises(TypeError, match="object has no place in JSON"):
        to_json({"a": object()})


def test_tables_have_names_and_every_row_says_the_model(results):
    for result in results.values():
        for header, *rows in to_tables(result).values():
            assert header[0] == "model"
            assert rows
            assert {len(row) for row in rows} == {len(header)}
            assert {row[0] for row in rows} == {"tiny bert"}


def test_tables_of_fills_hold_their_numbers(results):
    fills = results["fills"]
    tables = to_tables(fills)
    assert len(tables["choices"]) == 1 + 2 * 2
    assert len(tables["completions"]) == 1 + 3
    choice = dict(zip(tables["choices"][0], tables["choices"][3], strict=True))
    assert choice["blank"] == 2
    assert choice["probability"] == fills.blanks[1].choices[0].probability
    completion = dict(zip(tables["completions"][0], tables["completions"][1], strict=True))
    assert completion["completion"] == fills.completions[0].text
    assert completion["fill_2"] == fills.completions[0].fills[1]


def test_tables_of_a_trace_hold_scores_and_answers(results):
    tables = to_tables(results["trace"])
    assert tables["scores"][1:] == [["tiny bert", 1, 2.0, "loss", 3.0], ["tiny bert", 2, 4.0, "loss", 1.5]]
    answers = [row[1:] for row in tables["answers"][1:]]
    assert answers == [[1, "a", "=b"], [1, "c", "d"], [2, "a", "=b"], [2, "c", "d"]]


def test_tables_of_an_example_hold_fates_and_losses(results):
    tables = to_tables(results["example"])
    [answer] = tables["answers"][1:]
    index, loss = answer[5], answer[-1]
    assert tables["tokens"][1 + index][-1] in ("masked", "randomized", "unchanged")
    assert loss == results["example"].loss_nats
    assert len(tables["inputs"]) == len(tables["tokens"]) == 1 + 7


def test_several_results_become_one_table(bert):
    batch = fill_blanks_batch(bert, ["the ___", "a ___"], top_k=2)
    table = to_tables(batch)["choices"]
    assert [row[1] for row in table] == ["text", "the ___", "the ___", "a ___", "a ___"]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_no_cell_is_run_as_a_formula(start):
    assert escape_formulas([[f"{start}1+1", "a=b", -1.5]]) == [[f"'{start}1+1", "a=b", -1.5]]


def test_csv_is_read_back_whole(bert):
    text = '=HYPERLINK("x"),\n"___"'
    rows = list(csv.reader(io.StringIO(to_csv(to_tables(fill_blanks(bert, text, top_k=1))["choices"]), newline="")))
    assert rows[1][1] == "'" + text
    assert len(rows) == 2
