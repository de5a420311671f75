"""Weights in sixteen bits are the weights; means and rollout are what plain loops say."""

import numpy as np

from explorer.analysis.attention_packing import (
    MOST,
    head_counts,
    pack_reading,
    pack_weights,
    select_weights,
    unpack_weights,
)
from explorer.analysis.attention_results import AttentionReading, AttentionStack, AttentionToken

LAYERS, HEADS = 3, 2


def make_reading(length: int, seed: int = 0) -> AttentionReading:
    scores = np.random.default_rng(seed).normal(0, 3, (LAYERS, HEADS, length, length))
    weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
    tokens = tuple(AttentionToken(f"t{place}", place, 0, False, f"t{place}") for place in range(length))
    stack = AttentionStack("encoder", tokens, tokens, weights.astype(np.float32))
    return AttentionReading("any", "text", None, False, (stack,))


def test_no_weight_is_off_by_more_than_the_step_allows():
    weights = np.linspace(0, 1, 100_001, dtype=np.float32).reshape(11, -1)
    packed = pack_weights(weights)
    assert packed.dtype == np.uint16 and packed.min() == 0 and packed.max() == MOST
    wrong = np.abs(unpack_weights(packed) - weights)
    assert wrong.max() < 1.6e-5
    assert (wrong <= np.sqrt(weights) / MOST + 1e-7).all()  # the smaller the weight, the finer


def test_a_head_its_layers_mean_the_mean_and_the_rollout():
    reading = make_reading(7)
    weights = reading.weights.astype(np.float64)
    packed = pack_reading(reading)
    through = [np.eye(7)]
    for layer in weights:
        step = (layer.mean(axis=0) + np.eye(7)) / 2
        through.append(step / step.sum(axis=-1, keepdims=True) @ through[-1])
    for (layer, head, is_rollout), expected in {
        (2, 1, False): weights[2, 1],
        (1, None, False): weights[1].mean(axis=0),
        (None, None, False): weights.mean(axis=(0, 1)),
        (None, 1, False): weights[:, 1].mean(axis=0),
        (1, None, True): through[2],
        (2, None, True): through[3],
    }.items():
        found = unpack_weights(select_weights(packed, "encoder", layer, head, is_rollout=is_rollout))
        np.testing.assert_allclose(found, expected, atol=3e-5)
        np.testing.assert_allclose(found.sum(axis=-1), 1, atol=2e-4)


def test_one_layer_alone_knows_where_it_belongs():
    reading = make_reading(5)
    stack = reading.stacks[0]
    alone = AttentionReading("any", "text", None, False, (
        AttentionStack("encoder", stack.queries, stack.keys, stack.weights[1:2]),))  # fmt: skip
    packed = pack_reading(alone, {"encoder": LAYERS}, first_layer=1)
    assert head_counts(packed) == {"encoder": (LAYERS, HEADS)}
    assert packed.stacks[0].has(1) and not packed.stacks[0].has(0) and not packed.stacks[0].has(None)
    found = unpack_weights(select_weights(packed, "encoder", 1, 0))
    np.testing.assert_allclose(found, stack.weights[1, 0], atol=2e-5)
