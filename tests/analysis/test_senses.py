"""Scores of senses against plain loops over pairs, one use left out at a time."""

from functools import partial

import numpy as np
import pytest

from explorer.analysis import score_senses
from explorer.analysis.embedding_results import Occurrences
from explorer.analysis.embeddings import embed_occurrences
from explorer.analysis.neighbours import prepare_points
from explorer.analysis.sense_scoring import (
    confuse_senses,
    measure_chance_nearest,
    measure_self_similarity,
    nearest_centroids,
    score_vectors,
    silhouettes,
)
from explorer.analysis.sense_sentences import measure_bag_of_words, read_sense_sentences
from explorer.errors import UnsuitableText
from tests.analysis.test_embeddings import own


def cosine(a, b):
    lengths = np.linalg.norm(a) * np.linalg.norm(b)
    return float(a @ b / lengths) if lengths else 0.0


def points(count, senses, dim=6, seed=0):
    random = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(senses), random.integers(0, senses, count - senses)])
    vectors = random.standard_normal((count, dim)) + random.standard_normal((senses, dim))[labels] * 0.8
    return (vectors * random.uniform(0.2, 5, (count, 1)) + 0.5).astype(np.float32), labels


def uses_of(vectors):
    layers, count, _ = vectors.shape
    sentences = tuple(f"the {number} play of day {number % 3}" for number in range(count))
    spans = tuple((sentence.index("play"), sentence.index("play") + 4) for sentence in sentences)
    whole = tuple((0, len(sentence)) for sentence in sentences)
    of_all = (("play",) * count, (("play",),) * count, whole, "mean")
    return Occurrences("tiny", sentences, spans, *of_all, tuple(range(layers)), layers, vectors, ())


def plain_nearest(vectors, labels):
    right = []
    for i, vector in enumerate(vectors):
        others = [(-cosine(vector, other), j) for j, other in enumerate(vectors) if j != i]
        right.append(labels[min(others)[1]] == labels[i])
    return right


def plain_centroids(vectors, labels):
    guesses = []
    for i, vector in enumerate(vectors):
        scores = []
        for sense in range(labels.max() + 1):
            others = [other for j, other in enumerate(vectors.astype(float)) if j != i and labels[j] == sense]
            scores.append(cosine(vector, sum(others) / len(others)) if others else -np.inf)
        guesses.append(int(np.argmax(scores)))
    return guesses


def plain_silhouettes(vectors, labels):
    scores = []
    for i, vector in enumerate(vectors):
        means = {}
        for sense in range(labels.max() + 1):
            apart = [1 - cosine(vector, o) for j, o in enumerate(vectors) if j != i and labels[j] == sense]
            means[sense] = sum(apart) / len(apart) if apart else None
        a, b = means.pop(labels[i]), min(mean for mean in means.values() if mean is not None)
        scores.append(0.0 if a is None else (b - a) / max(a, b))
    return scores


@pytest.mark.parametrize("count, senses", [(2, 2), (3, 2), (5, 5), (40, 3), (90, 8)])
def test_all_scores_are_those_of_plain_loops(count, senses):
    vectors, labels = points(count, senses, seed=count)
    unit = prepare_points(vectors).unit.astype(np.float64)
    assert nearest_centroids(vectors, labels).tolist() == plain_centroids(vectors, labels)
    np.testing.assert_allclose(silhouettes(unit, labels), plain_silhouettes(vectors, labels), atol=1e-6)
    pairs = [cosine(a, b) for i, a in enumerate(vectors) for j, b in enumerate(vectors) if i != j]
    assert measure_self_similarity(unit) == pytest.approx(np.mean(pairs), abs=1e-6)
    scores = score_vectors(uses_of(vectors[None]), [f"sense {label}" for label in labels])
    (layer,) = scores.layers
    assert layer.nearest.value == pytest.approx(np.mean(plain_nearest(vectors, labels)))
    assert layer.centroid.value == pytest.approx(np.mean(plain_centroids(vectors, labels) == labels))
    assert layer.silhouette.value == pytest.approx(np.mean(plain_silhouettes(vectors, labels)), abs=1e-6)
    assert layer.self_similarity.value == pytest.approx(np.mean(pairs), abs=1e-6) and layer.baseline is None
    same = [one == other for i, one in enumerate(labels) for j, other in enumerate(labels) if i != j]
    assert scores.chance_nearest == pytest.approx(np.mean(same))
    with_others = sum(size for size in np.bincount(labels) if size > 1)  # a sense of one use has no other centroid
    assert scores.chance_centroid == pytest.approx(with_others / count / senses)
    assert scores.uses == count
    assert scores.most_frequent == max(np.bincount(labels)) / count
    for estimate in (layer.nearest, layer.centroid, layer.silhouette):
        assert estimate.low <= estimate.value <= estimate.high


def test_chance_of_a_nearest_use_leaves_the_use_itself_out():
    assert measure_chance_nearest([2, 2]) == pytest.approx(1 / 3)
    assert measure_chance_nearest([1, 1]) == 0 and measure_chance_nearest([3, 1]) == pytest.approx(0.5)


