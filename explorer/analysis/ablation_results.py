"""What switching attention heads off returns: plain values and arrays, free of torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from jaxtyping import Float
from numpy import ndarray

from explorer.analysis.scoring_results import NextToken

Head = tuple[str, int, int]  # stack, layer and head, counted from 0

READOUTS = {
    "blanks": "what the model puts into each blank",
    "next": "what the model expects next",
    "written": "what the model writes, token by token, each after what the intact model wrote before it",
    "embedding": "the sentence embedding: the mean of the last layer's vectors",
}


@dataclass(frozen=True)
class AblationPlace:
    """What the model says at one place, intact and with heads switched off.

    Attributes:
        position: Which of the tokens read, or, where the model writes, which of those written; from 0.
        before: The likeliest tokens of the intact model, best first.
        after: Those with the heads off, best first.
        answer: The token that is followed: the intact model's likeliest, or the one that it wrote; its probability is
            the intact model's.
        answer_after: Its probability with the heads off.
        rank_after: Its rank then; 1 = still the likeliest.
        divergence_bits: Kullback-Leibler divergence of the distribution after from the one before: what it costs, in
            bits for each token, to believe the model without these heads where the intact one is right.
    """

    position: int
    before: tuple[NextToken, ...]
    after: tuple[NextToken, ...]
    answer: NextToken
    answer_after: float
    rank_after: int
    divergence_bits: float


@dataclass(frozen=True)
class HeadAblation:
    """What a model says of a text with some attention heads switched off, beside the intact model.

    Attributes:
        model: Name of the model.
        text: As given.
        heads: Those that are off, in the order of the layers; counted from 0.
        head_counts: Layers, and heads in each, of every stack of the model.
        readout: A key of READOUTS.
        tokens: What was read, as the vocabulary spells it.
        places: Where the model says something; none where the readout is the embedding.
        cosine: Between the sentence embedding after and before; None for a model that reads from left to right.
        second_text: What was read beside the text, as in AttentionReading; None = nothing.
    """

    model: str
    text: str
    heads: tuple[Head, ...]
    head_counts: Mapping[str, tuple[int, int]]
    readout: str
    tokens: tuple[str, ...]
    places: tuple[AblationPlace, ...]
    cosine: float | None
    second_text: str | None = None

    @property
    def head_count(self) -> int:
        """How many heads the model has in all."""
        return sum(layers * heads for layers, heads in self.head_counts.values())


@dataclass(frozen=True, eq=False)
class HeadRanking:
    """How much each head matters for one text when it alone is switched off.

    Attributes:
        model: Name of the model.
        text: As given.
        readout: A key of READOUTS.
        answers: The tokens that are followed, one for each place.
        effects: By stack: the divergence in bits, the mean over the places; where the readout is the embedding, 1 less
            the cosine. NaN = not done yet.
        changes: By stack: how the answer's probability changes, the mean over the places, from -1 to 1; for the
            embedding, 0.
        done: How many heads were switched off.
        head_count: Of how many.
        second_text: As of HeadAblation.
    """

    model: str
    text: str
    readout: str
    answers: tuple[NextToken, ...]
    effects: Mapping[str, Float[ndarray, "layer head"]]
    changes: Mapping[str, Float[ndarray, "layer head"]]
    done: int
    head_count: int
    second_text: str | None = None

    @property
    def unit(self) -> str:
        """Of the effects."""
        return "1 − cosine" if self.readout == "embedding" else "bits"
