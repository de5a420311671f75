"""Word level, hidden tokens, means and rollout, against plain loops."""

import numpy as np
import pytest

from explorer.analysis.attention_levels import mean_heads, roll_out, special_tokens, to_words, without_tokens
from explorer.analysis.attention_results import AttentionStack, AttentionToken
from explorer.errors import UnsuitableText

WORDS = [None, 0, 0, 1, 2, 2, 2, None]  # of eight tokens
SURFACES = ["", "un", "happy", "is", "السل", "ام", "!", ""]


def tokens(words=WORDS):
    return tuple(
        AttentionToken(f"##{place}", word, 0, word is None, SURFACES[place]) for place, word in enumerate(words)
    )


def random_stack(name="encoder", queries=8, keys=8, layers=3, heads=2):
    random = np.random.default_rng(0)
    weights = random.random((layers, heads, queries, keys), np.float32) ** 4
    if name == "decoder":
        weights = np.tril(weights)
    weights /= weights.sum(axis=-1, keepdims=True)
    weights.setflags(write=False)
    every = tokens()
    return AttentionStack(name, every[:queries], every[:keys], weights)


@pytest.mark.parametrize(("name", "queries"), [("encoder", 8), ("decoder", 8), ("cross", 6)])
def test_attention_to_a_word_is_summed_and_from_it_averaged(name, queries):
    stack = random_stack(name, queries)
    words = to_words(stack)
    groups = [[0], [1, 2], [3], [4, 5, 6], [7]]
    of_queries = [[place for place in group if place < queries] for group in groups]
    of_queries = [group for group in of_queries if group]
    for layer in range(3):
        for head in range(2):
            for row, group in enumerate(of_queries):
                for column, pieces in enumerate(groups):
                    wanted = np.mean([sum(stack.weights[layer, head, q, k] for k in pieces) for q in group])
                    assert words.weights[layer, head, row, column] == pytest.approx(wanted, abs=1e-6)
    assert [token.text for token in words.keys] == ["##0", "unhappy", "is", "السلام!", "##7"]
    assert [token.word for token in words.keys] == [None, 0, 1, 2, None]
    np.testing.assert_allclose(words.weights.sum(axis=-1), 1, atol=1e-6)
    assert words.weights.flags.c_contiguous and not words.weights.flags.writeable


def test_words_of_words_are_the_same_words():
    words = to_words(random_stack())
    again = to_words(words)
    assert again.queries == words.queries
    np.testing.assert_array_equal(again.weights, words.weights)


def test_special_tokens_and_the_first_of_a_decoder_are_sinks():
    assert special_tokens(random_stack()) == (0, 7)
    decoder = AttentionStack("decoder", tokens()[1:4], tokens()[1:4], np.ones((1, 1, 3, 3), np.float32))
    assert special_tokens(decoder) == (0,)


@pytest.mark.parametrize("name", ["encoder", "cross"])
@pytest.mark.parametrize("rescale", [False, True])
def test_hidden_tokens_say_what_they_absorbed(name, rescale):
    stack = random_stack(name, 8 if name == "encoder" else 6)
    left = without_tokens(stack, [0, 7], rescale=rescale)
    rows = [q for q in range(len(stack.queries)) if name == "cross" or q not in (0, 7)]
    for layer in range(3):
        for head in range(2):
            paid = [float(stack.weights[layer, head, q, 0] + stack.weights[layer, head, q, 7]) for q in rows]
            assert left.absorbed[layer, head] == pytest.approx(np.mean(paid), abs=1e-6)
            for row, q in enumerate(rows):
                share = 1 - paid[row] if rescale else 1
                for column, k in enumerate(range(1, 7)):
                    wanted = stack.weights[layer, head, q, k] / share
                    assert left.stack.weights[layer, head, row, column] == pytest.approx(wanted, abs=1e-5)
    assert left.stack.keys == stack.keys[1:7]
    assert left.stack.queries == tuple(stack.queries[q] for q in rows)
    assert left.is_rescaled is rescale
    assert left.stack.weights.flags.c_contiguous


def test_a_row_that_paid_all_stays_zero():
    weights = np.zeros((1, 1, 2, 2), np.float32)
    weights[..., 0] = 1
    left = without_tokens(AttentionStack("encoder", tokens()[:2], tokens()[:2], weights), [0], rescale=True)
    assert left.stack.weights.tolist() == [[[[0.0]]]]
    assert left.absorbed.tolist() == [[1.0]]


@pytest.mark.parametrize("hidden", [[8], [-1], [True], range(8)])
def test_tokens_that_cannot_be_hidden_are_refused(hidden):
    with pytest.raises(UnsuitableText, match="token"):
        without_tokens(random_stack(), hidden)


def test_hiding_nothing_changes_nothing():
    stack = random_stack()
    left = without_tokens(stack, [])
    np.testing.assert_array_equal(left.stack.weights, stack.weights)
    assert not left.absorbed.any()


def test_means_are_means():
    stack = random_stack()
    np.testing.assert_allclose(
        mean_heads(stack).weights[:, 0], sum(stack.weights[:, h] for h in range(2)) / 2, atol=1e-6
    )
    over_layers = mean_heads(stack, "layers").weights
    np.testing.assert_allclose(over_layers[0], sum(stack.weights[layer] for layer in range(3)) / 3, atol=1e-6)
    assert mean_heads(stack, "both").weights.shape == (1, 1, 8, 8)
    np.testing.assert_allclose(mean_heads(stack, "both").weights.sum(axis=-1), 1, atol=1e-6)
    with pytest.raises(UnsuitableText, match="Choose one of: heads, layers, both"):
        mean_heads(stack, "tokens")


@pytest.mark.parametrize("name", ["encoder", "decoder"])
def test_rollout_is_the_product_of_layers_with_their_residuals(name):
    stack = random_stack(name)
    rolled = roll_out(stack)
    so_far = np.eye(8)
    for layer in range(3):
        own = np.zeros((8, 8))
        for q in range(8):
            for k in range(8):
                own[q, k] = 0.5 * np.mean([float(stack.weights[layer, h, q, k]) for h in range(2)]) + 0.5 * (q == k)
        so_far = own @ so_far
        np.testing.assert_allclose(rolled.weights[layer, 0], so_far, atol=1e-5)
    np.testing.assert_allclose(rolled.weights.sum(axis=-1), 1, atol=1e-5)


def test_cross_attention_cannot_be_rolled_out():
    with pytest.raises(UnsuitableText, match="multiplied"):
        roll_out(random_stack("cross", 6))
