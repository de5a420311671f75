"""The decoder's and the cross-attention's heads of encoder-decoders, against loops over single weights."""

import numpy as np
import pytest
import torch

from explorer.analysis.attention_inputs import sentinel_ids
from explorer.analysis.corruption.sentinels import SENTINELS
from explorer.analysis.head_patterns import name_patterns
from explorer.analysis.head_relations import match_relations, word_pieces
from explorer.analysis.head_results import AGAIN, SPANS
from explorer.analysis.head_sides import encode_again, encode_sides
from explorer.analysis.head_texts import encode_texts
from explorer.analysis.heads import measure_heads
from explorer.errors import UnsuitableModel
from explorer.models.attention import head_counts, read_weights
from tests.analysis import objective_models
from tests.analysis.test_head_relations import SENTENCES
from tests.analysis.tiny_models import TOKENIZERS, loaded
from tests.models.families import FAMILIES

TEXTS = ["The cat is playing.", "A dog walks, slowly", "run", "He, she - a king (and a queen)."]
TWO_SIDED = [family for family in FAMILIES if family.ability == "fill_spans"]


@pytest.fixture(scope="module", params=["mini", *TWO_SIDED], ids=lambda one: getattr(one, "model_type", one))
def model(request):
    if request.param == "mini":
        return objective_models.mini("span")
    if not TOKENIZERS.is_dir():
        pytest.skip("needs the evaluation data: set EXPLORER_EVAL_DATA to its folder")
    family = request.param
    tokenizer = family.tokenizer(TOKENIZERS)
    config = family.config(len(tokenizer))
    for name, value in family.overrides:
        setattr(config, name, value)
    network = objective_models.opinionated(family.saved_as(config))
    return loaded(network, tokenizer, name=family.model_type, abilities=[family.ability], limit_tokens=64)


def read_weights_of(model, read, said):
    """Of one text, [layer head query key] of every stack."""
    inputs = {"input_ids": torch.tensor([read.ids]), "decoder_input_ids": torch.tensor([said.ids])}
    return {stack: some[:, 0].double().numpy() for stack, some in read_weights(model.network, inputs).items()}


def add_up(model, stack):
    """Sums and counts of every measure, one weight at a time."""
    sums, counts, far, near = {}, {}, 0, 0
    for read, said in zip(*encode_sides(model, encode_texts(model, TEXTS), seed=0)[:2], strict=True):
        weights, keys = read_weights_of(model, read, said)[stack], read if stack == "cross" else said
        names = model.tokenizer.convert_ids_to_tokens(list(keys.ids))
        own_places, key_places = (
            one.places if one.places and stack == "cross" else [at - one.start for at in range(len(one.ids))]
            for one in (said, keys)
        )
        of_text = range(keys.start, len(keys.ids) - keys.end)
        for at in range(said.start, len(said.ids)):
            row, own = weights[:, :, at], own_places[at]
            seen = range(at + 1) if stack == "decoder" else range(len(keys.ids))
            places = {
                "previous": [key for key in of_text if key_places[key] == own - 1],
                "next": [key for key in of_text if key_places[key] == own + 1],
                "same": [key for key in of_text if key_places[key] == own],
                "first": [0] if key_places[0] < own else [],
                "end": range(len(keys.ids) - keys.end, len(keys.ids)),
                "punctuation": [key for key in of_text if names[key].strip("Ġ▁#") in {*"().,!-", ")."}],
            }
            for key, some in places.items():
                if some := [one for one in some if one in seen]:
                    sums[key] = sums.get(key, 0) + row[..., some].sum(axis=-1)
                    counts[key] = counts.get(key, 0) + 1
            inside = np.maximum(row[..., list(seen)], 1e-300)
            sums["entropy"] = sums.get("entropy", 0) - (inside * np.log2(inside)).sum(axis=-1)
            counts["entropy"] = counts.get("entropy", 0) + 1
            for key in of_text:
                far, near = far + row[..., key] * abs(own - key_places[key]), near + row[..., key]
    return {key: value / counts[key] for key, value in sums.items()} | {"distance": far / near}, counts


