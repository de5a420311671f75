"""Rogue dimensions against loops over pairs, and what they do for predictions against a head that is run by hand."""

from functools import partial
from itertools import combinations

import numpy as np
import pytest
import torch

from explorer.analysis import find_rogue_dimensions
from explorer.analysis.rank_correlation import measure_correlation, measure_spearman
from explorer.analysis.rogue_dimensions import ablate_rogues, compare_without
from explorer.errors import UnsuitableModel, UnsuitableText
from explorer.models.final_states import predict_from_states
from tests.analysis import tiny_models
from tests.analysis.test_anisotropy import SENTENCES, plain_corpus
from tests.analysis.test_embeddings import elmo, own


def cosine(a, b):
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


@pytest.mark.parametrize("name", ["word_piece", "gpt2", "bart"])
def test_contributions_are_those_of_all_pairs(name):
    result = find_rogue_dimensions(own(name), sentences=SENTENCES, k=3, places=0)
    vectors, _, _ = plain_corpus(own(name), SENTENCES)
    for layer, points in enumerate(vectors.astype(np.float64)):
        pairs = [a * b / np.linalg.norm(a) / np.linalg.norm(b) for a, b in combinations(points, 2)]
        expected = np.mean(pairs, axis=0)
        np.testing.assert_allclose(result.contributions[layer], expected, atol=1e-6)
        assert result.mean_cosine[layer] == pytest.approx(expected.sum(), abs=1e-6)
        assert result.top[layer].tolist() == np.argsort(-expected)[:3].tolist()
        if expected.sum() > 0.01:
            np.testing.assert_allclose(result.shares[layer], np.sort(expected)[::-1][:3] / expected.sum(), rtol=1e-3)
        np.testing.assert_allclose(result.centre[layer], points.mean(axis=0), atol=1e-5)
        np.testing.assert_allclose(result.means[layer], points.mean(axis=0)[result.top[layer]], atol=1e-5)
        np.testing.assert_allclose(result.deviations[layer], points.std(axis=0)[result.top[layer]], atol=1e-5)


def test_similarities_with_and_without_are_those_of_a_loop():
    stats = pytest.importorskip("scipy.stats", reason="needs SciPy")
    points = np.random.default_rng(0).standard_normal((30, 8))
    points[:, 5] = 1000 + 100 * points[:, 5]
    dims = np.array([5, 0, 3])
    found = compare_without(points.astype(np.float32), dims)
    exact = points.astype(np.float32).astype(np.float64)
    intact = [cosine(a, b) for a, b in combinations(exact, 2)]
    for number in range(3):
        kept = np.delete(exact, dims[: number + 1], axis=1)
        less = [cosine(a, b) for a, b in combinations(kept, 2)]
        assert found[0, number] == pytest.approx(stats.pearsonr(intact, less)[0] ** 2, abs=1e-6)
        assert found[1, number] == pytest.approx(stats.spearmanr(intact, less)[0], abs=1e-6)


def test_correlations_of_what_does_not_vary_are_none():
    same, other = np.full(9, 0.1), np.arange(9.0)
    assert measure_correlation(same, other) is measure_spearman(other, same) is None
    assert measure_spearman(other, -(other**3)) == -1


def test_a_planted_dimension_is_found_in_a_network():
    """The last layer's norm adds 30 to number 17: it makes up the cosine, and the other layers are as before."""
    plain = own("word_piece")
    model = tiny_models.loaded(tiny_models.tiny_bert(plain.tokenizer), plain.tokenizer, abilities=plain.card.abilities)
    before = find_rogue_dimensions(model, sentences=SENTENCES, k=2, places=5)
    model.network.base_model.encoder.layer[-1].output.LayerNorm.bias.data[17] = 30.0
    after = find_rogue_dimensions(model, sentences=SENTENCES, k=2, places=5)
    assert after.top[-1][0] == 17 and after.shares[-1][0] > 0.9 and after.mean_cosine[-1] > 0.9
    np.testing.assert_array_equal(after.contributions[:-1], before.contributions[:-1])
    assert after.means[-1][0] == pytest.approx(30, abs=3)


@pytest.mark.parametrize("name", ["word_piece", "byte_level", "gpt2", "bert-decoder", "llama"])
@torch.inference_mode()
def test_versions_of_the_last_layer_are_predicted_from_by_the_models_own_head(name):
    model = own(name)
    ids = model.tokenizer("the cat walks home")["input_ids"]
    rows = [tuple(ids), tuple(ids[::-1])]
    seen = []

    def change(states):
        seen.append(states)
        less = states.clone()
        less[:, 3] = 0
        return torch.stack([states, less])

    scores = predict_from_states(model, rows, [2, 1], change)
    network = model.network
    for row, position in enumerate([2, 1]):
        plain = network(torch.tensor([rows[row]])).logits[0, position].log_softmax(-1)
        torch.testing.assert_close(scores[0, row], plain, atol=1e-4, rtol=1e-4)
        states = network.base_model(torch.tensor([rows[row]])).last_hidden_state
        torch.testing.assert_close(seen[0][row], states[0, position], atol=1e-4, rtol=1e-4)
        states[0, position, 3] = 0
        head = getattr(network, "lm_head", None) or network.cls
        by_hand = head(states)[0, position].log_softmax(-1)
        torch.testing.assert_close(scores[1, row], by_hand, atol=1e-4, rtol=1e-4)
    intact = network(torch.tensor([ids])).logits
    assert intact.shape[:2] == (1, len(ids)), "the network is as before"


