"""Anisotropy of whole models against vectors that transformers gives for one sentence alone."""

import numpy as np
import pytest

from explorer.analysis import measure_anisotropy, measure_cures
from explorer.analysis.anisotropy_metrics import METRICS
from explorer.analysis.cures import CURES
from explorer.analysis.own_corpus import OWN_CORPUS, read_own_corpus
from explorer.errors import UnsuitableModel, UnsuitableText
from explorer.models.elmo_tokenizer import ElmoTokenizer
from explorer.settings import Settings
from tests.analysis import tiny_models
from tests.analysis.test_anisotropy_metrics import plain
from tests.analysis.test_embeddings import elmo, own, plain_states

SENTENCES = (
    "The cat is playing in Paris.",
    "A dog walks home and the cat plays.",
    "the king is unhappily playing in the home",
    "  ",
    "play walk run play the walk run play walk run",
    "the queen is in new york , the king is in paris .",
)
LOOSE = {"least_uses": 2, "most_words": 5_000, "most_uses": 5_000}


def plain_corpus(model, sentences, specials=False):
    """Vectors [layer, token, dim], tokens and sentence numbers, one sentence at a time."""
    states, tokens, numbers = [], [], []
    for number, sentence in enumerate(sentence for sentence in sentences if sentence.strip()):
        encoded = model.tokenizer(sentence)
        if isinstance(model.tokenizer, ElmoTokenizer):
            kept, names = range(len(encoded.tokens())), encoded.tokens()
        else:
            special = model.tokenizer(sentence, return_special_tokens_mask=True)["special_tokens_mask"]
            kept = [place for place, mark in enumerate(special) if specials or not mark]
            names = [encoded["input_ids"][place] for place in kept]
        states.append(plain_states(model, sentence)[:, list(kept)])
        tokens += names
        numbers += [number] * len(kept)
    return np.concatenate(states, axis=1), tokens, np.array(numbers)


def expected_metrics(vectors, tokens, numbers, least=2):
    kinds = {token: index for index, token in enumerate(dict.fromkeys(tokens))}
    words = np.array([kinds[token] for token in tokens])
    counts = np.bincount(words)
    found = []
    for points in vectors:
        values = plain(points, words, numbers)
        repeated = [points[words == word].astype(np.float64) for word in np.flatnonzero(counts >= least)]
        shares = [np.linalg.svd(one, compute_uv=False) ** 2 for one in repeated]
        whole = np.linalg.svd(points.astype(np.float64), compute_uv=False) ** 2
        values["maximum_explainable_variance"] = np.mean([one[0] / one.sum() for one in shares])
        adjusted = values["maximum_explainable_variance"] - whole[0] / whole.sum()
        found.append(values | {"maximum_explainable_variance_adjusted": adjusted})
    return found


@pytest.mark.parametrize("name", ["word_piece", "byte_level", "gpt2", "bart", "mini bilm", "elmo"])
@pytest.mark.parametrize("specials", [False, True])
def test_metrics_of_every_architecture_are_those_of_its_vectors(name, specials):
    model = elmo() if name == "elmo" else own(name)
    result = measure_anisotropy(model, sentences=SENTENCES, specials=specials, **LOOSE)
    vectors, tokens, numbers = plain_corpus(model, SENTENCES, specials)
    assert (result.protocol.points, result.protocol.sentences) == (len(tokens), 5)
    assert result.protocol.words == len(set(map(str, tokens)))
    assert result.layers == tuple(range(len(vectors))) and result.dim == vectors.shape[-1]
    for layer, expected in enumerate(expected_metrics(vectors, tokens, numbers)):
        for key in METRICS:
            assert result.metrics[key][layer] == pytest.approx(expected[key], rel=2e-5, abs=1e-5), (key, layer)


