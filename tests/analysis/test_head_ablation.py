"""Heads switched off, against a copy of the network whose weights for these heads are zero."""

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
import torch

from explorer.analysis.head_ablation import ablate_heads, divergences, rank_heads
from explorer.analysis.head_choice import every_head, head_words, name_lacking, read_heads
from explorer.errors import UnsuitableModel, UnsuitableText
from explorer.models.attention import head_counts
from tests.analysis import causal_models, objective_models, tiny_models
from tests.analysis.tiny_models import log_probabilities

COUNTS = {"encoder": (6, 12), "decoder": (2, 4)}


def without(model, heads):
    """The same model with the columns of heads cut out of the projections that join them: a second way to do it."""
    network = deepcopy(model.network)
    projections = {
        "bert": lambda layer: network.bert.encoder.layer[layer].attention.output.dense.weight,
        "gpt2": lambda layer: network.transformer.h[layer].attn.c_proj.weight.T,
        "llama": lambda layer: network.model.layers[layer].self_attn.o_proj.weight,
    }
    [counts] = head_counts(network).values()
    with torch.no_grad():
        for _, layer, head in heads:
            weight = projections[network.config.model_type](layer)
            width = weight.shape[1] // counts[1]
            weight[:, head * width : (head + 1) * width] = 0
    return replace(model, network=network)


def plain_divergence(before, after):
    """Kullback-Leibler divergence in bits, token by token, in double precision."""
    p, q = before.double().exp().numpy(), after.double().exp().numpy()
    return sum(a * np.log2(a / b) for a, b in zip(p, q, strict=True) if a > 0)


@pytest.mark.parametrize("make", [tiny_models.word_piece, causal_models.gpt2, causal_models.llama])
@pytest.mark.parametrize("words", [["1-2"], ["2"], ["1", "2-1"]])
def test_what_changes_equals_a_network_without_these_heads(make, words):
    model = make()
    is_masked = model.card.model_type == "bert"
    result = ablate_heads(model, "the cat is ___ in ___." if is_masked else "the cat is", heads=words, top_k=4)
    less = without(model, result.heads)
    rows = [model.tokenizer.convert_tokens_to_ids(list(result.tokens))] * len(result.places)
    positions = [place.position for place in result.places]
    before, after = (log_probabilities(one, rows, positions) for one in (model, less))
    assert len(result.places) == (2 if is_masked else 1)
    assert result.readout == ("blanks" if is_masked else "next")
    for place, first, second in zip(result.places, before, after, strict=True):
        answer = int(first.argmax())
        assert place.answer.token_id == answer == place.before[0].token_id
        assert place.answer.probability == pytest.approx(first[answer].exp().item(), abs=1e-5)
        assert place.answer_after == pytest.approx(second[answer].exp().item(), abs=1e-5)
        assert place.rank_after == int((second > second[answer]).sum()) + 1
        assert [token.token_id for token in place.after] == second.topk(4).indices.tolist()
        assert [token.probability for token in place.after] == pytest.approx(
            second.topk(4).values.exp().tolist(), abs=1e-5
        )
        assert place.divergence_bits == pytest.approx(plain_divergence(first, second), abs=1e-4)
        assert place.divergence_bits > 0


def test_the_sentence_embedding_is_compared_where_there_is_no_blank(bert):
    result = ablate_heads(bert, "the cat is playing in paris", heads="1-1")
    assert result.readout == "embedding" and result.places == ()
    ids = torch.tensor([bert.tokenizer("the cat is playing in paris")["input_ids"]])
    with torch.inference_mode():
        first, second = (
            one.network.bert(ids).last_hidden_state[0].mean(dim=0) for one in (bert, without(bert, result.heads))
        )
    assert result.cosine == pytest.approx(torch.cosine_similarity(first, second, dim=0).item(), abs=1e-5)


def test_nothing_off_changes_nothing_and_other_passes_stay_as_they_were(causal):
    before = causal_models.plain_scores(causal, [1, 2, 3])
    result = ablate_heads(causal, "the cat")
    assert result.heads == () and result.places[0].divergence_bits == pytest.approx(0, abs=1e-9)
    assert result.places[0].before == result.places[0].after and result.cosine is None
    ablate_heads(causal, "the cat", all_but=True)
    assert torch.equal(before, causal_models.plain_scores(causal, [1, 2, 3]))


