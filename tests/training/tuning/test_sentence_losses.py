"""Losses of sentence vectors and retrieval, against plain loops."""

import math

import numpy as np
import pytest
import torch

from explorer.training.tuning.retrieval import retrieve
from explorer.training.tuning.sentence_losses import cosine_loss, in_batch_loss, triplet_loss

torch.manual_seed(0)
A, P, N = torch.randn(3, 5, 7, dtype=torch.float64).unbind()


def unit(vector):
    return vector / math.sqrt(sum(number * number for number in vector.tolist()))


def cosine(one, other):
    return float(sum(x * y for x, y in zip(unit(one).tolist(), unit(other).tolist(), strict=True)))


def test_triplet_loss_is_the_margin_of_distances():
    wanted = [
        max(0.0, math.sqrt(2 - 2 * cosine(a, p)) - math.sqrt(2 - 2 * cosine(a, n)) + 1)
        for a, p, n in zip(A, P, N, strict=True)
    ]
    assert triplet_loss(A, P, N).tolist() == pytest.approx(wanted, abs=1e-5)
    assert triplet_loss(A, 3 * A, -A).tolist() == pytest.approx([0.0] * 5, abs=1e-5), "length says nothing"


def test_cosine_loss_is_the_squared_error():
    scores = torch.tensor([0.0, 1.0, 0.5, 0.25, 1.0])
    wanted = [(cosine(a, p) - s) ** 2 for a, p, s in zip(A, P, scores.tolist(), strict=True)]
    assert cosine_loss(A, P, scores).tolist() == pytest.approx(wanted)


def test_in_batch_loss_looks_for_the_positive_among_all():
    candidates = [*P, *N]
    wanted = []
    for number, a in enumerate(A):
        cosines = [20 * cosine(a, c) for c in candidates]
        wanted.append(math.log(sum(map(math.exp, cosines))) - cosines[number])
    assert in_batch_loss(A, P, N).tolist() == pytest.approx(wanted)


def test_retrieval_against_sorting():
    random = np.random.default_rng(0)
    queries, candidates = random.normal(size=(6, 4)), random.normal(size=(9, 4))
    wanted = np.array([3, 1, 4, 1, 5, 0])
    found = retrieve(queries, candidates, wanted)
    ranks = []
    for query, right in zip(queries, wanted, strict=True):
        order = sorted(range(9), key=lambda c: -cosine(torch.tensor(query), torch.tensor(candidates[c])))
        ranks.append(order.index(right) + 1)
        assert found.best[len(ranks) - 1] == order[0]
    assert found.ranks.tolist() == ranks
    assert found.recall_at_1 == pytest.approx(ranks.count(1) / 6)
    assert found.mean_reciprocal_rank == pytest.approx(sum(1 / rank for rank in ranks) / 6)


def test_a_model_that_cannot_tell_sentences_apart_finds_nothing():
    found = retrieve(np.ones((3, 2)), np.ones((4, 2)), np.array([0, 1, 2]))
    assert found.recall_at_1 == 0.0
    assert found.ranks.tolist() == [4, 4, 4]