@pytest.mark.parametrize("stack", ["decoder", "cross"])
def test_measures_equal_a_loop_over_single_weights(model, stack):
    values, counts = add_up(model, stack)
    found = measure_heads(model, TEXTS, stack=stack)
    assert found.stack == stack and set(found.values) == set(values)
    assert {*found.left_out} >= {"induction"} | ({"next", "end"} if stack == "decoder" else set())
    has_sentinels = len(sentinel_ids(model.tokenizer)) >= SENTINELS
    assert found.decoder_reads == (SPANS if has_sentinels else AGAIN)
    for key, value in values.items():
        np.testing.assert_allclose(found.values[key], value, atol=1e-5, err_msg=key)
        assert key == "distance" or found.counts[key] == counts[key], key
    assert found.shape == head_counts(model.network)[stack]
    [read] = encode_texts(model, TEXTS[:1])
    assert bool(found.end_token) == (stack == "cross" and read.end > 0)
    name_patterns(found)


@pytest.mark.parametrize("stack", ["decoder", "cross"])
def test_relations_equal_the_protocol_as_loops(model, stack):
    found = match_relations(model, sentences=SENTENCES, stack=stack, least_count=1)
    assert found.stack == stack
    hits = {}
    for sentence in SENTENCES:
        [read] = encode_texts(model, [sentence.text])
        [said] = encode_again(model, [read])
        weights = read_weights_of(model, read, said)
        rows, columns = word_pieces(sentence, said), word_pieces(sentence, read if stack == "cross" else said)
        between = np.zeros((*weights[stack].shape[:2], len(rows), len(rows)))
        for a, of_a in enumerate(rows):
            for b, of_b in enumerate(columns):
                if a != b:
                    between[..., a, b] = weights[stack][:, :, of_a][..., of_b].mean(axis=2).sum(axis=-1)
        for place, (head, relation) in enumerate(zip(sentence.heads, sentence.relations, strict=True)):
            for layer, number in np.ndindex(*between.shape[:2]):
                for way, row in enumerate((between[layer, number, place], between[layer, number, :, place])):
                    key = relation, way, layer, number
                    hits[key] = hits.get(key, 0) + (row.max() > 0 and row.argmax() == head - 1)
    for one in found.relations:
        for way, values in enumerate((one.to_head, one.from_head)):
            for layer, number in np.ndindex(*values.shape):
                assert values[layer, number] * one.count == pytest.approx(hits[one.relation, way, layer, number])


def test_texts_padded_together_give_what_they_give_one_by_one(model):
    if measure_heads(model, TEXTS, stack="cross").decoder_reads == SPANS:
        pytest.skip("what is hidden in a text depends on those before it")
    for stack in ("decoder", "cross"):
        both, *alone = (measure_heads(model, texts, stack=stack) for texts in (TEXTS, TEXTS[:1], TEXTS[1:]))
        mean = sum(one.values["entropy"] * one.tokens for one in alone) / both.tokens
        np.testing.assert_allclose(both.values["entropy"], mean, atol=1e-5)


def test_a_stack_that_is_not_there_is_refused(bert):
    for measure in (measure_heads, match_relations):
        with pytest.raises(UnsuitableModel, match="has no 'cross' heads; it has: encoder"):
            measure(bert, stack="cross")


def test_what_is_hidden_from_the_encoder_is_what_the_decoder_reads():
    model = objective_models.mini("span")
    sentence = "the cat purrs in the barn and anna feeds the dog ."
    [read], [said], protocol = encode_sides(model, encode_texts(model, [sentence]), seed=1)
    assert protocol == SPANS
    words, heard = (model.tokenizer.convert_ids_to_tokens(list(one.ids)) for one in (read, said))
    whole = sentence.split()
    assert words[-1] == "[SEP]" and heard[0] == "[CLS]" and heard[1] == "<extra_id_0>"
    gap = words.index("<extra_id_0>")
    hidden = heard[2:]
    assert len(hidden) == 2 and words[:gap] + hidden + words[gap + 1 : -1] == whole
    assert read.places == (*range(gap + 1), *range(gap + 2, len(whole) + 1))
    assert said.places == (-1, gap - 1, gap, gap + 1)


@pytest.mark.parametrize("text", ["cat", "the cat", "the cat purrs"])
def test_of_a_short_text_the_last_token_is_hidden(text):
    model = objective_models.mini("span")
    [read], [said], _ = encode_sides(model, encode_texts(model, [text]), seed=0)
    words = model.tokenizer.convert_ids_to_tokens(list(read.ids + said.ids))
    assert words == [*text.split()[:-1], "<extra_id_0>", "[SEP]", "[CLS]", "<extra_id_0>", text.split()[-1]]
    assert np.isfinite(measure_heads(model, [text], stack="cross").values["entropy"]).all()
