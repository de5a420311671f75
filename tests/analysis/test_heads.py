"""Heads measured in batches, against loops over single texts and single weights."""

import math

import numpy as np
import pytest
import torch

from explorer.analysis.head_texts import encode_texts
from explorer.analysis.heads import TOO_SHORT, measure_heads
from explorer.analysis.induction import repeated_tokens, score_induction
from explorer.errors import UnsuitableModel, UnsuitableText
from explorer.models.attention import read_weights
from tests.analysis import causal_models, objective_models, tiny_models

TEXTS = [
    "the cat is playing.",
    "a dog walks, slowly",
    "He is happy in Paris (not in New York).",
    "run",
    "he, she - a king and a queen.",
]
TOLERANCE = 1e-5


def plain_measures(model, texts):
    """Every measure by a loop over texts, heads, tokens and single weights; [layer head] of each, and its count."""
    causal = model.card.abilities == frozenset({causal_models.Ability.GENERATE})
    sums, counts, distances = {}, {}, {}
    for encoded in encode_texts(model, texts):
        ids = encoded.ids
        stacks = read_weights(model.network, {"input_ids": torch.tensor([ids])})
        weights = next(iter(stacks.values()))[:, 0].double().numpy()
        tokens = model.tokenizer.convert_ids_to_tokens(list(ids))
        text = range(encoded.start, len(ids) - encoded.end)
        for q in text:
            seen = range(q + 1) if causal else range(len(ids))
            if len(seen) < 2:
                continue
            row = weights[:, :, q]

            def add(key, keys, row=row, seen=seen):
                if keys := [k for k in keys if k in seen]:
                    sums[key] = sums.get(key, 0) + sum(row[..., k] for k in keys)
                    counts[key] = counts.get(key, 0) + 1

            add("previous", [q - 1] if q - 1 in text else [])
            add("next", [q + 1] if q + 1 in text else [])
            add("same", [q])
            add("first", [0] if q else [])
            add("end", range(text.stop, len(ids)))
            add("punctuation", [k for k in text if tokens[k].strip("Ġ▁#") in {*"().,!-'", ")."}])
            entropy = -sum(np.where(row[..., k] > 0, row[..., k] * np.log2(np.maximum(row[..., k], 1e-300)), 0)
                           for k in seen)  # fmt: skip
            sums["entropy"] = sums.get("entropy", 0) + entropy
            counts["entropy"] = counts.get("entropy", 0) + 1
            for k in text:
                far, near = distances.get("far", 0), distances.get("near", 0)
                distances = {"far": far + row[..., k] * abs(q - k), "near": near + row[..., k]}
    values = {key: value / counts[key] for key, value in sums.items()}
    return values | {"distance": distances["far"] / distances["near"]}, counts


def compare(model):
    result = measure_heads(model, TEXTS)
    values, counts = plain_measures(model, TEXTS)
    assert set(values) == set(result.values) - {"induction"}
    for key, value in values.items():
        np.testing.assert_allclose(result.values[key], value, atol=TOLERANCE, err_msg=key)
        assert key == "distance" or result.counts[key] == counts[key], key
    assert result.tokens == counts["entropy"] and result.texts == len(TEXTS)
    return result


def test_measures_equal_a_loop_over_single_weights(family):
    result = compare(family)
    assert result.stack == "encoder" and not result.left_out
    assert result.first_token and result.end_token


def test_measures_of_causal_models_equal_it_too(causal):
    result = compare(causal)
    assert result.stack == "decoder" and set(result.left_out) == {"next", "end"}
    assert result.end_token == ""


def test_the_encoder_of_an_encoder_decoder_is_measured():
    model = objective_models.mini("span")
    result = measure_heads(model, TEXTS[:3])
    assert result.stack == "encoder"
    with torch.inference_mode():
        first = 0
        for encoded in encode_texts(model, TEXTS[:3]):
            inputs = {
                "input_ids": torch.tensor([encoded.ids]),
                "decoder_input_ids": torch.zeros(1, 1, dtype=torch.long),
            }
            rows = read_weights(model.network, inputs)["encoder"][
                :, 0, :, encoded.start : len(encoded.ids) - encoded.end
            ]
            first = first + rows[..., 1 if encoded.start == 0 else 0 :, 0].sum(dim=-1)
    np.testing.assert_allclose(result.values["first"] * result.counts["first"], first.numpy(), atol=1e-4)


