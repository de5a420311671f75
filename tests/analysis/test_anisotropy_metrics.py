"""Every metric against the formula of its paper, written as loops over pairs; random directions; planted dimensions."""

import warnings
from itertools import combinations

import numpy as np
import pytest
from IsoScore.IsoScore import IsoScore as published_score

from explorer.analysis.anisotropy_metrics import METRICS, effective_rank, first_share, iso_score, isotropic_spectrum
from explorer.analysis.vector_spaces import NO_WORD, describe_space, start_sums
from explorer.analysis.vector_sums import accumulate
from explorer.errors import UnsuitableText


def cosine(a, b):
    lengths = np.linalg.norm(a) * np.linalg.norm(b)
    return float(a @ b / lengths) if lengths else 0.0


def mean_cosine(points):
    return np.mean([cosine(a, b) for a, b in combinations(points, 2)])


def explained(points):
    singular = np.linalg.svd(points, compute_uv=False)
    return singular[0] ** 2 / (singular**2).sum()


def plain(points, words, sentences):
    """Ethayarajh's and Rudman's formulas as they are printed, one pair at a time."""
    points = points.astype(np.float64)
    baseline = mean_cosine(points)
    uses = [points[words == word] for word in range(words.max() + 1)]
    repeated = [own for own in uses if len(own) > 1]
    inside = []
    for sentence in np.unique(sentences):
        own = points[sentences == sentence]
        inside.append(np.mean([cosine(own.mean(axis=0), one) for one in own]))
    centred = points - points.mean(axis=0)
    variances = np.linalg.svd(centred, compute_uv=False) ** 2
    variances = np.concatenate([variances, np.zeros(points.shape[1] - len(variances))])
    shares = variances / variances.sum()
    n = points.shape[1]  # Rudman et al., algorithm 1, steps 4 to 7
    normalised = variances / np.linalg.norm(variances) * np.sqrt(n)
    defect = np.linalg.norm(normalised - 1) / np.sqrt(2 * (n - np.sqrt(n)))
    score = ((n - defect**2 * (n - np.sqrt(n))) ** 2 - n) / (n * (n - 1))
    lengths = np.linalg.norm(points, axis=1)
    return {
        "mean_cosine": baseline,
        "self_similarity": np.mean([mean_cosine(own) for own in repeated]),
        "self_similarity_adjusted": np.mean([mean_cosine(own) for own in repeated]) - baseline,
        "intra_sentence_similarity": np.mean(inside),
        "intra_sentence_similarity_adjusted": np.mean(inside) - baseline,
        "maximum_explainable_variance": np.mean([explained(own) for own in uses]),
        "maximum_explainable_variance_adjusted": np.mean([explained(own) for own in uses]) - explained(points),
        "isoscore": score,
        "effective_rank": np.exp(-sum(share * np.log(share) for share in shares if share > 1e-14)),
        "top_1_variance": shares[0],
        "top_3_variance": shares[:3].sum(),
        "top_10_variance": shares[:10].sum(),
        "mean_norm": lengths.mean(),
        "norm_spread": lengths.std(),
    }


