"""What measuring attention heads returns: plain values and arrays, free of torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

BUILT_IN = "built-in set"
GIVEN = "given texts"
AGAIN, SPANS, TOLD = "again", "spans", "told"
DECODER_READS = {
    AGAIN: "The decoder reads what the encoder read, as if it wrote it again: the next token is the one to be "
    "written, and in cross-attention the encoder’s token for it.",
    SPANS: "The encoder reads each text with 15 % of its tokens hidden, as in T5’s training, and the decoder the "
    "hidden ones: the next token is the one to be written, and in cross-attention the sentinel of its gap.",
    TOLD: "The decoder reads the second text. In cross-attention, previous, same and next are told by where a token "
    "stands in its own text.",
}


@dataclass(frozen=True, eq=False)
class HeadMeasures:
    """What every head of one stack of layers does on some texts.

    Attributes:
        model: Name of the model.
        stack: "encoder" or "decoder": whose heads these are.
        source: BUILT_IN or GIVEN.
        texts: How many were read.
        tokens: How many tokens of them attend: those of the texts that see at least one other; no special ones.
        values: By the key of head_measures.MEASURES; a share lies in [0, 1].
        counts: How many tokens each value is the mean over; those for which it is defined.
        uniform: What a head would get that attends to all tokens in sight alike.
        left_out: Why a measure is not defined for this model or these texts.
        first_token: How the vocabulary spells what stands first, "" where that is the first token of each text.
        end_token: The same of what stands behind each text, "" where nothing does.
        seed: Of the random tokens for the induction score, and of what is hidden.
        decoder_reads: A key of DECODER_READS, where the heads are those of a decoder beside an encoder; else "".
        second_text: What was read beside the only text, as in AttentionReading; None = nothing.
    """

    model: str
    stack: str
    source: str
    texts: int
    tokens: int
    values: Mapping[str, Float[ndarray, "layer head"]]
    counts: Mapping[str, int]
    uniform: Mapping[str, float]
    left_out: Mapping[str, str]
    first_token: str
    end_token: str
    seed: int
    decoder_reads: str = ""
    second_text: str | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """How many layers, and how many heads each has."""
        return self.values["entropy"].shape


@dataclass(frozen=True)
class HeadPattern:
    """A pattern that a head was measured to follow.

    Attributes:
        layer: Counted from 0, as in the arrays.
        head: Likewise.
        key: Of the measure, e.g. "next"; or "relation:" with the relation.
        value: What was measured: a share or an accuracy, from 0 to 1; bits where the measure is the entropy.
        uniform: The same of a head that attends to all alike; for a relation, of the best fixed offset.
        count: How many tokens or words it was measured on.
        sentence: The same in words.
    """

    layer: int
    head: int
    key: str
    value: float
    uniform: float
    count: int
    sentence: str


@dataclass(frozen=True, eq=False)
class RelationAgreement:
    """How often each head points from a word to the word it depends on.

    Attributes:
        relation: Of Universal Dependencies, e.g. "det".
        count: How many words depend so.
        to_head: How often the dependent's most attended other word is its head.
        from_head: How often, of all other words, its head is the one that attends most to the dependent.
        baseline: How often the word at the best fixed distance is the head.
        offset: That distance, in words; 1 = the next word.
    """

    relation: str
    count: int
    to_head: Float[ndarray, "layer head"]
    from_head: Float[ndarray, "layer head"]
    baseline: float
    offset: int

    @property
    def accuracy(self) -> Float[ndarray, "layer head"]:
        """The better of the two directions, head by head."""
        return np.maximum(self.to_head, self.from_head)


@dataclass(frozen=True, eq=False)
class RelationMatches:
    """Which heads follow which relations of a set of sentences.

    Attributes:
        model: Name of the model.
        stack: "encoder" or "decoder": whose heads these are.
        source: What the sentences are.
        sentences: How many.
        words: How many they have together.
        relations: Most frequent first, without those left out.
        left_out: How many words depend by relations that occur too seldom to be judged, by relation.
        least_count: A relation with fewer words is left out.
    """

    model: str
    stack: str
    source: str
    sentences: int
    words: int
    relations: tuple[RelationAgreement, ...]
    left_out: Mapping[str, int]
    least_count: int
