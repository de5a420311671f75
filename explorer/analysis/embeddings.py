"""The vectors of uses of words, each in its sentence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from explorer.analysis.blanks import check_characters, check_option
from explorer.analysis.embedding_results import Occurrences, Span
from explorer.analysis.reading import SPACE_TOKENS
from explorer.errors import UnsuitableModel, UnsuitableText, quoted
from explorer.models.backend import LoadedModel
from explorer.models.card import Ability
from explorer.models.elmo_tokenizer import ElmoTokenizer
from explorer.models.layer_vectors import Ids, VectorRow, layer_vectors
from explorer.settings import settings

PIECES = ("first", "mean", "last")
TOKENIZED_AT_ONCE = 1_000  # sentences: others who wait for the tokenizer's lock get a turn
MIB = 2**20


def embed_occurrences(
    model: LoadedModel,
    *,
    sentences: Sequence[str],
    positions: Sequence[Span],
    layers: Sequence[int] | None = None,
    pieces: str = "mean",
) -> Occurrences:
    """The vector of each use of a word in its sentence, in every layer.

    Args:
        model: Any that gives token vectors; of an encoder-decoder the encoder.
        sentences: One for each use, at most settings().most_uses; a sentence with several uses stands here several
            times, and is read once.
        positions: Where each use stands in its sentence, in characters, the end exclusive; a use may be several words.
        layers: Which, 0 = input embeddings, negative ones counted from the last; None = all.
        pieces: What a use of several tokens gets: the vector of its "first" or "last" token, or their "mean".

    Returns:
        Vectors as transformers computes them for that sentence alone, whatever else is asked for. Of a sentence that is
        longer than the model reads, as many tokens as it reads are read around the use; the result says so.

    Raises:
        UnsuitableModel: It gives no vectors, or its tokenizer cannot say where a token stands.
        UnsuitableText: A position is outside its sentence or on no token, a use is longer than the model reads, or
            there is nothing to embed, or too much.

    Source: Peters et al. 2018, https://arxiv.org/abs/1802.05365; Ethayarajh 2019, https://arxiv.org/abs/1909.00512
    """
    _check(model, sentences, positions, pieces)
    uses = list(_find_pieces(model, sentences, positions))
    rows, owners = _share_rows(uses, pieces)
    vectors = None
    for batch in layer_vectors(model, rows, layers):
        if vectors is None:
            vectors = _make_room(len(batch.layers), len(uses), batch.vectors.shape[-1])
        vectors[:, [use for row in batch.rows for use in owners[row]]] = batch.vectors
    vectors.flags.writeable = False
    return Occurrences(
        model=model.card.name,
        sentences=tuple(sentences),
        positions=tuple((start, end) for start, end in positions),
        words=tuple(sentence[start:end] for sentence, (start, end) in zip(sentences, positions, strict=True)),
        tokens=tuple(use.tokens for use in uses),
        read=tuple(use.read for use in uses),
        pieces=pieces,
        layers=batch.layers,
        layer_count=batch.layer_count,
        vectors=vectors,
        remarks=tuple(_remarks(model, sentences, uses)),
    )


def stream_occurrences(
    model: LoadedModel,
    *,
    sentences: Iterable[str],
    positions: Iterable[Span],
    layers: Sequence[int] | None = None,
    pieces: str = "mean",
    part: int = 2_000,
) -> Iterator[Occurrences]:
    """As embed_occurrences, for any number of uses: some at a time, in their order, so that memory stays bounded.

    Args:
        model: As embed_occurrences takes it.
        sentences: One for each use; read as far as is needed, so a large file may be behind it.
        positions: Where each use stands in its sentence.
        layers: As embed_occurrences takes them.
        pieces: Likewise.
        part: Uses at a time, from 1 to settings().most_uses; similar lengths are found among so many.

    Yields:
        The uses in their order; the last part may be smaller.

    Raises:
        UnsuitableModel: As embed_occurrences does.
        UnsuitableText: Likewise; numbers of sentences are counted within the part.
    """
    check_option("part", part, settings().most_uses)
    uses = zip(sentences, positions, strict=True)
    while some := list(islice(uses, part)):
        texts, spans = zip(*some, strict=True)
        yield embed_occurrences(model, sentences=texts, positions=spans, layers=layers, pieces=pieces)


@dataclass(frozen=True)
class _Use:
    """A use as the model reads it: its row, which of the row's tokens it is, and what of the sentence is in the row."""

    ids: Ids
    places: tuple[int, ...]
    tokens: tuple[str, ...]
    read: Span


