"""Heads measured, and switched off, on a text and what is read beside it, against loops over single weights."""

import numpy as np
import pytest
import torch

from explorer.analysis import read_attention
from explorer.analysis.attention_inputs import encode_left, encode_texts
from explorer.analysis.generation import continue_text
from explorer.analysis.head_ablation import ablate_heads, rank_heads
from explorer.analysis.head_results import TOLD
from explorer.analysis.heads import measure_heads
from explorer.errors import UnsuitableText
from tests.analysis import causal_models, objective_models

TEXT, SECOND = "the cat is playing.", "a dog walks, slowly"


def plain_shares(stack, is_causal):
    """Previous, same and end by a loop over single weights; places are those of each side's own text."""
    sums = {key: [] for key in ("previous", "same", "end")}
    sides = [
        [place for place, token in enumerate(side) if not token.is_special] for side in (stack.queries, stack.keys)
    ]
    starts = [side[0] for side in sides] if stack.name == "cross" else [0, 0]
    for query in sides[0]:
        if is_causal and not query:
            continue
        row = stack.weights[:, :, query].astype(np.float64)
        at = query - starts[0] + starts[1]
        for key, place in (("previous", at - 1), ("same", at)):
            if place in sides[1]:
                sums[key].append(row[..., place])
        behind = [key for key, token in enumerate(stack.keys) if token.is_special and key > sides[1][0]]
        if behind and not is_causal:
            sums["end"].append(row[..., behind].sum(axis=-1))
    return {key: np.mean(rows, axis=0) for key, rows in sums.items() if rows}


def check(result, reading, *, is_causal=False):
    stack = next(one for one in reading.stacks if one.name == result.stack)
    expected = plain_shares(stack, is_causal)
    assert set(expected) == {"previous", "same", "end"} & set(result.values)
    for key, values in expected.items():
        np.testing.assert_allclose(result.values[key], values, atol=1e-5, err_msg=key)
    assert result.second_text == reading.second_text and result.texts == 1


def test_both_texts_of_a_pair_are_measured_and_the_token_between_them_is_none_of_them(bert):
    result = measure_heads(bert, [TEXT], second_text=SECOND)
    check(result, read_attention(bert, TEXT, second_text=SECOND))
    parts = encode_texts(bert, TEXT, SECOND).tokens
    assert result.tokens == sum(not token.is_special for token in parts)
    assert result.counts["next"] == result.tokens - 2  # the last of each text has none
    assert measure_heads(bert, [TEXT], second_text=" ").second_text is None


def test_what_was_written_is_measured_with_the_text():
    model = causal_models.gpt2()
    written = tuple(step.token_id for step in continue_text(model, "the cat", strategy="greedy", max_new_tokens=4))
    result = measure_heads(model, ["the cat"], written=written)
    check(result, read_attention(model, "the cat", written=written), is_causal=True)
    assert result.tokens == len(encode_left(model, "the cat").ids) + 4 - 1


@pytest.mark.parametrize("stack", ["decoder", "cross"])
def test_a_decoder_reads_what_it_is_told(stack):
    model = objective_models.mini("span")
    result = measure_heads(model, [TEXT], stack=stack, second_text=SECOND)
    check(result, read_attention(model, TEXT, second_text=SECOND), is_causal=stack == "decoder")
    assert result.decoder_reads == TOLD


def test_an_encoder_does_not_see_what_its_decoder_reads():
    model = objective_models.mini("span")
    alone, told = (measure_heads(model, [TEXT], stack="encoder", second_text=second) for second in (None, SECOND))
    assert told.second_text is None and told.decoder_reads == ""
    for key, values in alone.values.items():
        np.testing.assert_allclose(told.values[key], values, atol=1e-6)


def test_a_blank_of_either_text_is_asked_for(bert):
    result = ablate_heads(bert, "the ___ is playing", second_text="a dog ___", heads=["1-1"])
    read = encode_texts(bert, "the ___ is playing", "a dog ___")
    blanks = [place for place, token_id in enumerate(read.ids) if token_id == bert.tokenizer.mask_token_id]
    assert result.readout == "blanks" and [place.position for place in result.places] == blanks
    assert result.second_text == "a dog ___" and len(result.tokens) == len(read.ids)
    with torch.inference_mode():
        scores = bert.network(**read.tensors(bert.network.device)).logits[0, blanks].softmax(dim=-1)
    for place, chances in zip(result.places, scores, strict=True):
        assert place.answer.probability == pytest.approx(float(chances.max()), abs=1e-5)
    alone = ablate_heads(bert, "the ___ is playing", heads=["1-1"])
    assert alone.places[0].answer.probability != pytest.approx(result.places[0].answer.probability, abs=1e-9)
    with pytest.raises(UnsuitableText, match="11 blanks"):
        ablate_heads(bert, "the ___", second_text="___ " * 10, heads=["1-1"])


def test_the_embedding_of_a_pair_and_the_token_behind_what_was_written(bert):
    pair = ablate_heads(bert, TEXT, second_text=SECOND, heads=["1-1"])
    assert pair.readout == "embedding" and pair.cosine != ablate_heads(bert, TEXT, heads=["1-1"]).cosine
    model = causal_models.gpt2()
    behind = ablate_heads(model, "the cat", second_text=" is", heads=["1-1"])
    assert behind.places[0].answer == ablate_heads(model, "the cat is", heads=["1-1"]).places[0].answer
    assert next(rank_heads(bert, TEXT, second_text=SECOND)).second_text == SECOND


def test_what_goes_with_no_second_text_is_refused(bert):
    with pytest.raises(UnsuitableText, match="goes with one text"):
        measure_heads(bert, [TEXT, TEXT], second_text=SECOND)
    with pytest.raises(UnsuitableText, match="does not write a text on"):
        measure_heads(bert, [TEXT], written=[1])
    with pytest.raises(UnsuitableText, match="writes by itself here"):
        ablate_heads(objective_models.mini("span"), TEXT, second_text=SECOND)
