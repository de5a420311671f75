"""Parts of a reading, and what is taken away of them."""

import csv
import io
import json

import numpy as np
import pytest

from explorer.analysis import read_attention
from explorer.analysis.attention_levels import mean_heads, roll_out, to_words, without_tokens
from explorer.analysis.attention_tables import check_numbers
from explorer.analysis.attention_view import view_attention
from explorer.analysis.exporting import to_csv, to_json, to_tables
from explorer.errors import UnsuitableText
from explorer.terminal_attention import describe_attention
from tests.analysis import objective_models
from tests.analysis.tiny_models import word_piece


@pytest.fixture(scope="module")
def reading():
    return read_attention(word_piece(), "the cat is walking .")


def test_one_head_is_that_head(reading):
    view = view_attention(reading, layer=1, head=0)
    np.testing.assert_array_equal(view.stack.weights, reading.weights[1:2, :1])
    assert (view.layers, view.heads, view.average, view.absorbed) == ((1,), (0,), "none", None)


def test_everything_is_there_unless_something_is_chosen(reading):
    view = view_attention(reading)
    np.testing.assert_array_equal(view.stack.weights, reading.weights)
    assert (view.layers, view.heads) == ((0, 1), (0, 1))


def test_what_is_averaged_is_what_was_chosen(reading):
    np.testing.assert_allclose(
        view_attention(reading, layer=1, average="heads").stack.weights[0, 0],
        reading.weights[1].mean(axis=0),
        atol=1e-6,
    )
    np.testing.assert_allclose(
        view_attention(reading, head=1, average="layers").stack.weights[0, 0],
        reading.weights[:, 1].mean(axis=0),
        atol=1e-6,
    )
    both = view_attention(reading, average="both")
    np.testing.assert_array_equal(both.stack.weights, mean_heads(reading.stacks[0], "both").weights)
    assert both.layers == both.heads == ()


def test_a_rollout_goes_up_to_a_layer(reading):
    rolled = view_attention(reading, average="rollout", layer=0)
    np.testing.assert_array_equal(rolled.stack.weights, roll_out(reading.stacks[0]).weights[:1])
    assert (rolled.layers, rolled.heads) == ((0,), ())


def test_words_without_special_tokens(reading):
    view = view_attention(reading, layer=0, head=1, level="words", hide_special=True, rescale=True)
    wanted = without_tokens(to_words(reading.stacks[0]), [0, 6], rescale=True)
    np.testing.assert_array_equal(view.stack.weights[0, 0], wanted.stack.weights[0, 1])
    assert [token.text for token in view.stack.keys] == ["the", "cat", "is", "walking", "."]
    assert view.hidden == ("[CLS]", "[SEP]")
    assert view.key_places == (1, 2, 3, 4, 5)
    assert view.absorbed[0, 0] == pytest.approx(wanted.absorbed[0, 1])


def test_cross_attention_keeps_its_queries():
    reading = read_attention(objective_models.bart(), "the cat", second_text="a dog")
    view = view_attention(reading, stack="cross", layer=1, head=0, hide_special=True)
    assert view.stack.queries == reading.stacks[2].queries
    assert view.query_places == tuple(range(len(view.stack.queries)))
    assert all(not token.is_special for token in view.stack.keys)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"layer": 2}, "counted from 0 to 1"),
        ({"head": -1}, "counted from 0 to 1"),
        ({"layer": True}, "no layer True"),
        ({"stack": "cross"}, "Choose one of: encoder"),
        ({"level": "letters"}, "pieces, words"),
        ({"average": "mode"}, "none, heads"),
        ({"average": "rollout", "head": 1}, "leave the head out"),
    ],
)
def test_what_there_is_not_is_refused(reading, options, message):
    with pytest.raises(UnsuitableText, match=message):
        view_attention(reading, **options)


def test_tables_hold_every_weight(reading):
    view = view_attention(reading, layer=1, hide_special=True)
    tables = to_tables(view)
    header, *rows = tables["weights"]
    assert len(rows) == view.stack.weights.size
    for row in rows:
        named = dict(zip(header, row, strict=True))
        assert named["layer"] == 2 and named["model"] == reading.model
        assert named["weight"] == reading.weights[1, named["head"] - 1, named["query"] - 1, named["key"] - 1]
        assert named["key_token"] == reading.tokens[named["key"] - 1].text
        word = reading.tokens[named["query"] - 1].word
        assert named["query_word"] == (None if word is None else word + 1)
    shares = [dict(zip(tables["hidden"][0], row, strict=True)) for row in tables["hidden"][1:]]
    assert [share["absorbed_share"] for share in shares] == view.absorbed[0].tolist()
    whole = to_tables(reading)["weights"]
    assert len(whole) == 1 + reading.weights.size
    assert [row[-1] for row in whole[1:]] == reading.weights.flatten().tolist()


def test_tokens_in_a_csv_are_no_formulas():
    view = view_attention(read_attention(word_piece(), "- cat"), layer=0, head=0)
    rows = list(csv.DictReader(io.StringIO(to_csv(to_tables(view)["weights"]))))
    assert {row["key_token"] for row in rows} == {"[CLS]", "'-", "cat", "[SEP]"}


def test_a_view_is_json(reading):
    sent = json.loads(json.dumps(to_json(view_attention(reading, layer=0, head=1, hide_special=True))))
    np.testing.assert_allclose(
        sent["stack"]["weights"], view_attention(reading, layer=0, head=1, hide_special=True).stack.weights
    )


def test_too_many_numbers_are_refused(reading, monkeypatch):
    monkeypatch.setattr("explorer.analysis.attention_tables.MOST_NUMBERS", 100)
    for ask in (lambda: check_numbers(*reading.stacks), lambda: to_tables(reading)):
        with pytest.raises(UnsuitableText, match="at most 100 are given at once. Ask for one layer and head"):
            ask()
    to_tables(view_attention(reading, layer=0, head=0))


def test_the_terminal_shows_the_strongest_links(reading):
    view = view_attention(reading, layer=1, head=0, hide_special=True)
    lines = describe_attention(view, top=3).splitlines()
    best = np.unravel_index(view.stack.weights[0, 0].argmax(), view.stack.weights.shape[2:])
    query, key = (int(place) for place in best)
    assert f"{view.query_places[query] + 1} {view.stack.queries[query].text}" in lines[1]
    assert f"{view.key_places[key] + 1} {view.stack.keys[key].text}" in lines[1]
    assert f"{100 * view.stack.weights[0, 0, query, key]:.1f} %" in lines[1]
    assert "the strongest 3 of 36 links" in lines[5]
    assert "Hidden: [CLS] [SEP]" in lines[6]