def test_senses_apart_are_told_apart_and_senses_alike_are_not():
    random = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], 30)
    apart = np.eye(3)[labels] * 9 + random.standard_normal((90, 3)) * 0.3
    alike = random.standard_normal((90, 3))
    scores = score_vectors(uses_of(np.stack([alike, apart]).astype(np.float32)), [str(label) for label in labels])
    mixed, told = scores.layers
    assert told.nearest.value == told.centroid.value == 1 and told.silhouette.value > 0.9
    assert told.centroid.low == told.centroid.high == 1
    assert mixed.centroid.value < 0.6 and abs(mixed.silhouette.value) < 0.2
    assert scores.best is told


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    """Of 60 samples of 50 uses from one population: its mean similarity, and how often uses are right."""
    random = np.random.default_rng(0)
    population = random.standard_normal((4000, 4)) + 0.7
    truth = measure_self_similarity(prepare_points(population.astype(np.float32)).unit.astype(np.float64))
    held = 0
    for sample in range(60):
        some = population[random.choice(4000, 50, replace=False)].astype(np.float32)
        layer = score_vectors(uses_of(some[None]), ["a", "b"] * 25, seed=sample).layers[0]
        held += layer.self_similarity.low <= truth <= layer.self_similarity.high
    assert held >= 50


def test_confusion_counts_what_plain_loops_take_each_use_for():
    vectors, labels = points(40, 3, seed=2)
    names = [f"sense {label}" for label in labels]
    found = confuse_senses(uses_of(vectors[None]), vectors, names, vector="layer 0")
    order = list(dict.fromkeys(names))
    nearest, centroid = np.zeros((3, 3), dtype=int), np.zeros((3, 3), dtype=int)
    for i, vector in enumerate(vectors):
        near = max((j for j in range(40) if j != i), key=lambda j, v=vector: cosine(v, vectors[j]))
        nearest[order.index(names[i]), order.index(names[near])] += 1
        centroid[order.index(names[i]), order.index(f"sense {plain_centroids(vectors, labels)[i]}")] += 1
    assert found.senses == tuple(order) and found.vector == "layer 0"
    assert np.array_equal(found.nearest, nearest) and np.array_equal(found.centroid, centroid)
    scores = score_vectors(uses_of(vectors[None]), names).layers[0]
    assert np.trace(nearest) / 40 == pytest.approx(scores.nearest.value)
    assert np.trace(centroid) / 40 == pytest.approx(scores.centroid.value)


def test_the_only_use_of_a_sense_is_never_right_and_is_remarked_on():
    vectors, labels = points(12, 2, seed=5)
    labels[:] = [0] * 11 + [1]
    assert nearest_centroids(vectors, labels)[-1] == 0 and (nearest_centroids(vectors, labels)[:11] >= 0).all()
    scores = score_vectors(uses_of(vectors[None]), ["a"] * 11 + ["b"])
    assert "One sense has a single use" in scores.remarks[0]


@pytest.mark.parametrize(
    "senses, message",
    [
        (["a"], "There are 3 uses"),
        (["a", "a", "a"], "there must be two at least"),
        (["a", " ", "b"], "A use has no sense"),
        ("abc", "give a list"),
    ],
)
def test_what_cannot_be_scored_is_refused(senses, message):
    with pytest.raises(UnsuitableText, match=message):
        score_vectors(uses_of(np.ones((1, 3, 2), dtype=np.float32)), senses)
    with pytest.raises(UnsuitableText, match=message):
        score_senses(own("word_piece"), sentences=["the cat"] * 3, positions=[(4, 7)] * 3, senses=senses)


def test_a_model_is_scored_by_the_vectors_it_gives():
    sentences = ["the cat walks home .", "a cat is happy", "he is the king , a cat", "she is playing in paris"] * 2
    positions = [(sentence.find("cat"), sentence.find("cat") + 3) for sentence in sentences]
    positions[3] = positions[7] = (0, 3)
    senses = ["a", "b", "a", "b"] * 2
    scores = score_senses(own("word_piece"), sentences=sentences, positions=positions, senses=senses, pieces="first")
    embedded = embed_occurrences(own("word_piece"), sentences=sentences, positions=positions, pieces="first")
    alone = score_vectors(embedded, senses)
    assert [layer.nearest for layer in scores.layers] == [layer.nearest for layer in alone.layers]
    assert [layer.self_similarity for layer in scores.layers] == [layer.self_similarity for layer in alone.layers]
    assert all(layer.baseline is not None for layer in scores.layers)
    assert (scores.senses, scores.pieces) == ((("a", 4), ("b", 4)), "first")


def test_a_trained_model_tells_senses_that_a_bag_of_words_does_not(shipped_registry):
    entries = read_sense_sentences("bank")
    ask = partial(
        score_senses,
        sentences=[entry.sentence for entry in entries],
        positions=[(entry.start, entry.end) for entry in entries],
        senses=[entry.sense for entry in entries],
    )
    scores = shipped_registry.run("all-MiniLM-L6-v2", ask)
    assert scores.bag_of_words == measure_bag_of_words(entries)
    assert scores.best.layer > 0 and scores.best.centroid.low > max(scores.bag_of_words, scores.most_frequent)
    assert scores.best.self_similarity.value > scores.best.baseline.value
