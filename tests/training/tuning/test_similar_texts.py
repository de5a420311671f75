"""Sentence vectors: each loss teaches which sound belongs to which animal."""

import numpy as np
import pytest

from explorer.errors import UnsuitableCorpus
from explorer.training.tuning.examples import ExampleSet, ScoredPair, Triplet
from explorer.training.tuning.similarity_scores import measure_similarity
from tests.training.tuning.toy_tasks import compared, make_set, run, tiny_model

stats = pytest.importorskip("scipy.stats", reason="needs SciPy")

TOY = make_set("similarity", compared, 96, 24)


@pytest.mark.parametrize("loss", ["triplet", "cosine", "in_batch"])
def test_each_loss_teaches_a_toy_rule(loss):
    outcome = run(tiny_model("masked"), TOY, similarity_loss=loss, epochs=6)
    assert outcome.scores == {"recall_at_1": 1.0, "mean_reciprocal_rank": 1.0, "triplet_accuracy": 1.0}
    assert outcome.baselines["words in common"] < 0.5
    right = {f"{example.text} [{example.positive}]": f"{example.positive} ✓ (" for example in TOY.held_out}
    assert outcome.before_and_after
    assert any(not sample.before.startswith(right[sample.text]) for sample in outcome.before_and_after)
    assert all(sample.after.startswith(right[sample.text]) for sample in outcome.before_and_after)


def test_a_map_of_frozen_vectors_learns_it_too():
    outcome = run(tiny_model("masked"), TOY, method="layers", batch_size=32)
    assert outcome.scores["recall_at_1"] >= 0.9


def test_pairs_with_scores_are_learnt_by_their_cosines():
    pairs = [
        ScoredPair(one.text, text, score)
        for one in (*TOY.train, *TOY.held_out)
        for text, score in ((one.positive, 1.0), (one.negative, 0.0))
    ]
    outcome = run(tiny_model("masked"), ExampleSet("toy", "similarity", tuple(pairs[:160]), tuple(pairs[160:])))
    assert list(outcome.scores) == ["spearman"]
    assert outcome.scores["spearman"] > 0.8
    for one in outcome.judged:
        assert one.is_right == (one.gold.split(",")[0] == one.predicted.split(",")[0]) and "cosine" in one.predicted
    assert any("cosine loss" in note for note in outcome.notes)


def test_scores_against_plain_loops():
    random = np.random.default_rng(0)
    triplets = [Triplet(f"a{k}", f"p{k}", f"n{k % 3}") for k in range(6)]
    vectors = [random.normal(size=(3, 4)) for _ in triplets]
    for one, other in ((3, 0), (4, 1), (5, 2)):  # the same sentence has the same vector
        vectors[one][2] = vectors[other][2]

    def cosine(a, b):
        return a @ b / np.linalg.norm(a) / np.linalg.norm(b)

    candidates = {f"p{k}": vectors[k][1] for k in range(6)} | {f"n{k}": vectors[k][2] for k in range(3)}
    ranks = []
    for k, texts in enumerate(vectors):
        order = sorted(candidates, key=lambda name: -cosine(texts[0], candidates[name]))
        ranks.append(1 + order.index(f"p{k}"))
    found = measure_similarity(triplets, vectors)
    assert {one.text for one in found.judged if one.is_right} == {f"a{k}" for k in range(6) if ranks[k] == 1}
    scores = found.scores
    assert scores["recall_at_1"] == pytest.approx(np.mean([rank == 1 for rank in ranks]))
    assert scores["mean_reciprocal_rank"] == pytest.approx(np.mean([1 / rank for rank in ranks]))
    nearer = [cosine(a, p) > cosine(a, n) for a, p, n in vectors]
    assert scores["triplet_accuracy"] == pytest.approx(np.mean(nearer))

    pairs = [ScoredPair("a", "b", float(random.random())) for _ in range(9)]
    texts = [random.normal(size=(2, 4)) for _ in pairs]
    wanted = stats.spearmanr([cosine(*two) for two in texts], [one.score for one in pairs]).statistic
    assert measure_similarity(pairs, texts).scores["spearman"] == pytest.approx(wanted)


def test_an_unknown_loss_is_refused():
    with pytest.raises(UnsuitableCorpus, match="choose one of: triplet"):
        run(tiny_model("masked"), TOY, similarity_loss="hinge")