@dataclass(frozen=True)
class TokenizedSentence:
    """A sentence in tokens: ids, where each stands, and which the tokenizer added."""

    ids: Ids
    spans: list[Span]
    is_added: list[bool]


def _check(model: LoadedModel, sentences: Sequence[str], positions: Sequence[Span], pieces: str) -> None:
    if Ability.EMBED not in model.card.abilities:
        raise UnsuitableModel(f"{model.card.name} gives no vectors of words. Choose another model.")
    if pieces not in PIECES:
        raise UnsuitableText(f"There is no way {pieces!r} to join pieces. Choose one of: {', '.join(PIECES)}.")
    if isinstance(sentences, str) or len(sentences) != len(positions):
        raise UnsuitableText("Give a list of sentences, and as many positions: one use for each.")
    if not len(sentences):
        raise UnsuitableText("There is no use of a word to embed. Give at least one sentence.")
    if len(sentences) > settings().most_uses:
        raise UnsuitableText(
            f"There are {len(sentences):,} uses; at most {settings().most_uses:,} are embedded at once. Take fewer."
        )
    for number, (sentence, position) in enumerate(zip(sentences, positions, strict=True), start=1):
        try:
            check_characters(sentence)
            _check_position(sentence, position)
        except UnsuitableText as error:
            raise (UnsuitableText(f"Sentence {number}: {error}") if len(sentences) > 1 else error) from None


def _check_position(sentence: str, position: Span) -> None:
    numbers = tuple(position) if isinstance(position, Sequence) else ()
    whole = len(numbers) == 2 and all(isinstance(one, int) and not isinstance(one, bool) for one in numbers)
    if not whole or not 0 <= numbers[0] < numbers[1] <= len(sentence):
        raise UnsuitableText(
            f"The use must be a start and an end within the {len(sentence)} characters of {quoted(sentence)}, "
            f"not {position!r}."
        )
    if not sentence[numbers[0] : numbers[1]].strip():
        raise UnsuitableText(f"At {numbers} there is only white space in {quoted(sentence)}.")


def _find_pieces(model: LoadedModel, sentences: Sequence[str], positions: Sequence[Span]) -> Iterator[_Use]:
    """Each use as the model reads it, in order."""
    for first in range(0, len(sentences), TOKENIZED_AT_ONCE):
        some = sentences[first : first + TOKENIZED_AT_ONCE]
        different = list(dict.fromkeys(some))
        tokenized = dict(zip(different, tokenize_sentences(model, different), strict=True))
        for number, sentence in enumerate(some, start=first):
            yield _find_use(model, sentence, positions[number], tokenized[sentence])


def tokenize_sentences(model: LoadedModel, sentences: list[str]) -> list[TokenizedSentence]:
    """Sentences in tokens, special ones included, and where each token stands.

    Args:
        model: Whose tokenizer is asked.
        sentences: One or more.

    Raises:
        UnsuitableModel: Its tokenizer does not say where its tokens stand.
    """
    tokenizer = model.tokenizer
    if isinstance(tokenizer, ElmoTokenizer):
        encoded = tokenizer(sentences, return_offsets_mapping=True)
        rows = [tuple(map(tuple, words)) for words in encoded["input_ids"]]
        added = [[False] * len(row) for row in rows]
    elif not tokenizer.is_fast:
        raise UnsuitableModel(f"The tokenizer of {model.card.name} does not say where its tokens stand in a text.")
    else:
        with model.tokenizer_lock:  # never with truncation or padding: those are state of the tokenizer
            encoded = tokenizer(sentences, return_offsets_mapping=True, return_special_tokens_mask=True,
                                return_attention_mask=False, verbose=False)  # fmt: skip
        rows = [tuple(ids) for ids in encoded["input_ids"]]
        added = [[bool(mark) for mark in marks] for marks in encoded["special_tokens_mask"]]
    spans = [[(start, end) for start, end in offsets] for offsets in encoded["offset_mapping"]]
    return [TokenizedSentence(*one) for one in zip(rows, spans, added, strict=True)]