def test_all_but_some_keeps_these_alone(bert):
    counts = head_counts(bert.network)
    result = ablate_heads(bert, "the ___", heads=["1-2"], all_but=True)
    assert set(result.heads) == set(every_head(counts)) - {("encoder", 0, 1)}
    assert result.head_count == len(every_head(counts))


@pytest.mark.parametrize("make", [lambda: objective_models.mini("span"), objective_models.bart])
def test_an_encoder_decoder_is_made_to_read_what_it_wrote(make):
    model = make()
    result = ablate_heads(model, "the dog ___ in the garden", heads=["cross-1", "decoder-1-1"], top_k=3)
    assert result.readout == "written" and 1 <= len(result.places) <= 16
    assert {stack for stack, _, _ in result.heads} == {"cross", "decoder"}
    assert all(place.answer == place.before[0] for place in result.places)  # it wrote the likeliest each time
    assert result.cosine == pytest.approx(1.0)  # the encoder is intact
    assert max(place.divergence_bits for place in result.places) > 0
    assert ablate_heads(model, "the dog ___ in the garden", heads=["1"]).cosine < 1


def test_every_head_is_ranked_by_itself(bert):
    steps = list(rank_heads(bert, "the ___ is playing"))
    assert [step.done for step in steps] == [2, 4] and steps[-1].head_count == 4
    assert np.isnan(steps[0].effects["encoder"][1]).all()
    last = steps[-1]
    for _, layer, head in every_head(head_counts(bert.network)):
        alone = ablate_heads(bert, "the ___ is playing", heads=[("encoder", layer, head)]).places[0]
        assert last.effects["encoder"][layer, head] == pytest.approx(alone.divergence_bits, abs=1e-9)
        change = alone.answer_after - alone.answer.probability
        assert last.changes["encoder"][layer, head] == pytest.approx(change, abs=1e-6)
    assert last.unit == "bits" and len(last.answers) == 1


def test_a_ranking_by_the_embedding_and_a_stopped_one(bert):
    steps = rank_heads(bert, "the cat is playing")
    first = next(steps)
    assert first.unit == "1 − cosine" and first.answers == () and first.done == 2
    alone = ablate_heads(bert, "the cat is playing", heads=["1-2"]).cosine
    assert first.effects["encoder"][0, 1] == pytest.approx(1 - alone, abs=1e-9)
    steps.close()


def test_divergence_of_a_certain_distribution_is_finite():
    certain = torch.tensor([[0.0, -torch.inf]])
    even = torch.tensor([[0.5, 0.5]]).log()
    assert divergences(certain, even).tolist() == pytest.approx([1.0])


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("3-5", [("encoder", 2, 4)]),
        ("decoder-2-1, 1-12;1-12", [("encoder", 0, 11), ("decoder", 1, 0)]),
        ([("decoder", 0, 3)], [("decoder", 0, 3)]),
        (["decoder-1"], [("decoder", 0, head) for head in range(4)]),
        ("", []),
        ((), []),
    ],
)
def test_heads_are_read_from_words(words, meant):
    assert list(read_heads(words, COUNTS)) == meant
    assert list(read_heads(head_words(meant), COUNTS)) == meant


@pytest.mark.parametrize("words", ["7-1", "0-1", "1-0", "1-13", "cross-1-1", "one", "1-1-1", [("encoder", 6, 0)], [()]])
def test_heads_that_are_not_there_are_refused(words):
    with pytest.raises(UnsuitableText, match="layers 1 to 6 of the encoder, heads 1 to 12"):
        read_heads(words, COUNTS)


def test_heads_of_another_model_are_passed_over_where_that_is_wanted(bert):
    assert read_heads("7-1,2-3,cross-1", COUNTS, skips_unknown=True) == (("encoder", 1, 2),)
    assert ablate_heads(bert, "the cat", heads="9-9", skips_unknown=True).heads == ()
    assert name_lacking("7-1, 2-3 6;cross-1 one", COUNTS) == ["7-1", "cross-1", "one"]
    assert name_lacking("", COUNTS) == []


def test_what_cannot_be_ablated_is_refused(bert, causal):
    with pytest.raises(UnsuitableText, match="no text"):
        ablate_heads(bert, " ", heads=["1-1"])
    with pytest.raises(UnsuitableText, match="at most 48"):
        ablate_heads(causal, "cat " * 60, heads=["1-1"])
    with pytest.raises(UnsuitableModel, match="no attention"):
        ablate_heads(objective_models.mini("bilm"), "the cat")
    with pytest.raises(UnsuitableModel, match="no attention"):
        next(rank_heads(objective_models.mini("bilm"), "the cat"))