def corpus(count, dim, *, words=6, seed=0, shift=0.0, scale=1.0):
    random = np.random.default_rng(seed)
    numbers = np.concatenate([np.arange(words), random.integers(0, words, count - words)])
    means = random.standard_normal((words, dim)) * 0.7
    points = (random.standard_normal((count, dim)) + means[numbers] + shift) * random.uniform(0.3, 4, (count, 1))
    return (points * scale).astype(np.float32), numbers, np.sort(random.integers(0, max(count // 7, 1), count))


def measured(points, words=None, sentences=None, *, batches=4):
    """Of sums that came in batches which keep sentences whole."""
    sums = start_sums(1, points.shape[1], words=0 if words is None else int(words.max()) + 1)
    edges = np.linspace(0, len(points), batches + 1).astype(int)
    if sentences is not None:
        edges = [0, *(int(np.searchsorted(sentences, sentences[edge])) for edge in edges[1:-1]), len(points)]
    for start, end in zip(edges[:-1], edges[1:], strict=True):
        part = slice(start, end)
        accumulate(
            sums,
            points[None, part],
            None if words is None else words[part],
            None if sentences is None else sentences[part],
        )
    uses = [] if words is None else [points[words == word] for word in range(words.max() + 1)]
    return describe_space(sums, 0, uses)


@pytest.mark.parametrize(
    "count, dim, changes",
    [
        (60, 12, {}),
        (90, 40, {"words": 12}),
        (25, 40, {"words": 3}),  # fewer vectors than dimensions
        (80, 12, {"shift": 50.0}),  # a mean far larger than what differs
        (80, 12, {"scale": 1e-20}),
        (80, 12, {"scale": 1e18}),
    ],
)
def test_every_metric_is_that_of_the_papers_formula(count, dim, changes):
    points, words, sentences = corpus(count, dim, seed=count, **changes)
    space = measured(points, words, sentences)
    expected = plain(points, words, sentences)
    assert set(expected) == set(METRICS)
    unit = {"mean_norm": changes.get("scale", 1), "norm_spread": changes.get("scale", 1)}
    for key, metric in METRICS.items():
        size = unit.get(key, 1)
        assert metric.measure(space) / size == pytest.approx(expected[key] / size, abs=1e-6, rel=1e-6), key
    pairs = [a / np.linalg.norm(a) * b / np.linalg.norm(b) for a, b in combinations(points.astype(np.float64), 2)]
    np.testing.assert_allclose(space.contributions, np.mean(pairs, axis=0), atol=1e-9)


def test_a_mean_a_hundred_thousand_times_the_spread_costs_no_digits():
    random = np.random.default_rng(0)
    small = random.standard_normal((200, 5)) * [3, 2, 1, 1, 0.5]
    far = small + 1e5
    sums = start_sums(1, 5)
    for part in np.split(far, 4):
        accumulate(sums, part[None])
    shares = np.linalg.eigvalsh(np.cov(small.T))[::-1]
    space = describe_space(sums, 0)
    np.testing.assert_allclose(space.spectrum / space.spectrum.sum(), shares / shares.sum(), rtol=1e-8)


def test_isoscore_is_that_of_the_published_package():
    for seed, (count, dim) in enumerate([(400, 8), (300, 60), (50, 60)]):
        points = np.random.default_rng(seed).standard_normal((count, dim)) * np.linspace(1, 4, dim) + 3
        own = METRICS["isoscore"].measure(measured(points.astype(np.float32)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            published = float(published_score(points.astype(np.float32).astype(np.float64)))
        assert own == pytest.approx(published, abs=1e-6)


@pytest.mark.parametrize("count, dim", [(6_000, 40), (1_200, 120), (150, 120)])
def test_random_directions_give_the_isotropic_value(count, dim):
    """Within four standard errors, or, for largest components, within the width of Tracy and Widom's law."""
    random = np.random.default_rng(count)
    points = random.standard_normal((count, dim)).astype(np.float32)
    words, sentences = np.arange(count) % (count // 15), np.arange(count) // 10
    space = measured(points, words, sentences)
    pair_error = 1 / np.sqrt(dim)  # of the cosine of one pair
    most = float(first_share(np.array([float(count)]), dim)[0])
    edge = np.cbrt(1 / min(count, dim) ** 2)  # relative width of the largest component
    errors = {
        "mean_cosine": 4 * pair_error / np.sqrt(count * (count - 1) / 2),
        "self_similarity": 4 * pair_error / np.sqrt(count * 14 / 2),
        "self_similarity_adjusted": 4 * pair_error / np.sqrt(count * 14 / 2),
        # beside chance, random vectors of a sentence are 1 / sqrt(10) from their mean only to order 1 / dim
        "intra_sentence_similarity": 4 * pair_error / np.sqrt(count) + 0.5 / dim,
        "intra_sentence_similarity_adjusted": 4 * pair_error / np.sqrt(count) + 0.5 / dim,
        "maximum_explainable_variance": 0.04,
        "maximum_explainable_variance_adjusted": 0.04,
        "isoscore": 0.01,
        "effective_rank": 0.01 * dim,
        "top_1_variance": edge * most * 2,
        "top_3_variance": 3 * edge * most * 2,
        "top_10_variance": 10 * edge * most * 2,
    }
    for key, metric in METRICS.items():
        value = metric.isotropic(space)
        assert (value is None) == (key in {"mean_norm", "norm_spread"})
        if value is not None:
            assert metric.measure(space) == pytest.approx(value, abs=errors[key]), key


def test_the_law_of_random_spectra_is_that_of_samples():
    random = np.random.default_rng(0)
    for count, dim in ((900, 90), (90, 90), (60, 90)):
        samples = [np.linalg.eigvalsh(np.cov(random.standard_normal((count + 1, dim)).T))[::-1] for _ in range(40)]
        expected = isotropic_spectrum(count, dim)
        assert expected.shape == (dim,) and expected.sum() == pytest.approx(dim, rel=1e-3)
        np.testing.assert_allclose(np.mean(samples, axis=0), expected, atol=0.12)


def test_an_even_spectrum_scores_one_and_a_single_component_zero():
    assert iso_score(np.ones(7)) == pytest.approx(1) and effective_rank(np.ones(7)) == pytest.approx(7)
    single = np.array([3.0, 0, 0])
    assert iso_score(single) == pytest.approx(0) and effective_rank(single) == pytest.approx(1)
    # Rudman et al.: k of n dimensions used evenly score (k - 1) / (n - 1)
    assert iso_score(np.array([2.0, 2, 2, 0, 0, 0])) == pytest.approx(2 / 5)


def test_zeros_and_constants_divide_nothing_by_zero():
    points, words, sentences = corpus(40, 6)
    points[:3] = 0
    points[:, 2] = 5
    points[:, 3] = 0
    space = measured(points, words, sentences)
    for key, value in plain(points, words, sentences).items():
        assert METRICS[key].measure(space) == pytest.approx(value, abs=1e-6), key
    same = measured(np.ones((5, 4), dtype=np.float32), np.zeros(5, dtype=int), np.zeros(5, dtype=int))
    values = {key: metric.measure(same) for key, metric in METRICS.items()}
    assert values["mean_cosine"] == pytest.approx(1) and values["self_similarity"] == pytest.approx(1)
    assert values["isoscore"] is values["effective_rank"] is values["top_1_variance"] is None


def test_words_that_are_not_followed_do_not_count():
    points, words, _ = corpus(50, 6)
    kept = np.where(words == 2, 0, NO_WORD)
    sums = start_sums(1, 6, words=1)
    accumulate(sums, points[None], kept)
    own = describe_space(sums, 0).self_similarities
    assert own == pytest.approx([mean_cosine(points[words == 2].astype(np.float64))], abs=1e-9)


@pytest.mark.parametrize(
    "points, message",
    [
        (np.ones((1, 3)), "There is only 1 vector, and 3 are needed"),
        (np.ones((2, 3)), "only 2 vectors"),
        (np.zeros((4, 3)), "are zeros"),
        (np.array([[1, np.nan], [1, 2], [2, 1]]), "layer 0 hold numbers that are not finite"),
        (np.array([[1, np.inf], [1, 2], [2, 1]]), "layer 0 hold numbers that are not finite"),
    ],
)
def test_what_cannot_be_measured_is_refused(points, message):
    with pytest.raises(UnsuitableText, match=message):
        measured(points.astype(np.float32))