def _find_use(model: LoadedModel, sentence: str, position: Span, row: TokenizedSentence) -> _Use:
    """The tokens that hold a letter of the use; a token that is a space alone holds none."""
    start, end = position
    places = [
        place
        for place, (first, last) in enumerate(row.spans)
        if first < end and last > start and not row.is_added[place]
        and sentence[max(first, start) : min(last, end)].strip()
    ]  # fmt: skip
    tokens = _spell(model, sentence, places, row)
    kept = [index for index, token in enumerate(tokens) if not set(token) <= SPACE_TOKENS]
    if not kept:
        raise UnsuitableText(
            f"{model.card.name} has no token for {quoted(sentence[start:end])} in {quoted(sentence)}. "
            f"Choose another use."
        )
    places = [places[index] for index in kept]
    ids, shift, read = row.ids, 0, (0, len(sentence))
    if len(row.ids) > model.limit_tokens:
        ids, shift, read = _window(model, sentence, places, row)
    return _Use(ids, tuple(place - shift for place in places), tuple(tokens[index] for index in kept), read)


def _spell(model: LoadedModel, sentence: str, places: list[int], row: TokenizedSentence) -> list[str]:
    if isinstance(model.tokenizer, ElmoTokenizer):
        return [sentence[slice(*row.spans[place])] for place in places]
    return model.tokenizer.convert_ids_to_tokens([row.ids[place] for place in places])


def _window(model: LoadedModel, sentence: str, places: list[int], row: TokenizedSentence) -> tuple[Ids, int, Span]:
    """As many tokens as are read around a use, between the special ones at both ends.

    Returns:
        The ids, how much lower the places are in them, and what of the sentence that is.
    """
    own = [place for place, added in enumerate(row.is_added) if not added]
    lead, trail = own[0], len(row.ids) - own[-1] - 1
    room = model.limit_tokens - lead - trail
    first, last = places[0], places[-1]
    if last - first + 1 > room:
        raise UnsuitableText(
            f"The use has {last - first + 1:,} tokens, and {model.card.name} reads at most {model.limit_tokens:,}. "
            f"Choose a shorter one."
        )
    begin = min(max((first + last + 1 - room) // 2, lead), own[-1] + 1 - room)
    ids = row.ids[:lead] + row.ids[begin : begin + room] + row.ids[len(row.ids) - trail :]
    return ids, begin - lead, (row.spans[begin][0], row.spans[begin + room - 1][1])


def _share_rows(uses: Sequence[_Use], pieces: str) -> tuple[list[VectorRow], list[list[int]]]:
    """Rows without repetition, and which uses the vectors of each are for."""
    owners: dict[Ids, list[int]] = {}
    for number, use in enumerate(uses):
        owners.setdefault(use.ids, []).append(number)
    taken = {"first": slice(None, 1), "mean": slice(None), "last": slice(-1, None)}[pieces]
    rows = [VectorRow(ids, tuple(uses[number].places[taken] for number in numbers)) for ids, numbers in owners.items()]
    return rows, list(owners.values())


def _make_room(layers: int, uses: int, dim: int) -> np.ndarray:
    needed_mib = layers * uses * dim * 4 / MIB
    if needed_mib > settings().most_vectors_mib:
        raise UnsuitableText(
            f"The vectors of {uses:,} uses in {layers} layers take {needed_mib:,.0f} MiB; at most "
            f"{settings().most_vectors_mib:,} MiB are kept. Ask for fewer layers or fewer uses."
        )
    return np.empty((layers, uses, dim), dtype=np.float32)


def _remarks(model: LoadedModel, sentences: Sequence[str], uses: Sequence[_Use]) -> Iterator[str]:
    cut = sum(use.read != (0, len(sentence)) for use, sentence in zip(uses, sentences, strict=True))
    if cut:
        which = "One sentence is" if cut == 1 else f"{cut:,} sentences are"
        yield (
            f"{which} longer than the {model.limit_tokens:,} tokens that {model.card.name} reads: as many were read "
            f"around the use."
        )
    unknown = getattr(model.tokenizer, "unk_token", None)
    strange = sum(unknown in use.tokens for use in uses) if unknown else 0
    if strange:
        which = "One use has a token" if strange == 1 else f"{strange:,} uses have a token"
        yield f"{which} that the vocabulary lacks: its vector is that of {unknown}, any unknown word."
