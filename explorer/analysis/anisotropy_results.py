"""What the analyses of anisotropy return: frozen values and arrays, free of torch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from explorer.analysis.sense_results import Estimate

VALUES = ("mean", "zero")  # what stands in the place of numbers that are taken away


@dataclass(frozen=True)
class Protocol:
    """What was measured, and how: the same model gives other numbers by another protocol.

    Attributes:
        corpus: Its name.
        sentences: How many were read.
        points: How many vectors.
        words: How many different tokens, or words.
        unit: What has a vector: "tokens", or "words", each the mean of its tokens.
        specials: Whether the tokens that the tokenizer adds are among them.
        least_uses: Self-similarity and explainable variance are of words with so many uses at least.
        repeated_words: How many there were, and were followed.
        kept_words: How many of these, drawn at random, the explainable variance and the histogram are of.
        kept_uses: How many uses of each were kept at most, drawn at random.
        random_points: How many vectors, drawn at random, are compared in the histogram: all pairs of them.
        seed: Of what was drawn.
    """

    corpus: str
    sentences: int
    points: int
    words: int
    unit: str
    specials: bool
    least_uses: int
    repeated_words: int
    kept_words: int
    kept_uses: int
    random_points: int
    seed: int

    def __str__(self) -> str:
        """In one sentence, as it stands under a figure."""
        specials = "" if self.unit == "words" else f", special tokens {'in' if self.specials else 'out'}"
        texts = "sentence" if self.sentences == 1 else "sentences"
        parts = [
            f"{self.corpus}: {self.points:,} {self.unit} of {self.sentences:,} {texts}{specials}",
            "all pairs, by sums",
        ]
        if self.repeated_words:
            parts.append(f"{self.repeated_words:,} different {self.unit} with {self.least_uses} uses or more")
        if self.kept_words:
            parts.append(f"explainable variance of {self.kept_words:,} of them, {self.kept_uses} uses each at most")
        return "; ".join([*parts, f"drawn pairs are of {self.random_points:,} at random", f"seed {self.seed}"])


@dataclass(frozen=True, eq=False)
class Anisotropy:
    """How the vectors of each layer use the directions there are.

    Attributes:
        model: Its name.
        cure: What was done to the vectors before: a key of cures.CURES.
        protocol: What was measured, and how.
        layers: Which layers, 0 = input embeddings.
        layer_count: How many the model has, the input embeddings included.
        dim: Numbers of a vector.
        metrics: By the key of each of METRICS one value for each layer; None where there is nothing to be measured.
        isotropic: By the same keys what the values would be in random directions; None where it has no such value.
        spectrum: Share of variance along each principal component, the largest first.
        edges: Of the bins of cosine in the histograms.
        random_pairs: Share of the pairs of random tokens in each bin.
        same_word: Share of the pairs of uses of one word in each bin, each word counting the same.
        top_dimensions: The numbers of a vector that vary most, the most varying first.
        covariance: Of these.
        remarks: What a reader must know.
    """

    model: str
    cure: str
    protocol: Protocol
    layers: tuple[int, ...]
    layer_count: int
    dim: int
    metrics: dict[str, tuple[float | None, ...]]
    isotropic: dict[str, float | None]
    spectrum: Float[np.ndarray, "layer dim"]
    edges: Float[np.ndarray, " edge"]
    random_pairs: Float[np.ndarray, "layer bin"]
    same_word: Float[np.ndarray, "layer bin"]
    top_dimensions: Int[np.ndarray, "layer top"]
    covariance: Float[np.ndarray, "layer top top"]
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class AblatedPrediction:
    """What the model predicts without some numbers of a layer.

    Attributes:
        dimensions: Which numbers.
        divergence_bits: Kullback-Leibler divergence from the intact prediction, mean over the places.
        kept: Share of the places whose likeliest token stays the same.
        low_bits: Lower end of the divergence's 95 % bootstrap interval over the places.
        high_bits: Upper end.
    """

    dimensions: tuple[int, ...]
    divergence_bits: float
    kept: float
    low_bits: float
    high_bits: float


@dataclass(frozen=True)
class DimensionAblation:
    """What taking numbers of a layer away does to predictions.

    Attributes:
        layer: Of which layer, 0 = input embeddings. Of the last the vector that is predicted from is changed; of any
            other all vectors are, and the layers above go on from these.
        places: How many predictions, one in a sentence: a token that was hidden, or the next one.
        value: What stands in their place: "mean" of the corpus, or "zero".
        rogue: Without the top 1, 2, … dimensions.
        random: For as many dimensions that were drawn at random instead, mean over the draws: bits.
        random_kept: Likewise, the share of the places whose likeliest token stays the same.
        draws: How often they were drawn.
        random_least: Of these draws, the one that moved the predictions least: bits, likewise by how many.
        random_most: The one that moved them most.
    """

    layer: int
    places: int
    value: str
    rogue: tuple[AblatedPrediction, ...]
    random: tuple[float, ...]
    random_kept: tuple[float, ...]
    draws: int
    random_least: tuple[float, ...]
    random_most: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class RogueDimensions:
    """The numbers of a vector that make up the cosine.

    Attributes:
        model: Its name.
        protocol: What was measured, and how.
        layers: Which layers, 0 = input embeddings.
        layer_count: How many the model has.
        mean_cosine: Of all pairs of different tokens.
        contributions: What each number of a vector adds to it.
        centre: The mean vector over the corpus.
        top: The numbers that add most, the largest first.
        shares: Of the mean cosine, what each of these adds; not a number where the mean cosine is 0.
        means: Their mean over the corpus.
        deviations: Their standard deviation.
        r_squared: Squared correlation of cosines with those without the top 1, 2, … numbers.
        spearman: Their rank correlation.
        pairs: How many pairs these are of.
        ablation: What they do for predictions; None where the model predicts no token, or was not asked.
        remarks: What a reader must know.
    """

    model: str
    protocol: Protocol
    layers: tuple[int, ...]
    layer_count: int
    mean_cosine: Float[np.ndarray, " layer"]
    contributions: Float[np.ndarray, "layer dim"]
    centre: Float[np.ndarray, "layer dim"]
    top: Int[np.ndarray, "layer top"]
    shares: Float[np.ndarray, "layer top"]
    means: Float[np.ndarray, "layer top"]
    deviations: Float[np.ndarray, "layer top"]
    r_squared: Float[np.ndarray, "layer top"]
    spearman: Float[np.ndarray, "layer top"]
    pairs: int
    ablation: DimensionAblation | None
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class SimilarityScore:
    """How well cosines agree with people.

    Attributes:
        pooling: How the vectors of a text become one: a key of similarity.POOLINGS.
        cure: What was done to the vectors: a key of cures.CURES.
        layer: 0 = input embeddings.
        spearman: Rank correlation of cosines and scores, in [-1, 1]; None where all cosines are the same.
        low: Lower end of its 95 % bootstrap interval; None likewise.
        high: Upper end.
        change: How much more it is than of the vectors as they are, resampled together; None where either is missing.
    """

    pooling: str
    cure: str
    layer: int
    spearman: float | None
    low: float | None = None
    high: float | None = None
    change: Estimate | None = None


@dataclass(frozen=True)
class SimilarityScores:
    """How well the cosines of a model's vectors agree with what people say of pairs of texts.

    Attributes:
        model: Its name.
        name: Of the pairs.
        pairs: How many.
        texts: How many different texts are in them.
        fitted_on: What the cures were fitted on, in words.
        own_pooling: What the model was trained to compare: a pooling of its last layer; "" = nothing.
        layer_count: How many layers the model has, the input embeddings included.
        scores: Each pooling, cure and layer.
        remarks: What a reader must know.
        intervals: How the intervals were made.
    """

    model: str
    name: str
    pairs: int
    texts: int
    fitted_on: str
    own_pooling: str
    layer_count: int
    scores: tuple[SimilarityScore, ...]
    remarks: tuple[str, ...]
    intervals: str = ""


@dataclass(frozen=True)
class FoundText:
    """A text that was searched for.

    Attributes:
        index: Which of those searched.
        text: As given.
        cosine: To the query.
    """

    index: int
    text: str
    cosine: float


@dataclass(frozen=True)
class FoundTexts:
    """The texts nearest to a query.

    Attributes:
        model: Its name.
        query: As given.
        vector: Which vector of each was compared, in words.
        count: How many were searched.
        found: Nearest first.
        remarks: What to know of the query and the texts.
    """

    model: str
    query: str
    vector: str
    count: int
    found: tuple[FoundText, ...]
    remarks: tuple[str, ...] = ()