def test_an_even_head_is_what_the_numbers_are_compared_with(bert):
    uniform = measure_heads(bert, ["the cat is playing in paris"]).uniform
    length = len(bert.tokenizer("the cat is playing in paris")["input_ids"])
    for key in ("previous", "next", "same", "first", "end"):
        assert uniform[key] == pytest.approx(1 / length, abs=1e-6)
    assert uniform["entropy"] == pytest.approx(math.log2(length), abs=1e-5)


def transformer_lens_score(pattern, tokens):
    """The "mul" score of TransformerLens's head detector with its induction pattern, written from its definition."""
    same = tokens[:, None] == tokens[None, :]
    np.fill_diagonal(same, False)
    followed = np.tril(np.roll(np.tril(same), 1, axis=1))
    followed[:, 0] = False
    return (pattern * followed).sum() / pattern.sum(), followed


@pytest.mark.parametrize("make", [tiny_models.word_piece, causal_models.gpt2, causal_models.llama])
def test_induction_is_what_transformer_lens_measures_over_the_rows_of_its_pattern(make):
    model = make()
    texts = repeated_tokens(model, seed=3)
    [(stack, weights)] = read_weights(model.network, {"input_ids": torch.tensor([text.ids for text in texts])}).items()
    scores, count, _ = score_induction(model, 3, stack)
    expected, rows = np.zeros(scores.shape), 0
    for index, text in enumerate(texts):
        inner = slice(text.start, len(text.ids) - text.end)  # its pattern knows no special tokens
        tokens = np.array(text.ids)
        for layer, head in np.ndindex(scores.shape):
            pattern = weights[layer, index, head].double().numpy()
            score, followed = transformer_lens_score(pattern, np.where(np.arange(len(tokens)) < inner.stop, tokens, -1))
            expected[layer, head] += score * pattern.sum()
        rows += int(followed[inner].any(axis=1).sum())
    assert rows == count
    np.testing.assert_allclose(scores, expected / rows, atol=TOLERANCE)


def test_the_built_in_set_is_measured_where_no_texts_are_given(bert):
    result = measure_heads(bert)
    assert result.source == "built-in set" and result.texts >= 60
    assert measure_heads(bert, "the cat sat").source == "given texts"


def test_a_really_trained_model_has_the_heads_that_its_weights_say(shipped_registry):
    from explorer.analysis.head_patterns import name_patterns

    result = shipped_registry.run("MiniLM (masked)", measure_heads)
    found = {(pattern.layer, pattern.head): pattern for pattern in name_patterns(result) if pattern.key == "previous"}
    assert (0, 2) in found and found[0, 2].value > 0.9  # positions alone: by far the clearest head of these layers
    assert "Layer 1 head 3 attends to the previous token" in found[0, 2].sentence
    assert f"n = {result.counts['previous']}" in found[0, 2].sentence


def test_what_cannot_be_measured_is_refused(bert, causal):
    with pytest.raises(UnsuitableText, match="Text 2: There is no text"):
        measure_heads(bert, ["the cat", " "])
    with pytest.raises(UnsuitableText, match="reads at most 64"):
        measure_heads(bert, ["cat " * 70])
    with pytest.raises(UnsuitableText, match="at most 5,000"):
        measure_heads(bert, ["cat"] * 5_001)
    with pytest.raises(UnsuitableModel, match="no attention"):
        measure_heads(objective_models.mini("bilm"), ["the cat"])


def test_a_token_that_sees_only_itself_says_nothing():
    model = causal_models.gpt2()  # puts nothing before a text
    with pytest.raises(UnsuitableText, match="one token alone"):
        measure_heads(model, ["a"])


def test_one_token_between_special_ones_has_no_next_one_and_that_is_why(bert):
    left_out = measure_heads(bert, ["cat"]).left_out
    assert left_out["next"] == left_out["previous"] == TOO_SHORT
