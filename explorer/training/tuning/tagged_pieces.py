"""Tags of words as tags of the pieces that a model reads: the first piece of a word stands for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from transformers import PreTrainedTokenizerBase

from explorer.analysis.embeddings import TokenizedSentence
from explorer.analysis.reading import SPACE_TOKENS
from explorer.models.elmo_tokenizer import ElmoTokenizer
from explorer.models.layer_vectors import Ids


@dataclass(frozen=True)
class WordRow:
    """A tagged sentence as a model reads it.

    Attributes:
        ids: Token ids, special ones included, no more than the model reads.
        places: For each word, which of the ids is its first piece; None = it was cut off, or no piece shows it.
        was_cut: Whether the sentence was longer than is read.
    """

    ids: Ids
    places: tuple[int | None, ...]
    was_cut: bool = False


def encode_words(
    tokenizer: PreTrainedTokenizerBase | ElmoTokenizer, sentences: Sequence[tuple[str, ...]], most_tokens: int
) -> list[WordRow]:
    """Sentences of words as rows of ids, and where each word begins in them.

    The words are joined by spaces and tokenized as any text, so that the pieces are those the model was trained on:
    byte-level tokenizers have other ids for a word behind a space.

    Args:
        tokenizer: A copy of its own, or one whose lock is held; it must say where its tokens stand.
        sentences: The words of each; none is empty or has a space in it.
        most_tokens: Longer sentences are cut at their end, special tokens included.

    Source: Devlin et al. 2019, section 5.3, https://arxiv.org/abs/1810.04805
    """
    rows = []
    for words in sentences:
        sentence = _tokenize(tokenizer, " ".join(words))
        places = find_first_pieces(words, sentence, _blank_pieces(tokenizer, sentence))
        rows.append(_cut(sentence, places, most_tokens))
    return rows


def find_first_pieces(
    words: Sequence[str], sentence: TokenizedSentence, blank: Sequence[bool]
) -> tuple[int | None, ...]:
    """Which piece begins each word.

    Args:
        words: Of a sentence that was tokenized as the words with one space between them.
        sentence: Its pieces.
        blank: Which pieces show nothing but a space; parallel to the pieces.
    """
    text = " ".join(words)
    owner: list[int | None] = []  # of each character
    for number, word in enumerate(words):
        owner += [None] * (number > 0) + [number] * len(word)
    places: list[int | None] = [None] * len(words)
    for place, (start, end) in enumerate(sentence.spans):
        if sentence.is_added[place] or blank[place]:
            continue
        seen = next((at for at in range(start, end) if not text[at].isspace()), None)
        word = None if seen is None else owner[seen]
        if word is not None and places[word] is None:
            places[word] = place
    return tuple(places)


def _tokenize(tokenizer: PreTrainedTokenizerBase | ElmoTokenizer, text: str) -> TokenizedSentence:
    if isinstance(tokenizer, ElmoTokenizer):
        encoded = tokenizer(text, return_offsets_mapping=True)
        ids, added = tuple(map(tuple, encoded["input_ids"])), [False] * len(encoded["input_ids"])
    else:
        encoded = tokenizer(text, return_offsets_mapping=True, return_special_tokens_mask=True, verbose=False)
        ids, added = tuple(encoded["input_ids"]), [bool(mark) for mark in encoded["special_tokens_mask"]]
    return TokenizedSentence(ids, [(start, end) for start, end in encoded["offset_mapping"]], added)


def _blank_pieces(tokenizer: PreTrainedTokenizerBase | ElmoTokenizer, sentence: TokenizedSentence) -> list[bool]:
    if isinstance(tokenizer, ElmoTokenizer):
        return [False] * len(sentence.ids)
    return [set(token) <= SPACE_TOKENS for token in tokenizer.convert_ids_to_tokens(list(sentence.ids))]


def _cut(sentence: TokenizedSentence, places: tuple[int | None, ...], most: int) -> WordRow:
    if len(sentence.ids) <= most:
        return WordRow(sentence.ids, places)
    end = len(sentence.ids)
    while end and sentence.is_added[end - 1]:
        end -= 1
    last = max(0, most - (len(sentence.ids) - end))
    kept = tuple(place if place is not None and place < last else None for place in places)
    return WordRow(sentence.ids[:last] + sentence.ids[end:], kept, was_cut=True)
