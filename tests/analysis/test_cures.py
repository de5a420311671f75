"""Cures against their formulas, written plainly, and against what they promise."""

import warnings

import numpy as np
import pytest

from explorer.analysis.anisotropy_metrics import METRICS
from explorer.analysis.cured_occurrences import cure_occurrences
from explorer.analysis.cures import CURES, apply_cure, fit_cure, rank_numbers, remark_on_fit
from explorer.analysis.senses import score_vectors
from explorer.analysis.vector_spaces import describe_space, start_sums
from explorer.analysis.vector_sums import accumulate
from explorer.errors import UnsuitableText
from tests.analysis.test_senses import uses_of


def space_of(points):
    sums = start_sums(1, points.shape[1])
    accumulate(sums, points[None])
    return describe_space(sums, 0)


def points_with(count=200, dim=12, seed=0):
    """A mean, one far larger number, numbers that go together, and one that is the same everywhere."""
    random = np.random.default_rng(seed)
    points = random.standard_normal((count, dim)) @ random.standard_normal((dim, dim)) + random.standard_normal(dim) * 3
    points[:, 4] = 40 + 6 * random.standard_normal(count)
    points[:, 7] = 0.1
    return points.astype(np.float32)


def cured(name, points, **options):
    return apply_cure(fit_cure(name, space_of(points), **options), points)


def plain_ranks(row):
    return [(sum(other < one for other in row) + sum(other <= one for other in row) + 1) / 2 for one in row]


def test_each_cure_is_its_formula():
    points = points_with()
    exact = points.astype(np.float64)
    centred = exact - exact.mean(axis=0)
    assert cured("none", points) is points
    np.testing.assert_allclose(cured("mean_removal", points), centred, atol=1e-9)
    deviations = exact.std(axis=0)
    scores = np.stack([centred[:, i] / deviations[i] if i != 7 else np.zeros(200) for i in range(12)], axis=1)
    np.testing.assert_allclose(cured("z_score", points), scores, atol=1e-9)
    assert (cured("z_score", points)[:, 7] == 0).all()
    directions = np.linalg.svd(centred)[2][:3]
    without = centred - sum(np.outer(centred @ one, one) for one in directions)
    np.testing.assert_allclose(cured("all_but_the_top", points), without, atol=1e-8)
    ranks = np.array([plain_ranks(row) for row in exact])
    np.testing.assert_allclose(cured("rank", points), ranks - ranks.mean(axis=1, keepdims=True))
    white = cured("whitening", points)
    np.testing.assert_allclose(np.cov(white.T, ddof=0), np.diag([1.0] * 11 + [0]), atol=1e-8)
    # Mahalanobis: distances of whitened vectors are those by the inverse covariance
    inverse = np.linalg.pinv(np.cov(exact.T, ddof=0), rcond=1e-9)
    apart = centred[3] - centred[8]
    assert ((white[3] - white[8]) ** 2).sum() == pytest.approx(apart @ inverse @ apart, rel=1e-6)


def test_a_cosine_of_ranks_is_spearmans_correlation():
    stats = pytest.importorskip("scipy.stats", reason="needs SciPy")
    a, b = cured("rank", points_with())[:2]
    assert a @ b / np.linalg.norm(a) / np.linalg.norm(b) == pytest.approx(stats.spearmanr(*points_with()[:2])[0])


def test_a_cure_that_was_fitted_elsewhere_uses_what_it_learned_there():
    here, there = points_with(seed=0), points_with(seed=1)
    learned = apply_cure(fit_cure("z_score", space_of(there)), here)
    exact = there.astype(np.float64)
    deviations = np.where(np.arange(12) == 7, np.inf, exact.std(axis=0))
    np.testing.assert_allclose(learned, (here - exact.mean(axis=0)) / deviations, atol=1e-6)
    with pytest.raises(UnsuitableText, match="fitted on 12 numbers"):
        apply_cure(fit_cure("z_score", space_of(there)), np.ones((2, 5), dtype=np.float32))


@pytest.mark.parametrize("name", [name for name in CURES if name != "none"])
def test_a_cure_makes_a_space_more_isotropic(name):
    before, after = space_of(points_with()), space_of(cured(name, points_with()).astype(np.float32))
    assert before.mean_cosine > 0.7 and abs(after.mean_cosine) < (0.5 if name == "rank" else 0.02)
    if name in {"z_score", "whitening"}:
        assert METRICS["isoscore"].measure(after) > METRICS["isoscore"].measure(before)


def test_few_or_equal_vectors_divide_nothing_by_zero():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for points in (points_with(4), np.ones((5, 12), dtype=np.float32)):
            for name in CURES:
                assert np.isfinite(cured(name, points)).all()


def test_whitening_on_few_vectors_is_remarked_on_and_does_what_is_said():
    [said] = remark_on_fit("whitening", 4, 12)
    assert "From 4 vectors it learns 3 of 12 directions at most" in said and "takes the other 9 away" in said
    there = np.random.default_rng(0).standard_normal((4, 12))
    white = apply_cure(fit_cure("whitening", space_of(there)), np.random.default_rng(1).standard_normal((50, 12)))
    assert np.linalg.matrix_rank(white) == 3
    assert remark_on_fit("whitening", 12, 12) and not remark_on_fit("whitening", 13, 12)
    assert not remark_on_fit("mean_removal", 4, 12)


def test_equal_numbers_share_a_rank():
    rows = np.array([[3.0, 1, 3, 3, 0], [2, 2, 2, 2, 2], [1, 2, 3, 4, 5]])
    assert rank_numbers(rows).tolist() == [plain_ranks(row) for row in rows]


@pytest.mark.parametrize(
    "name, components, message",
    [("hope", 3, "no cure 'hope'"), ("all_but_the_top", 0, "from 1 to 11"), ("all_but_the_top", 12, "from 1 to 11")],
)
def test_what_cannot_be_fitted_is_refused(name, components, message):
    with pytest.raises(UnsuitableText, match=message):
        fit_cure(name, space_of(points_with()), components=components)
    with pytest.raises(UnsuitableText, match="fitted on a corpus"):
        fit_cure("z_score", None)


def test_uses_are_cured_and_then_scored_as_before():
    """Two senses apart in a small number, beside a large number of no meaning that hides it from every cosine."""
    random = np.random.default_rng(0)
    labels = np.arange(60) % 2
    vectors = random.standard_normal((1, 60, 6)) * 0.05
    vectors[0, :, 0] += 0.3 * labels
    vectors[0, :, 5] += 5 * random.standard_normal(60)
    uses, senses = uses_of(vectors.astype(np.float32)), [f"sense {label}" for label in labels]
    [before] = score_vectors(uses, senses).layers
    [after] = score_vectors(cure_occurrences(uses, cure="z_score"), senses).layers
    assert before.centroid.value < 0.8 < 0.95 < after.centroid.value
    assert after.silhouette.value > before.silhouette.value + 0.1
    cured_uses = cure_occurrences(uses, cure="all_but_the_top", components=1)
    np.testing.assert_allclose(
        cured_uses.vectors[0], cured("all_but_the_top", uses.vectors[0], components=1), atol=1e-5
    )
    assert "all but the top" in cured_uses.remarks[-1] and cured_uses.sentences == uses.sentences
    np.testing.assert_array_equal(cure_occurrences(uses, cure="none").vectors, uses.vectors)