def test_words_are_the_mean_of_their_tokens_in_any_case():
    model = own("word_piece")
    result = measure_anisotropy(
        model, sentences=["The unhappily cat", "the cat plays", "cat the"], unit="words", **LOOSE
    )
    assert (result.protocol.points, result.protocol.words, result.protocol.repeated_words) == (8, 4, 2)
    states = plain_states(model, "The unhappily cat")
    tokens = model.tokenizer("The unhappily cat").word_ids()
    words = [states[:, [at for at, word in enumerate(tokens) if word == which]].mean(axis=1) for which in range(3)]
    lone = measure_anisotropy(model, sentences=["The unhappily cat"], unit="words")
    pairs = [(0, 1), (0, 2), (1, 2)]
    cosines = [words[a][1] @ words[b][1] / np.linalg.norm(words[a][1]) / np.linalg.norm(words[b][1]) for a, b in pairs]
    assert lone.metrics["mean_cosine"][1] == pytest.approx(np.mean(cosines), abs=1e-5)
    assert lone.metrics["self_similarity"] == (None,) * 3 and "no self-similarity" in lone.remarks[-1]


def test_that_the_model_cannot_read_a_corpus_is_told():
    read = measure_anisotropy(own("word_piece"), sentences=["the cat plays", "cat the"], **LOOSE)
    strange = measure_anisotropy(own("word_piece"), sentences=["我 喜欢 cat", "the 猫"], **LOOSE)
    assert not any("unknown" in remark for remark in read.remarks)
    assert any("special ones included, are unknown to this model" in remark for remark in strange.remarks)


def test_the_length_of_parts_and_batches_changes_nothing(monkeypatch):
    whole = measure_anisotropy(own("word_piece"), sentences=SENTENCES * 4, **LOOSE)
    monkeypatch.setattr("explorer.analysis.vector_stream.POINTS_AT_ONCE", 9)
    monkeypatch.setattr("explorer.analysis.vector_stream.TOKENIZED_AT_ONCE", 2)
    parts = measure_anisotropy(own("word_piece"), sentences=SENTENCES * 4, **LOOSE)
    for key, values in whole.metrics.items():
        assert parts.metrics[key] == pytest.approx(values, rel=1e-5, abs=1e-6), key
    np.testing.assert_allclose(parts.same_word, whole.same_word, atol=0.02)


def test_what_is_kept_does_not_grow_with_the_corpus():
    small = {"most_words": 3, "most_uses": 4, "random_points": 7, "least_uses": 2}
    few, many = (measure_anisotropy(own("word_piece"), sentences=SENTENCES * times, **small) for times in (2, 6))
    for result in (few, many):
        assert (result.protocol.kept_words, result.protocol.kept_uses, result.protocol.random_points) == (3, 4, 7)
    assert many.protocol.points == 3 * few.protocol.points
    assert measure_anisotropy(own("word_piece"), sentences=SENTENCES * 2, **small).metrics == few.metrics
    drawn = measure_anisotropy(own("word_piece"), sentences=SENTENCES * 2, **small, seed=5)
    assert drawn.metrics["mean_cosine"] == few.metrics["mean_cosine"]  # of all there are, whatever is drawn
    assert drawn.metrics["maximum_explainable_variance"] != few.metrics["maximum_explainable_variance"]


def test_histograms_are_of_all_pairs_that_were_kept():
    model = own("word_piece")
    result = measure_anisotropy(model, sentences=SENTENCES, random_points=5_000, **LOOSE)
    vectors, tokens, _ = plain_corpus(model, SENTENCES)
    unit = vectors[1] / np.linalg.norm(vectors[1], axis=1, keepdims=True)
    cosines = unit @ unit.T
    every = cosines[np.triu_indices(len(unit), 1)]
    np.testing.assert_allclose(result.random_pairs[1], np.histogram(every, result.edges)[0] / len(every), atol=0.01)
    middles = (result.edges[1:] + result.edges[:-1]) / 2
    assert result.same_word[1] @ middles == pytest.approx(result.metrics["self_similarity"][1], abs=0.02)
    np.testing.assert_allclose(result.random_pairs.sum(axis=1), 1)
    np.testing.assert_allclose(result.spectrum.sum(axis=1), 1)
    variances = np.cov(vectors[1].T, ddof=0)
    top = result.top_dimensions[1]
    assert top.tolist() == np.argsort(-np.diag(variances))[: len(top)].tolist()
    np.testing.assert_allclose(result.covariance[1], variances[np.ix_(top, top)], rtol=1e-4, atol=1e-5)