@pytest.mark.parametrize("name, value", [("word_piece", "mean"), ("gpt2", "zero")])
def test_ablations_say_what_predictions_lose(name, value):
    result = find_rogue_dimensions(own(name), sentences=SENTENCES, k=3, places=50, value=value)
    ablation = result.ablation
    assert (ablation.places, ablation.value, ablation.draws) == (5, value, 5)
    assert [one.dimensions for one in ablation.rogue] == [
        tuple(result.top[-1][: number + 1].tolist()) for number in range(3)
    ]
    assert all(one.divergence_bits > 0 and 0 <= one.kept <= 1 for one in ablation.rogue)
    assert len(ablation.random) == 3 and all(bits > 0 for bits in ablation.random)
    assert all(one.low_bits <= one.divergence_bits <= one.high_bits for one in ablation.rogue)
    ranges = zip(ablation.random_least, ablation.random, ablation.random_most, strict=True)
    assert all(least < mean < most for least, mean, most in ranges), "draws differ"
    assert len(ablation.random_kept) == 3 and all(0 <= kept <= 1 for kept in ablation.random_kept)
    assert ablation.layer == result.layers[-1]
    again = find_rogue_dimensions(own(name), sentences=SENTENCES, k=3, places=50, value=value)
    assert again.ablation == ablation
    alone = ablate_rogues(own(name), found=again, sentences=SENTENCES, k=3, places=50, value=value)
    assert alone == ablation, "without reading the corpus again"


def test_what_was_found_is_needed_to_ablate_it():
    found = find_rogue_dimensions(own("word_piece"), sentences=SENTENCES, k=2, places=0, layers=[0, 2])
    ask = partial(ablate_rogues, own("word_piece"), found=found, sentences=SENTENCES)
    assert ask(k=2, layer=0).layer == 0 and ask(k=1).layer == 2
    refused = [
        ({"k": 3}, "k must be"),
        ({"k": 1, "layer": 1}, "Layer 1 was not measured; these"),
        ({"k": 1, "value": "one"}, "value must be"),
        ({"k": 1, "places": 0}, "places must be"),
    ]
    for options, message in refused:
        with pytest.raises(UnsuitableText, match=message):
            ask(**options)
    with pytest.raises(UnsuitableModel, match="neither a masked nor"):
        ablate_rogues(elmo(), found=found, sentences=SENTENCES)


@pytest.mark.parametrize("name", ["word_piece", "bert-decoder"])
@pytest.mark.parametrize("layer", [0, 1])
@torch.inference_mode()
def test_without_numbers_of_a_lower_layer_predictions_are_those_of_a_hook_by_hand(name, layer):
    """In sentences of one token there is one place to predict at."""
    model, words = own(name), ["cat", "dog", "king"]
    result = find_rogue_dimensions(model, sentences=words, k=2, places=9, ablated=layer, value="zero")
    body = model.network.base_model
    module = [body.embeddings, *body.encoder.layer][layer]
    rows = torch.tensor([model.tokenizer(word)["input_ids"] for word in words])
    if name == "word_piece":
        rows[:, 1] = model.tokenizer.mask_token_id
    intact = model.network(rows).logits[:, 1].double().log_softmax(-1)
    assert result.ablation.layer == layer and result.ablation.places == len(words)
    for number, one in enumerate(result.ablation.rogue):
        dims = result.top[layer][: number + 1].tolist()

        def hook(module, arguments, output, dims=dims):
            output = output.clone()
            output[..., dims] = 0
            return output

        handle = module.register_forward_hook(hook)
        scores = model.network(rows).logits[:, 1].double().log_softmax(-1)
        handle.remove()
        bits = (intact.exp() * (intact - scores)).sum(dim=-1).mean() / np.log(2)
        assert one.dimensions == tuple(dims) and one.divergence_bits == pytest.approx(float(bits), rel=1e-3, abs=1e-5)
        assert one.kept == pytest.approx(float((intact.argmax(-1) == scores.argmax(-1)).double().mean()))


def test_a_number_that_never_varies_is_not_missed_where_its_mean_stands_in():
    plain = own("word_piece")
    model = tiny_models.loaded(tiny_models.tiny_bert(plain.tokenizer), plain.tokenizer, abilities=plain.card.abilities)
    norm = model.network.base_model.encoder.layer[0].output.LayerNorm
    norm.weight.data[17], norm.bias.data[17] = 0.0, 30.0
    found = [
        find_rogue_dimensions(model, sentences=SENTENCES, k=1, places=5, ablated=1, value=value)
        for value in ("mean", "zero")
    ]
    assert found[0].top[1][0] == 17
    by_mean, by_zero = (one.ablation.rogue[0] for one in found)
    assert by_mean.divergence_bits == pytest.approx(0, abs=1e-6) and by_mean.kept == 1
    assert by_zero.divergence_bits > 0.01


def test_models_that_predict_nothing_from_their_last_layer_say_so():
    for model in (elmo(), own("bart")):
        result = find_rogue_dimensions(model, sentences=SENTENCES, k=1)
        assert result.ablation is None and "Nothing is said about predictions" in result.remarks[0]


@pytest.mark.parametrize(
    "options, message",
    [
        ({"k": 24}, "k must be less than the 24"),
        ({"k": 0}, "k must be"),
        ({"value": "one"}, "value must be one of"),
        ({"sentences": ["cat"]}, "only 1 token,"),
        ({"places": -1}, "places must be"),
        ({"ablated": 9}, "has layers 0"),
    ],
)
def test_what_cannot_be_asked_is_refused(options, message):
    with pytest.raises(UnsuitableText, match=message):
        find_rogue_dimensions(own("word_piece"), **{"sentences": SENTENCES} | options)
