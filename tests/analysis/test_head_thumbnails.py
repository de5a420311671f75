"""Heads in little show what plain loops say, with or without what is hidden."""

import numpy as np
import pytest

from explorer.analysis.attention_levels import to_words, without_tokens
from explorer.analysis.attention_packing import pack_reading, unpack_weights
from explorer.analysis.attention_results import AttentionReading, AttentionStack, AttentionToken
from explorer.analysis.head_thumbnails import Shown, draw_thumbnails, thumbnail_rows
from tests.analysis.test_attention_packing import HEADS, LAYERS, make_reading

TOKENS = [("[CLS]", None, 0), ("play", 0, 0), ("##ing", 0, 0), ("[SEP]", None, 0), ("now", 1, 1), ("[SEP]", None, 1)]


def make_pair() -> AttentionReading:
    tokens = tuple(AttentionToken(text, word, of, word is None, text.strip("#")) for text, word, of in TOKENS)
    weights = make_reading(len(tokens)).weights
    return AttentionReading("any", "playing", "now", False, (AttentionStack("encoder", tokens, tokens, weights),))


@pytest.mark.parametrize("length", [1, 7, 8, 29, 50])
def test_a_thumbnail_shows_the_largest_weight_of_each_block(length):
    stack = pack_reading(make_reading(length)).stacks[0]
    drawn = draw_thumbnails(stack, 8, Shown())
    cells = min(length, 8)
    assert drawn.cells.shape == (LAYERS, HEADS, cells, cells)
    bounds = [int(place) for place in np.linspace(0, length, cells, endpoint=False)] + [length]
    for row in range(cells):
        for column in range(cells):
            block = stack.roots[:, :, bounds[row] : bounds[row + 1], bounds[column] : bounds[column + 1]]
            assert (drawn.cells[:, :, row, column] == block.max(axis=(2, 3)) >> 8).all()
    assert drawn.hidden == () and not drawn.absorbed.any() and drawn.borders == (0, 0)


@pytest.mark.parametrize("by_words", [False, True])
def test_what_is_hidden_is_left_out_of_every_head_and_its_share_said(by_words):
    reading = make_pair()
    stack = to_words(reading.stacks[0]) if by_words else reading.stacks[0]
    hidden = [place for place, token in enumerate(stack.keys) if token.is_special]
    expected = without_tokens(stack, hidden)
    drawn = draw_thumbnails(pack_reading(reading).stacks[0], 32, Shown(by_words=by_words, special=False))
    assert drawn.hidden == ("[CLS]", "[SEP]")
    np.testing.assert_allclose(drawn.absorbed, expected.absorbed, atol=1e-4)
    np.testing.assert_allclose((drawn.cells / 255) ** 2, expected.stack.weights, atol=0.01)
    np.testing.assert_allclose(drawn.strongest, expected.stack.weights.max(axis=(2, 3)), atol=5e-5)
    assert drawn.borders == ((1 / 2,) * 2 if by_words else (2 / 3,) * 2)
    rows = thumbnail_rows("any", Shown(by_words=by_words), [drawn])
    assert len(rows) == 1 + LAYERS * HEADS and all(len(row) == len(rows[0]) for row in rows)
    query, key = np.unravel_index(expected.stack.weights[1, 0].argmax(), expected.stack.weights.shape[2:])
    row = dict(zip(rows[0], rows[1 + HEADS], strict=True))
    assert (row["layer"], row["head"]) == (2, 1)
    assert (row["query_token"], row["key_token"]) == (drawn.queries[query].text, drawn.keys[key].text)


def test_the_parts_of_a_pair_and_a_head_of_which_nothing_is_left():
    stack = pack_reading(make_pair()).stacks[0]
    weights = unpack_weights(stack.roots)
    drawn = draw_thumbnails(stack, 32, Shown(first=False, texts=(1, 0)))
    assert [token.segment for token in (*drawn.queries, *drawn.keys)] == [1, 1, 0, 0, 0]
    np.testing.assert_allclose((drawn.cells / 255) ** 2, weights[:, :, 4:, 1:4], atol=0.01)
    one = pack_reading(make_reading(1)).stacks[0]
    empty = draw_thumbnails(one, 32, Shown(first=False))
    assert empty.cells.shape == (LAYERS, HEADS, 0, 0) and empty.hidden == ("t0",)
    assert thumbnail_rows("any", Shown(), [empty])[1][5:10] == [None] * 5