def test_cures_in_one_go_are_those_one_by_one():
    together = measure_cures(own("word_piece"), sentences=SENTENCES, **LOOSE)
    assert [one.cure for one in together] == list(CURES)
    for one in together:
        alone = measure_anisotropy(own("word_piece"), sentences=SENTENCES, cure=one.cure, **LOOSE)
        for key, values in one.metrics.items():
            assert alone.metrics[key] == pytest.approx(values, rel=1e-6, abs=1e-9), key
    by_name = {one.cure: one for one in together}
    assert all(abs(value) < 0.06 for value in by_name["mean_removal"].metrics["mean_cosine"])
    assert by_name["whitening"].metrics["isoscore"][1] > by_name["none"].metrics["isoscore"][1]


def test_long_sentences_are_read_in_parts():
    model = own("word_piece")
    long = " ".join(["the cat walks home"] * 40)
    result = measure_anisotropy(model, sentences=[long, "a dog"], **LOOSE)
    assert "read in parts" in result.remarks[0] and result.protocol.points == len(model.tokenizer(long)["input_ids"])
    assert result.protocol.sentences == 2


@pytest.mark.parametrize(
    "options, message",
    [
        ({"sentences": []}, "only 0 tokens"),
        ({"sentences": ["cat"]}, "only 1 token,"),
        ({"sentences": ["the cat"]}, "only 2 tokens"),
        ({"sentences": ["cat cat cat", "cat cat"]}, "one word again and again"),
        ({"sentences": ["the cat walks"] * 5}, "All sentences are the same"),
        ({"sentences": "the cat walks"}, "Give a list of sentences"),
        ({"sentences": iter(["the cat walks"])}, "read more than once"),
        ({"sentences": ["the cat walks", "a \x00"]}, "Sentence 2: .*control characters"),
        ({"unit": "letters"}, "unit must be one of"),
        ({"unit": "words", "specials": True}, "no words"),
        ({"cure": "hope"}, "no cure 'hope'"),
        ({"cure": "all_but_the_top", "components": 24}, "from 1 to 23"),
        ({"layers": [9]}, "has layers 0"),
        ({"least_uses": 1}, "least_uses must be"),
        ({"seed": -1}, "seed must be"),
    ],
)
def test_what_cannot_be_measured_is_refused(options, message):
    with pytest.raises(UnsuitableText, match=message):
        measure_anisotropy(own("word_piece"), **{"sentences": SENTENCES} | options)


def test_a_model_without_vectors_or_with_numbers_that_are_none_is_refused():
    with pytest.raises(UnsuitableModel, match="gives no vectors"):
        measure_anisotropy(tiny_models.word_piece(), sentences=SENTENCES)
    model = own("word_piece")
    broken = tiny_models.loaded(tiny_models.tiny_bert(model.tokenizer), model.tokenizer, abilities=model.card.abilities)
    broken.network.base_model.encoder.layer[0].output.dense.bias.data[0] = float("nan")
    with pytest.raises(UnsuitableText, match="layer 1 hold numbers that are not finite"):
        measure_anisotropy(broken, sentences=SENTENCES)


def test_more_than_there_is_room_for_is_refused(monkeypatch):
    monkeypatch.setattr("explorer.analysis.vector_samples.settings", lambda: Settings(most_vectors_mib=0))
    with pytest.raises(UnsuitableText, match="Ask for fewer layers"):
        measure_anisotropy(own("word_piece"), sentences=SENTENCES)


@pytest.mark.slow
def test_the_own_corpus_shows_more_than_chance_in_a_trained_model(shipped_registry):
    def measure(model):
        return measure_anisotropy(model, sentences=read_own_corpus()[::12], corpus=OWN_CORPUS)

    result = shipped_registry.run("MiniLM (masked)", measure)
    assert len(read_own_corpus()) > 1_500 and str(result.protocol).startswith(OWN_CORPUS)
    for key in ("self_similarity_adjusted", "intra_sentence_similarity", "mean_cosine"):
        assert all(value > result.isotropic[key] for value in result.metrics[key][1:]), key
