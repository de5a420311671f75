"""Pairs of texts, what people and a model say of them, and where the two disagree: frozen values, free of torch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from explorer.analysis.pair_files import ScoredPair


@dataclass(frozen=True)
class PairSet:
    """Pairs that people scored.

    Attributes:
        name: Of the set.
        pairs: Its pairs.
        kinds: What each one is about, e.g. "negation"; "" = nobody has said.
    """

    name: str
    pairs: tuple[ScoredPair, ...]
    kinds: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class PairCosines:
    """The cosine of each pair, by every pooling, cure and layer.

    Attributes:
        model: Its name.
        name: Of the pairs.
        pairs: With the scores of people.
        texts: How many different texts are in them.
        dim: Numbers of a vector.
        fitted_on: What the cures were fitted on, in words.
        fit_texts: How many texts these were.
        own_pooling: As SimilarityScores has it.
        layers: Which, 0 = input embeddings.
        layer_count: How many the model has.
        poolings: Keys of text_vectors.POOLINGS.
        cures: Keys of cures.CURES.
        cosines: In [-1, 1], rounded, so that rounding makes no order.
        unknown_texts: How many of the texts hold what the model's vocabulary lacks.
        limit_tokens: How many the model reads.
        cut_texts: How many of the texts have more, and are read as far as it goes.
    """

    model: str
    name: str
    pairs: tuple[ScoredPair, ...]
    texts: int
    dim: int
    fitted_on: str
    fit_texts: int
    own_pooling: str
    layers: tuple[int, ...]
    layer_count: int
    poolings: tuple[str, ...]
    cures: tuple[str, ...]
    cosines: Float[np.ndarray, "pooling cure layer pair"]
    unknown_texts: int = 0
    limit_tokens: int = 0
    cut_texts: int = 0


@dataclass(frozen=True)
class RankedPair:
    """A pair, and its place among all by score and by a model; 1 = the most alike.

    Attributes:
        first: A text.
        second: Another.
        kind: What the pair is about; "" = nobody has said.
        score: As given.
        cosine: By the model.
        by_score: Its place by score; equal ones share the mean of their places.
        by_model: Its place by cosine.
    """

    first: str
    second: str
    kind: str
    score: float
    cosine: float
    by_score: float
    by_model: float

    @property
    def shift(self) -> float:
        """How many places nearer to the top the model has it; below 0: farther from it."""
        return self.by_score - self.by_model


@dataclass(frozen=True)
class KindShift:
    """Where the model has the pairs of a kind.

    Attributes:
        kind: Their name.
        pairs: How many.
        shift: Mean of RankedPair.shift.
    """

    kind: str
    pairs: int
    shift: float


@dataclass(frozen=True)
class RankedPairs:
    """All pairs of a set by one vector of each text.

    Attributes:
        model: Its name.
        name: Of the pairs.
        vector: Which vector of each text, in words.
        pairs: Those first of which model and people disagree most.
        kinds: The kinds of pairs, those first which the model has nearest compared with people; none where nobody has
            said of what kind the pairs are.
    """

    model: str
    name: str
    vector: str
    pairs: tuple[RankedPair, ...]
    kinds: tuple[KindShift, ...]
