"""How well vectors tell the senses of a word apart: plain values, free of torch."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Estimate:
    """A number and how sure it is.

    Attributes:
        value: Measured on all uses.
        low: Lower end of the 95 % bootstrap interval.
        high: Upper end.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class LayerSenses:
    """How well one layer tells the senses apart.

    Attributes:
        layer: 0 = input embeddings.
        nearest: Share of uses whose nearest other use has the same sense, in [0, 1].
        centroid: Share of uses that are nearer to the mean of the other uses of their sense than to the mean of any
            other sense, in [0, 1].
        silhouette: Mean over uses of (b - a) / max(a, b), in [-1, 1]: a = mean distance to the other uses of its sense,
            b = to those of the nearest other sense; distance = 1 - cosine.
        self_similarity: Mean cosine of all pairs of uses, whatever their sense, in [-1, 1].
        baseline: The same of random other words of these sentences; None = they have too few.
    """

    layer: int
    nearest: Estimate
    centroid: Estimate
    silhouette: Estimate
    self_similarity: Estimate
    baseline: Estimate | None


@dataclass(frozen=True)
class SenseScores:
    """How well each layer of a model tells the senses of a word apart, and what can be had without a model.

    Attributes:
        model: Its name.
        pieces: How the vectors of several tokens became one.
        senses: Each sense and how many uses it has, in the order of their first use.
        uses: How many uses.
        layers: From the lowest.
        chance_nearest: Share of uses that have the sense of another use drawn at random, which is never the use itself.
        chance_centroid: Share that a sense drawn at random gets right: one in how many senses there are, of the uses
            whose sense has another use; the others are never right.
        most_frequent: Share of the most frequent sense.
        bag_of_words: Share that the words around the use give away, by the nearest centroid of the other sentences;
            None = there are too many sentences to count.
        intervals: How the intervals were made.
        remarks: What a reader must know.
        joined: Another vector than that of a layer, in words, and its scores; None = none was asked for.
    """

    model: str
    pieces: str
    senses: tuple[tuple[str, int], ...]
    uses: int
    layers: tuple[LayerSenses, ...]
    chance_nearest: float
    chance_centroid: float
    most_frequent: float
    bag_of_words: float | None
    intervals: str
    remarks: tuple[str, ...]
    joined: tuple[str, LayerSenses] | None = None

    @property
    def best(self) -> LayerSenses:
        """The layer of the highest centroid accuracy, the lowest of those."""
        return max(self.layers, key=lambda layer: (layer.centroid.value, -layer.layer))


@dataclass(frozen=True)
class SenseConfusion:
    """Which senses one vector of each use takes for which.

    Attributes:
        model: Its name.
        vector: Which vector of each use, in words.
        pieces: How the vectors of several tokens became one.
        senses: In the order of their first use.
        nearest: For each sense and each other: how many uses of the one have a nearest other use of the other.
        centroid: The same for the nearest mean of a sense, the use itself left out.
    """

    model: str
    vector: str
    pieces: str
    senses: tuple[str, ...]
    nearest: tuple[tuple[int, ...], ...]
    centroid: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class LayerSimilarity:
    """How alike the uses of a word are in one layer.

    Attributes:
        layer: 0 = input embeddings.
        self_similarity: Mean cosine of all pairs of uses, in [-1, 1].
        baseline: The same of random other words of these sentences; None = they have too few.
    """

    layer: int
    self_similarity: Estimate
    baseline: Estimate | None


@dataclass(frozen=True)
class UseSimilarity:
    """What can be measured of uses whose senses nobody has labelled.

    Attributes:
        model: Its name.
        pieces: How the vectors of several tokens became one.
        uses: How many uses.
        layers: From the lowest.
        intervals: How the intervals were made.
        remarks: What a reader must know.
    """

    model: str
    pieces: str
    uses: int
    layers: tuple[LayerSimilarity, ...]
    intervals: str
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class PairedUses:
    """The same uses judged before and after.

    Attributes:
        gained: How many were wrong and are right.
        lost: How many were right and are wrong.
        p: How probable so uneven a split is by chance: the exact sign test, two-sided.
    """

    gained: int
    lost: int
    p: float


@dataclass(frozen=True)
class CuredLayer:
    """What a cure changes in one layer.

    Attributes:
        layer: 0 = input embeddings.
        nearest: Of what the nearest other use says.
        centroid: Of what the nearest centroid of a sense says.
    """

    layer: int
    nearest: PairedUses
    centroid: PairedUses


@dataclass(frozen=True)
class CuredSenses:
    """How well each layer tells the senses of a word apart after a cure.

    Attributes:
        cure: A key of cures.CURES.
        components: How many principal components were taken away; None = the cure takes none.
        scores: After the cure.
        layers: What changed.
    """

    cure: str
    components: int | None
    scores: SenseScores
    layers: tuple[CuredLayer, ...]
