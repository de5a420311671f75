"""Vectors of words in context, and what is near them: plain values and arrays, free of torch."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float, Int
from numpy import ndarray

INPUT_EMBEDDINGS = "input embeddings"  # layer 0, in words
Span = tuple[int, int]  # in characters: the first, and the one behind the last


@dataclass(frozen=True, eq=False)
class Occurrences:
    """Uses of words in sentences, each with its vector in every layer asked for.

    Attributes:
        model: Its name.
        sentences: As given, one for each use.
        positions: Where each use stands in its sentence.
        words: The uses as they are written.
        tokens: The tokens that each use is made of, as the vocabulary spells them.
        read: What the model read of each sentence: all of it, or what is around the use in one that is too long.
        pieces: How the vectors of several tokens become one: "first", "mean" or "last".
        layers: Which layers, 0 = input embeddings.
        layer_count: How many layers the model has, the input embeddings included.
        vectors: Float32, not writeable.
        remarks: What a reader of the vectors must know, e.g. that a sentence was too long.
    """

    model: str
    sentences: tuple[str, ...]
    positions: tuple[Span, ...]
    words: tuple[str, ...]
    tokens: tuple[tuple[str, ...], ...]
    read: tuple[Span, ...]
    pieces: str
    layers: tuple[int, ...]
    layer_count: int
    vectors: Float[ndarray, "layer point dim"]
    remarks: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Points:
    """Vectors made ready to be searched: each of length 1.

    Attributes:
        unit: Float32, not writeable; a vector of zeros stays one.
    """

    unit: Float[ndarray, "point dim"]


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The nearest points of each query, nearest first; of two as near, the one with the lower index.

    Attributes:
        indices: Into the points that were searched.
        cosines: In [-1, 1].
    """

    indices: Int[ndarray, "query rank"]
    cosines: Float[ndarray, "query rank"]


@dataclass(frozen=True)
class NearUse:
    """A use near another one.

    Attributes:
        index: Which of the uses that were searched.
        sentence: That it stands in.
        start: Where it stands, in characters.
        end: Likewise, exclusive.
        sense: Its label; "" = none.
        cosine: In [-1, 1].
    """

    index: int
    sentence: str
    start: int
    end: int
    sense: str
    cosine: float


@dataclass(frozen=True)
class NearUses:
    """The uses nearest to one use.

    Attributes:
        model: Its name.
        vector: Which vector of each use was compared, e.g. "layer 4, centred".
        pieces: How the vectors of several tokens became one.
        sentence: Of the query.
        start: Where the query stands in it, in characters.
        end: Likewise, exclusive.
        count: How many uses were searched, the query not among them.
        neighbours: Nearest first.
        remarks: What a reader must know.
    """

    model: str
    vector: str
    pieces: str
    sentence: str
    start: int
    end: int
    count: int
    neighbours: tuple[NearUse, ...]
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class StaticNeighbour:
    """A word near another one whatever the sentence.

    Attributes:
        text: As it reads.
        token: As the vocabulary spells it.
        cosine: In [-1, 1].
    """

    text: str
    token: str
    cosine: float


@dataclass(frozen=True)
class StaticNeighbours:
    """The words nearest to a word by vectors that know no context: one list for all its uses.

    Attributes:
        source: A model's name, or that of a file.
        word: As given.
        tokens: What the vector is the mean of.
        count: How many words were searched.
        neighbours: Nearest first.
        remarks: What a reader must know, e.g. that the vocabulary has only pieces of the word.
    """

    source: str
    word: str
    tokens: tuple[str, ...]
    count: int
    neighbours: tuple[StaticNeighbour, ...]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class UseNeighbours:
    """What is near a use in context, and without: the lecture's table.

    Attributes:
        near: The nearest uses; where two models or layers are compared, of both.
        static: The nearest words whatever the sentence; None = there are none.
        why_no_static: Why not.
    """

    near: tuple[NearUses, ...]
    static: StaticNeighbours | None
    why_no_static: str = ""

    @property
    def models(self) -> tuple[str, ...]:
        """The models that the uses are read by."""
        return tuple(near.model for near in self.near)


@dataclass(frozen=True, eq=False)
class StaticVectors:
    """Words and their vectors from a file, made ready to be searched.

    Attributes:
        source: Name of the file.
        words: In the order of the file, which is usually that of their frequency.
        points: Their vectors.
        remarks: What of the file was not read.
    """

    source: str
    words: tuple[str, ...]
    points: Points
    remarks: tuple[str, ...]
