"""The vectors of a whole corpus, some at a time, so that memory does not grow with its length."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from jaxtyping import Float, Int

from explorer.analysis.blanks import check_characters
from explorer.analysis.embeddings import TokenizedSentence, tokenize_sentences
from explorer.analysis.measure_prompt import unknown_id
from explorer.analysis.vector_spaces import NO_WORD
from explorer.errors import UnsuitableModel, UnsuitableText
from explorer.models.backend import LoadedModel
from explorer.models.card import Ability
from explorer.models.layer_vectors import Ids, VectorRow, layer_vectors

UNITS = ("tokens", "words")
TOKENIZED_AT_ONCE = 500  # sentences
POINTS_AT_ONCE = 8_192  # among so many, rows of similar length are found
WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


@dataclass(frozen=True)
class Corpus:
    """A text to be read as often as is needed, and what of it becomes a vector.

    Attributes:
        sentences: Anything that can be read again from the start; empty ones are passed over.
        unit: "tokens" = each token; "words" = each word, the mean of its tokens, in any case of its letters.
        specials: Whether the tokens that the tokenizer adds are counted among the tokens.
    """

    sentences: Iterable[str]
    unit: str = "tokens"
    specials: bool = False


@dataclass(frozen=True)
class Reading:
    """What a model reads at once: a sentence, or a part of one that is too long.

    Attributes:
        ids: Of all tokens, special ones included.
        groups: For each point the tokens whose mean it is.
        kinds: What each point is a use of: something that is equal for two uses of one word.
        number: Which reading of the corpus, counted from 0.
        first: The number of its first point, counted from 0 over the corpus.
    """

    ids: Ids
    groups: tuple[tuple[int, ...], ...]
    kinds: tuple[Hashable, ...]
    number: int
    first: int


@dataclass(frozen=True)
class Census:
    """What there is in a corpus.

    Attributes:
        sentences: How many that are not empty.
        readings: How many the model reads; more where sentences are too long.
        points: How many vectors there will be.
        uses: Of each kind.
        differ: Whether two sentences differ.
        tokens: How many the model reads, special ones included.
        unknown: How many of them stand for what the vocabulary lacks.
    """

    sentences: int
    readings: int
    points: int
    uses: Mapping[Hashable, int]
    differ: bool
    tokens: int
    unknown: int


@dataclass(frozen=True, eq=False)
class PointBatch:
    """Some of the vectors; all those of a reading are in one batch.

    Attributes:
        vectors: Float32.
        words: Which of the words that are followed each is a use of; NO_WORD = none.
        sentences: Which reading each is from.
        numbers: Of each point, counted over the corpus.
        kinds: What each is a use of.
        layers: Which layers these are.
        layer_count: How many the model has.
    """

    vectors: Float[np.ndarray, "layer point dim"]
    words: Int[np.ndarray, " point"]
    sentences: Int[np.ndarray, " point"]
    numbers: Int[np.ndarray, " point"]
    kinds: tuple[Hashable, ...]
    layers: tuple[int, ...]
    layer_count: int


def check_corpus(model: LoadedModel, corpus: Corpus) -> None:
    """Refuse what cannot be read twice, or not so.

    Raises:
        UnsuitableModel: It gives no vectors.
        UnsuitableText: The corpus is no collection of sentences, or there is no such unit.
    """
    if Ability.EMBED not in model.card.abilities:
        raise UnsuitableModel(f"{model.card.name} gives no vectors of words. Choose another model.")
    if corpus.unit not in UNITS:
        raise UnsuitableText(f"unit must be one of: {', '.join(UNITS)}; it is {corpus.unit!r}.")
    if corpus.specials and corpus.unit != "tokens":
        raise UnsuitableText("Special tokens are no words: count tokens, or leave them out.")
    if isinstance(corpus.sentences, str) or not isinstance(corpus.sentences, Iterable):
        raise UnsuitableText("Give a list of sentences.")
    if isinstance(corpus.sentences, Iterator):
        raise UnsuitableText("The sentences are read more than once. Give a list, or something that starts anew.")


def take_census(model: LoadedModel, corpus: Corpus) -> Census:
    """Count what is in a corpus, without a forward pass.

    Args:
        model: Whose tokens are counted.
        corpus: As check_corpus lets it pass.

    Raises:
        UnsuitableText: A sentence cannot be read; the message says which.
    """
    uses: Counter[Hashable] = Counter()
    readings = points = tokens = unknown = 0
    sign = unknown_id(model.tokenizer)
    written = _Written(corpus.sentences)
    for reading in read_corpus(model, replace(corpus, sentences=written)):
        uses.update(reading.kinds)
        readings, points = reading.number + 1, reading.first + len(reading.kinds)
        tokens, unknown = tokens + len(reading.ids), unknown + reading.ids.count(sign)
    return Census(written.count, readings, points, uses, written.differ, tokens, unknown)


class _Written:
    """Sentences as they are, and of those that are not empty, while they go by: how many, and whether two differ."""

    def __init__(self, sentences: Iterable[str]) -> None:
        self.count, self.differ = 0, False
        self._sentences = sentences

    def __iter__(self) -> Iterator[str]:
        """Once: what goes by is counted."""
        last = ""
        for sentence in self._sentences:
            if isinstance(sentence, str) and (bare := sentence.strip()):  # whoever reads refuses others
                self.differ |= self.count > 0 and bare != last
                self.count, last = self.count + 1, bare
            yield sentence


def read_corpus(model: LoadedModel, corpus: Corpus) -> Iterator[Reading]:
    """The readings of a corpus in its order.

    Raises:
        UnsuitableText: A sentence cannot be read; the message says which.
    """
    number = first = 0
    sentences = iter(corpus.sentences)
    done = 0
    while some := list(islice(sentences, TOKENIZED_AT_ONCE)):
        for place, sentence in enumerate(some, start=done + 1):
            try:
                check_characters(sentence)
            except UnsuitableText as error:
                raise UnsuitableText(f"Sentence {place}: {error}") from None
        done += len(some)
        written = [sentence for sentence in some if sentence.strip()]
        for sentence, row in zip(written, tokenize_sentences(model, written) if written else (), strict=True):
            for ids, groups, kinds in _cut(model, corpus, sentence, row):
                yield Reading(ids, groups, kinds, number, first)
                number, first = number + 1, first + len(kinds)


def stream_points(
    model: LoadedModel,
    corpus: Corpus,
    *,
    words: Mapping[Hashable, int],
    layers: Sequence[int] | None = None,
) -> Iterator[PointBatch]:
    """The vectors of a corpus, from one forward pass over it.

    Args:
        model: That reads it.
        corpus: As check_corpus lets it pass.
        words: The kinds that are followed, and their numbers.
        layers: Which, 0 = input embeddings, negative ones counted from the last; None = all.

    Raises:
        UnsuitableModel: Its layers do not have one vector for each token.
        UnsuitableText: There is no such layer, or a sentence cannot be read.
    """
    part: list[Reading] = []
    points = 0
    for reading in read_corpus(model, corpus):
        part.append(reading)
        points += len(reading.kinds)
        if points >= POINTS_AT_ONCE:
            yield from _embed(model, part, words, layers)
            part, points = [], 0
    if part:
        yield from _embed(model, part, words, layers)


def _embed(
    model: LoadedModel, part: Sequence[Reading], words: Mapping[Hashable, int], layers: Sequence[int] | None
) -> Iterator[PointBatch]:
    for batch in layer_vectors(model, [VectorRow(reading.ids, reading.groups) for reading in part], layers):
        chosen = [part[row] for row in batch.rows]
        kinds = tuple(kind for reading in chosen for kind in reading.kinds)
        yield PointBatch(
            batch.vectors,
            words=np.array([words.get(kind, NO_WORD) for kind in kinds]),
            sentences=np.repeat([reading.number for reading in chosen], [len(reading.kinds) for reading in chosen]),
            numbers=np.concatenate([reading.first + np.arange(len(reading.kinds)) for reading in chosen]),
            kinds=kinds,
            layers=batch.layers,
            layer_count=batch.layer_count,
        )


def _cut(
    model: LoadedModel, corpus: Corpus, sentence: str, row: TokenizedSentence
) -> Iterator[tuple[Ids, tuple[tuple[int, ...], ...], tuple[Hashable, ...]]]:
    """What is read of a sentence: all of it at once, or, if it is too long, one part after another."""
    own = [place for place, added in enumerate(row.is_added) if not added]
    if not own:
        return
    lead, end = own[0], own[-1] + 1
    trail = len(row.ids) - end
    room = model.limit_tokens - lead - trail
    units = _words(sentence, row, own) if corpus.unit == "words" else [((place,), row.ids[place]) for place in own]
    for first in range(lead, end, room):
        last = min(first + room, end)
        ids = row.ids[:lead] + row.ids[first:last] + row.ids[end:]
        shift = first - lead
        here = [
            (tuple(place - shift for place in places), kind)
            for places, kind in units
            if first <= places[0] and places[-1] < last
        ]
        if corpus.specials:
            behind = range(len(ids) - trail, len(ids))
            here = (
                [((place,), ids[place]) for place in range(lead)] + here + [((place,), ids[place]) for place in behind]
            )
        if here:
            groups, kinds = zip(*here, strict=True)
            yield ids, groups, kinds


def _words(sentence: str, row: TokenizedSentence, own: Sequence[int]) -> list[tuple[tuple[int, ...], str]]:
    """The tokens of each word that has any, from left to right."""
    found = []
    waiting = 0
    for match in WORD.finditer(sentence):
        start, end = match.span()
        while waiting < len(own) and row.spans[own[waiting]][1] <= start:
            waiting += 1
        places = []
        for place in own[waiting:]:
            first, last = row.spans[place]
            if first >= end:
                break
            if sentence[max(first, start) : min(last, end)].strip():
                places.append(place)
        if places:
            found.append((tuple(places), match.group().casefold()))
    return found
