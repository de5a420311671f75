"""Senses in numbers, from vectors: whether the uses of one sense are near each other, layer by layer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from jaxtyping import Bool, Float, Int

from explorer.analysis.embedding_results import Occurrences, Span
from explorer.analysis.neighbours import find_neighbours, prepare_points
from explorer.analysis.sense_results import Estimate, LayerSenses, SenseConfusion, SenseScores
from explorer.analysis.sense_sentences import SenseSentence, guess_by_bag_of_words
from explorer.errors import UnsuitableText
from explorer.settings import settings

RESAMPLES = 1_000
RESAMPLED_AT_ONCE = 100
TAILS_PERCENT = (2.5, 97.5)
INTERVALS = (
    f"95 % intervals of the percentile bootstrap: {RESAMPLES:,} times, as many uses were drawn with replacement, each "
    "judged as among all uses"
)
MOST_RANDOM_WORDS = 1_000
MOST_BAGS = 5_000
MOST_SEED = 2**32 - 1
LETTERS = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


def score_vectors(
    occurrences: Occurrences,
    senses: Sequence[str],
    *,
    random_words: Float[np.ndarray, "layer word dim"] | None = None,
    seed: int = 0,
) -> SenseScores:
    """How well the vectors of uses tell the senses of a word apart, in each layer that they are of.

    Args:
        occurrences: Uses of one word.
        senses: The sense of each.
        random_words: Vectors of other words in the same layers, for the baseline of self-similarity; None = without.
        seed: Of the resampling.

    Raises:
        UnsuitableText: Senses are missing, or all are the same.

    Source: As of senses.score_senses.
    """
    check_senses(senses, occurrences.sentences)
    counts = Counter(senses)
    labels = np.array([list(counts).index(sense) for sense in senses])
    count = len(senses)
    others = occurrences.vectors[:, :0] if random_words is None else random_words
    layers = tuple(
        _score_layer(layer, vectors, labels, words, seed)
        for layer, vectors, words in zip(occurrences.layers, occurrences.vectors, others, strict=True)
    )
    return SenseScores(
        model=occurrences.model,
        pieces=occurrences.pieces,
        senses=tuple(counts.items()),
        uses=count,
        layers=layers,
        chance_nearest=measure_chance_nearest(list(counts.values())),
        chance_centroid=sum(size for size in counts.values() if size > 1) / count / len(counts),
        most_frequent=max(counts.values()) / count,
        bag_of_words=_measure_bags(occurrences, senses) if count <= MOST_BAGS else None,
        intervals=INTERVALS,
        remarks=(*occurrences.remarks, *_remarks(counts)),
    )


def measure_chance_nearest(sizes: Sequence[int]) -> float:
    """Share of uses that have the sense of another use drawn at random, which is never the use itself.

    Args:
        sizes: How many uses each sense has; two or more in all.
    """
    count = sum(sizes)
    return sum(size * (size - 1) for size in sizes) / (count * (count - 1))


def _score_layer(
    layer: int,
    vectors: Float[np.ndarray, "point dim"],
    labels: Int[np.ndarray, " point"],
    random_words: Float[np.ndarray, "word dim"],
    seed: int,
) -> LayerSenses:
    points = prepare_points(vectors)
    unit = points.unit.astype(np.float64)
    judged = np.stack([*judge_uses(vectors, labels), silhouettes(unit, labels)]).astype(np.float64)
    estimates = _estimate_means(judged, seed)
    baseline = None
    if len(random_words) > 1:
        baseline = estimate_similarity(prepare_points(random_words).unit.astype(np.float64), seed)
    return LayerSenses(layer, *estimates, estimate_similarity(unit, seed), baseline)


def judge_uses(
    vectors: Float[np.ndarray, "point dim"], labels: Int[np.ndarray, " point"]
) -> tuple[Bool[np.ndarray, " point"], Bool[np.ndarray, " point"]]:
    """Whether each use is right by its nearest other use, and by the nearest centroid of a sense.

    Args:
        vectors: Of any length.
        labels: The sense of each use, from 0 up.
    """
    near = find_neighbours(vectors, prepare_points(vectors), k=1, exclude=np.arange(len(vectors)))
    return labels[near.indices[:, 0]] == labels, nearest_centroids(vectors, labels) == labels


def confuse_senses(
    occurrences: Occurrences, vectors: Float[np.ndarray, "point dim"], senses: Sequence[str], *, vector: str
) -> SenseConfusion:
    """Count which senses are taken for which.

    Args:
        occurrences: Uses of one word.
        vectors: One of each, as vectors.choose_vectors chooses it.
        senses: The sense of each.
        vector: In words, which vectors these are: vectors.describe_vectors.

    Raises:
        UnsuitableText: As score_vectors does.
    """
    check_senses(senses, occurrences.sentences)
    names = list(dict.fromkeys(senses))
    labels = np.array([names.index(sense) for sense in senses])
    near = find_neighbours(vectors, prepare_points(vectors), k=1, exclude=np.arange(len(vectors)))
    counts = []
    for guesses in (labels[near.indices[:, 0]], nearest_centroids(vectors, labels)):
        table = np.zeros((len(names), len(names)), dtype=int)
        np.add.at(table, (labels, guesses), 1)
        counts.append(tuple(map(tuple, table.tolist())))
    return SenseConfusion(occurrences.model, vector, occurrences.pieces, tuple(names), *counts)


def nearest_centroids(
    vectors: Float[np.ndarray, "point dim"], labels: Int[np.ndarray, " point"]
) -> Int[np.ndarray, " point"]:
    """For each use the sense whose mean is at the highest cosine, the use itself left out of the mean of its sense.

    Args:
        vectors: Of any length.
        labels: The sense of each use, from 0 up.

    Returns:
        A sense for each use; of two as near the lower. A sense that has no other use is nobody's nearest.
    """
    x = vectors.astype(np.float64)
    of_sense = _one_hot(labels)
    sums, sizes = of_sense.T @ x, of_sense.sum(axis=0)
    own = np.arange(len(x)), labels
    squared = (x * x).sum(axis=1)
    dots = x @ sums.T
    lengths = np.tile((sums * sums).sum(axis=1), (len(x), 1))
    without = sums[labels] - x
    dots[own] -= squared
    lengths[own] = (without * without).sum(axis=1)
    scale = np.sqrt(lengths) * np.sqrt(squared)[:, None]
    cosines = np.divide(dots, scale, out=np.zeros_like(dots), where=scale > 0)
    cosines[own] = np.where(sizes[labels] > 1, cosines[own], -np.inf)
    return cosines.argmax(axis=1)


def silhouettes(unit: Float[np.ndarray, "point dim"], labels: Int[np.ndarray, " point"]) -> Float[np.ndarray, " point"]:
    """The silhouette of each use, by distance = 1 - cosine; 0 for the only use of a sense.

    Args:
        unit: Vectors of length 1, or 0.
        labels: The sense of each use, from 0 up; two or more.

    Source: Rousseeuw 1987, https://doi.org/10.1016/0377-0427(87)90125-7
    """
    of_sense = _one_hot(labels)
    sizes = of_sense.sum(axis=0)
    totals = unit @ (of_sense.T @ unit).T  # the sum of the cosines to all uses of each sense, without any pair
    own = np.arange(len(unit)), labels
    others = np.maximum(sizes[labels] - 1, 1)
    inside = 1 - (totals[own] - (unit * unit).sum(axis=1)) / others
    outside = 1 - totals / sizes
    outside[own] = np.inf
    nearest = outside.min(axis=1)
    larger = np.maximum(inside, nearest)
    scores = np.divide(nearest - inside, larger, out=np.zeros_like(inside), where=larger > 0)
    return np.where(sizes[labels] > 1, scores, 0.0)


def measure_self_similarity(unit: Float[np.ndarray, "point dim"]) -> float:
    """Mean cosine of all pairs of different points; vectors of length 1, two or more.

    Source: Ethayarajh 2019, https://arxiv.org/abs/1909.00512
    """
    return float(_similarities(unit, np.ones((1, len(unit))))[0])


def _similarities(
    unit: Float[np.ndarray, "point dim"], times: Float[np.ndarray, "sample point"]
) -> Float[np.ndarray, " sample"]:
    """Mean cosine of pairs of different points, each point counted so many times; a point and itself are no pair.

    NaN where there is no pair, as where one point was drawn again and again.
    """
    sums = times @ unit
    squares = times * times
    pairs = times.sum(axis=1) ** 2 - squares.sum(axis=1)
    cosines = (sums * sums).sum(axis=1) - squares @ (unit * unit).sum(axis=1)
    return np.divide(cosines, pairs, out=np.full_like(cosines, np.nan), where=pairs > 0)


def _estimate_means(judged: Float[np.ndarray, "score point"], seed: int) -> list[Estimate]:
    drawn = np.concatenate([times @ judged.T for times in _resample(judged.shape[1], seed)]) / judged.shape[1]
    low, high = np.percentile(drawn, TAILS_PERCENT, axis=0)
    return [Estimate(*map(float, one)) for one in zip(judged.mean(axis=1), low, high, strict=True)]


def estimate_similarity(unit: Float[np.ndarray, "point dim"], seed: int) -> Estimate:
    """As measure_self_similarity, with its interval; the seed is that of the resampling."""
    drawn = np.concatenate([_similarities(unit, times) for times in _resample(len(unit), seed)])
    return Estimate(measure_self_similarity(unit), *map(float, np.nanpercentile(drawn, TAILS_PERCENT)))


def _resample(count: int, seed: int) -> Iterator[Float[np.ndarray, "sample point"]]:
    """How often each of the points is drawn, some samples at a time."""
    random = np.random.default_rng(seed)
    for _ in range(0, RESAMPLES, RESAMPLED_AT_ONCE):
        yield random.multinomial(count, np.full(count, 1 / count), RESAMPLED_AT_ONCE).astype(np.float64)


def _one_hot(labels: Int[np.ndarray, " point"]) -> Float[np.ndarray, "point sense"]:
    return (labels[:, None] == np.arange(labels.max() + 1)).astype(np.float64)


def draw_words(sentences: Sequence[str], positions: Sequence[Span], seed: int) -> list[tuple[str, Span]]:
    """From each of some sentences another word than the use, at random: what self-similarity is compared with.

    Args:
        sentences: One for each use.
        positions: Where the uses stand.
        seed: 0 or more.
    """
    random = np.random.default_rng(seed)
    most = min(MOST_RANDOM_WORDS, max(settings().most_uses - len(sentences), 0))
    drawn = []
    for number in random.permutation(len(sentences)):
        if len(drawn) == most:
            break
        start, end = positions[number]
        others = [
            match.span()
            for match in LETTERS.finditer(sentences[number])
            if match.end() <= start or match.start() >= end
        ]
        if others:
            drawn.append((sentences[number], others[random.integers(len(others))]))
    return drawn


def _measure_bags(occurrences: Occurrences, senses: Sequence[str]) -> float:
    entries = [
        SenseSentence("", sense, occurrences.sentences[number], *occurrences.positions[number])
        for number, sense in enumerate(senses)
    ]
    return float(np.mean([guess == sense for guess, sense in zip(guess_by_bag_of_words(entries), senses, strict=True)]))


def check_senses(senses: Sequence[str], sentences: Sequence[str]) -> None:
    """See that there are senses to tell apart.

    Raises:
        UnsuitableText: Senses are missing, or all are the same.
    """
    if isinstance(senses, str) or len(senses) != len(sentences):
        raise UnsuitableText(f"There are {len(sentences):,} uses: give a list with one sense for each.")
    if any(not isinstance(sense, str) or not sense.strip() for sense in senses):
        raise UnsuitableText("A use has no sense. Label it, or leave it out.")
    if len(set(senses)) < 2:
        raise UnsuitableText("To tell senses apart there must be two at least. Label the uses with different senses.")


def _remarks(counts: Counter[str]) -> Iterator[str]:
    single = [sense for sense, number in counts.items() if number == 1]
    if single:
        which = "One sense has" if len(single) == 1 else f"{len(single)} senses have"
        yield f"{which} a single use, which can never be right, for no other use has its sense."
