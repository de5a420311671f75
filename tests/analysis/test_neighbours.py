"""Exact neighbours against a plain loop, ties, and what cannot be searched."""

from dataclasses import replace

import numpy as np
import pytest

from explorer.analysis.embedding_results import Occurrences
from explorer.analysis.neighbours import find_near_uses, find_neighbours, prepare_points
from explorer.analysis.vectors import choose_vectors, describe_vectors
from explorer.errors import UnsuitableText


def plain(query, vectors, k, left_out=-1):
    """The definition, pair by pair, in float64."""
    found = []
    for index, vector in enumerate(vectors.astype(np.float64)):
        if index != left_out:
            lengths = np.linalg.norm(query.astype(np.float64)) * np.linalg.norm(vector)
            found.append((-(query.astype(np.float64) @ vector) / lengths if lengths else 0.0, index))
    return [(index, -cosine) for cosine, index in sorted(found)[:k]]


@pytest.mark.parametrize("count, dim, k", [(1, 3, 5), (2, 1, 2), (50, 7, 50), (3000, 24, 10)])
def test_neighbours_are_those_of_the_definition(count, dim, k):
    random = np.random.default_rng(count)
    vectors = (random.standard_normal((count, dim)) * random.uniform(0.1, 50, (count, 1))).astype(np.float32)
    queries = random.standard_normal((4, dim)).astype(np.float32)
    found = find_neighbours(queries, prepare_points(vectors), k=k)
    assert found.indices.shape == found.cosines.shape == (4, min(k, count))
    for row, query in enumerate(queries):
        expected = plain(query, vectors, k)
        np.testing.assert_allclose(found.cosines[row], [cosine for _, cosine in expected], atol=2e-6)
        if dim > 1:  # with one number all cosines are 1 or -1
            assert found.indices[row].tolist() == [index for index, _ in expected]
    one = find_neighbours(queries[0], prepare_points(vectors), k=k)
    assert one.indices.tolist() == found.indices[:1].tolist()


def test_each_point_has_neighbours_other_than_itself():
    vectors = np.random.default_rng(0).standard_normal((300, 5)).astype(np.float32)
    points = prepare_points(vectors)
    found = find_neighbours(vectors, points, k=300, exclude=np.arange(300))
    assert found.indices.shape == (300, 299)
    for row in range(0, 300, 37):
        assert row not in found.indices[row]
        assert found.indices[row, :9].tolist() == [index for index, _ in plain(vectors[row], vectors, 9, row)]


def test_ties_go_to_the_lower_index_however_many_there_are():
    random = np.random.default_rng(3)
    vectors = random.standard_normal((4001, 33)).astype(np.float32)
    same = np.sort(random.choice(4001, 900, replace=False))
    vectors[same] = vectors[same[0]]
    found = find_neighbours(vectors[same[0]] * 7, prepare_points(vectors), k=50)
    assert found.indices[0].tolist() == same[:50].tolist()
    everywhere = prepare_points(np.ones((5000, 3), dtype=np.float32))
    assert find_neighbours(np.array([1.0, 2.0, 3.0], dtype=np.float32), everywhere, k=4).indices[0].tolist() == [
        0, 1, 2, 3,
    ]  # fmt: skip


def test_a_vector_of_zeros_is_near_nothing_and_huge_ones_do_not_overflow():
    vectors = np.array([[0, 0], [3e38, 3e38], [-1e-30, -1e-30]], dtype=np.float32)
    found = find_neighbours(np.array([1, 1], dtype=np.float32), prepare_points(vectors), k=3)
    assert found.indices[0].tolist() == [1, 0, 2]
    np.testing.assert_allclose(found.cosines[0], [1, 0, -1], atol=1e-6)


@pytest.mark.parametrize(
    "vectors, query, options, message",
    [
        (np.zeros((0, 3), dtype=np.float32), np.ones(3, dtype=np.float32), {}, "no points"),
        (np.ones((2, 3), dtype=np.float32), np.ones(4, dtype=np.float32), {}, "4 numbers, and the points have 3"),
        (np.ones((2, 3), dtype=np.float32), np.ones(3, dtype=np.float32), {"k": 0}, "k must be a whole number from 1"),
        (np.ones((1, 3), dtype=np.float32), np.ones(3, dtype=np.float32), {"exclude": np.array([0])}, "no other that"),
        (np.full((2, 3), np.nan, dtype=np.float32), np.ones(3, dtype=np.float32), {}, "not finite"),
        (np.ones((2, 3), dtype=np.float32), np.full(3, np.inf, dtype=np.float32), {}, "not finite"),
    ],
)
def test_what_cannot_be_searched_is_refused(vectors, query, options, message):
    with pytest.raises(UnsuitableText, match=message):
        find_neighbours(query, prepare_points(vectors), **options)


def test_near_uses_come_with_sentence_sense_and_cosine():
    vectors = np.array([[[1, 0], [0, 1], [1, 0.1]], [[1, 0], [1, 0.1], [0, 1]]], dtype=np.float32)
    uses = Occurrences(
        "tiny", ("a play", "b play", "c play"), ((2, 6),) * 3, ("play",) * 3, (("play",),) * 3, ((0, 6),) * 3, "mean",
        (0, 4), 5, vectors, ("Said.",),
    )  # fmt: skip
    first, last = (prepare_points(choose_vectors(uses, layer=layer)) for layer in (0, -1))
    near = find_near_uses(uses, first, use=0, vector="layer 0", k=5, senses=("x", "y", "z"))
    assert [(one.sentence, one.sense, one.start, one.end) for one in near.neighbours] == [
        ("c play", "z", 2, 6), ("b play", "y", 2, 6),
    ]  # fmt: skip
    assert near.neighbours[0].cosine == pytest.approx(1 / np.sqrt(1.01), abs=1e-6)
    assert (near.sentence, near.vector, near.count, near.remarks) == ("a play", "layer 0", 2, ("Said.",))
    assert [one.index for one in find_near_uses(uses, last, use=0, vector="", k=1).neighbours] == [1]
    assert describe_vectors(uses, layer=0) == "input embeddings"
    assert describe_vectors(uses, adjust="z_scored") == "layer 4, z-scored"
    assert describe_vectors(uses, combine="last_four") == "sum of layers 1 to 4"
    assert describe_vectors(replace(uses, pieces="last")) == "layer 4", "each is of one piece"
    cut = replace(uses, pieces="last", tokens=(("play",), ("pl", "##ay"), ("play",)))
    assert describe_vectors(cut, adjust="centred") == "layer 4, centred, last pieces"
    assert describe_vectors(replace(cut, pieces="mean")) == "layer 4"
    for options, message in [({"use": 3}, "counted from 0 to 2"), ({"use": 0, "senses": ("x",)}, "one sense for each")]:
        with pytest.raises(UnsuitableText, match=message):
            find_near_uses(uses, first, vector="", **options)
