"""The few vectors of a corpus that are kept whole, drawn before it is read: random ones, and uses of repeated words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int

from explorer.analysis.vector_spaces import unit_rows
from explorer.analysis.vector_stream import Census, PointBatch
from explorer.errors import UnsuitableText
from explorer.settings import settings

MOST_WORDS = 4_000  # whose sums are kept
BINS = 80
MIB = 2**20
NOWHERE = -1


@dataclass(frozen=True, eq=False)
class SamplePlan:
    """Which vectors of a corpus are kept.

    Attributes:
        least_uses: Uses that a word must have to be followed.
        words: The words that are followed, and their numbers.
        left_out: How many more have uses enough.
        points: The random ones: number in the corpus, and where it is kept.
        kept: For each word whose uses are kept: which of its uses, and where each is kept.
        edges: Where the uses of each of these begin, and where the last ones end.
        seen: How many uses of each have come by; grows while the corpus is read.
    """

    least_uses: int
    words: dict[Hashable, int]
    left_out: int
    points: dict[int, int]
    kept: dict[Hashable, dict[int, int]]
    edges: tuple[int, ...]
    seen: Counter[Hashable] = field(default_factory=Counter)

    def slots(self, batch: PointBatch) -> tuple[Int[np.ndarray, " point"], Int[np.ndarray, " point"]]:
        """Where each point of the next batch is kept, among the random ones and among the uses; or NOWHERE."""
        random = np.array([self.points.get(number, NOWHERE) for number in batch.numbers.tolist()], dtype=np.int64)
        uses = np.full(len(batch.kinds), NOWHERE)
        for place, kind in enumerate(batch.kinds):
            if kind in self.kept:
                uses[place] = self.kept[kind].get(self.seen[kind], NOWHERE)
                self.seen[kind] += 1
        return random, uses

    def check_room(self, times: int, layers: int, dim: int) -> None:
        """Refuse to keep more than settings().most_vectors_mib.

        Args:
            times: For so many cures at once.
            layers: Of the model.
            dim: Likewise.

        Raises:
            UnsuitableText: It is more; the message says what to do.
        """
        sums = len(self.words) * dim * 8 + dim * dim * 8
        needed_mib = times * layers * (sums + (len(self.points) + self.edges[-1]) * dim * 4) / MIB
        if needed_mib > settings().most_vectors_mib:
            raise UnsuitableText(
                f"What is kept of {layers} layers takes {needed_mib:,.0f} MiB; at most {settings().most_vectors_mib:,} "
                "MiB are there. Ask for fewer layers or cures, or for words with more uses."
            )


@dataclass(frozen=True, eq=False)
class Sample:
    """The vectors that are kept.

    Attributes:
        random: Those drawn at random.
        repeated: Uses of repeated words, those of one after those of another.
        edges: Where those of each begin, and where the last ones end.
    """

    random: Float[np.ndarray, "layer point dim"]
    repeated: Float[np.ndarray, "layer use dim"]
    edges: tuple[int, ...]

    def uses(self, layer: int) -> list[Float[np.ndarray, "_ dim"]]:
        """The uses of each repeated word in one layer."""
        return [self.repeated[layer, start:end] for start, end in zip(self.edges[:-1], self.edges[1:], strict=True)]


def plan_sample(census: Census, *, least_uses: int, words: int, uses: int, points: int, seed: int) -> SamplePlan:
    """Draw what is kept of a corpus.

    Args:
        census: What is in it.
        least_uses: Uses that a word must have to be followed.
        words: Of how many of these uses are kept, at most.
        uses: How many of each, at most.
        points: How many random ones, at most.
        seed: Of the draw.
    """
    random = np.random.default_rng(seed)
    repeated = [kind for kind, count in census.uses.items() if count >= least_uses]
    followed = _draw(random, len(repeated), MOST_WORDS)
    chosen = [repeated[index] for index in followed]
    kept: dict[Hashable, dict[int, int]] = {}
    edges = [0]
    for index in _draw(random, len(chosen), words):
        kind = chosen[index]
        drawn = _draw(random, census.uses[kind], uses)
        kept[kind] = {number: edges[-1] + place for place, number in enumerate(drawn)}
        edges.append(edges[-1] + len(drawn))
    numbers = {number: place for place, number in enumerate(_draw(random, census.points, points))}
    words_of = {kind: number for number, kind in enumerate(chosen)}
    return SamplePlan(least_uses, words_of, len(repeated) - len(chosen), numbers, kept, tuple(edges))


def start_sample(plan: SamplePlan, layers: int, dim: int) -> Sample:
    """Room for what a plan keeps."""
    shapes = ((layers, len(plan.points), dim), (layers, plan.edges[-1], dim))
    random, repeated = (np.zeros(shape, dtype=np.float32) for shape in shapes)
    return Sample(random, repeated, plan.edges)


def keep_batch(
    sample: Sample,
    vectors: Float[np.ndarray, "layer point dim"],
    random: Int[np.ndarray, " point"],
    uses: Int[np.ndarray, " point"],
) -> None:
    """Keep the vectors of a batch that were drawn, in place.

    Args:
        sample: As start_sample makes it.
        vectors: Of the batch.
        random: As the plan's slots says.
        uses: Likewise.
    """
    sample.random[:, random[random != NOWHERE]] = vectors[:, random != NOWHERE]
    sample.repeated[:, uses[uses != NOWHERE]] = vectors[:, uses != NOWHERE]


def measure_pairs(
    sample: Sample,
) -> tuple[Float[np.ndarray, " edge"], Float[np.ndarray, "layer bin"], Float[np.ndarray, "layer bin"]]:
    """Histograms of the cosines of all pairs of random vectors, and of all pairs of uses of a word, each word alike.

    Returns:
        The edges of the bins, then shares that sum to 1; all 0 where there is no pair.
    """
    edges = np.linspace(-1, 1, BINS + 1)
    layers = len(sample.random)
    random, same = np.zeros((layers, BINS)), np.zeros((layers, BINS))
    for layer in range(layers):
        random[layer] = np.histogram(pair_cosines(sample.random[layer]), edges)[0]
        for uses in sample.uses(layer):
            counts = np.histogram(pair_cosines(uses), edges)[0]
            same[layer] += counts / max(counts.sum(), 1)
    return edges, _as_shares(random), _as_shares(same)


def pair_cosines(vectors: Float[np.ndarray, "point dim"]) -> Float[np.ndarray, " pair"]:
    """Cosines of all pairs of different vectors; 0 where one is zeros."""
    unit = unit_rows(vectors)
    first, second = np.triu_indices(len(unit), 1)
    return np.clip(unit @ unit.T, -1, 1)[first, second]


def _as_shares(counts: Float[np.ndarray, "layer bin"]) -> Float[np.ndarray, "layer bin"]:
    return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-300)


def _draw(random: np.random.Generator, count: int, most: int) -> list[int]:
    """Some of so many numbers, in their order; all of them where there are few enough."""
    if count <= most:
        return list(range(count))
    return sorted(random.choice(count, most, replace=False, shuffle=False).tolist())
