"""Texts without blanks, as training reads them: tokens, words and sentences."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.analysis.blanks import check_characters, check_tokens, find_blanks, refuse_foreign_masks
from explorer.analysis.reading import read_tokens
from explorer.errors import UnsuitableText
from explorer.models.backend import LoadedModel

Span = tuple[int, int]  # indices of its first token, and of the one behind its last

LEAST_TOKENS = 2
MOST_TOKENS = 256  # as many as can be looked at
SENTENCE_ENDS = frozenset(".!?。！？")


@dataclass(frozen=True)
class PlainText:
    """A text as the model sees it.

    Attributes:
        ids: Token ids, special tokens included.
        tokens: The same, as the vocabulary spells them.
        is_special: Which of them the tokenizer added.
        words: Where each word is.
        sentences: Where each sentence is; together all tokens but the special ones.
    """

    ids: tuple[int, ...]
    tokens: tuple[str, ...]
    is_special: tuple[bool, ...]
    words: tuple[Span, ...]
    sentences: tuple[Span, ...]

    @property
    def inner(self) -> Span:
        """Where the text itself is: between the special tokens around it."""
        return self.sentences[0][0], self.sentences[-1][1]


def parse_plain(model: LoadedModel, text: str) -> PlainText:
    """Tokenize a text that is to be trained on.

    Args:
        model: Any model whose tokenizer has ids.
        text: Without blanks, of LEAST_TOKENS to MOST_TOKENS tokens.

    Raises:
        UnsuitableText: It has a blank, or is too short or too long; the message says what to do.
    """
    check_characters(text)
    tokenizer = model.tokenizer
    refuse_foreign_masks(text, tokenizer.mask_token)
    if find_blanks(text, tokenizer.mask_token):
        raise UnsuitableText("The text has a blank. Training hides words by itself: write the whole text.")
    with model.tokenizer_lock:
        encoded = tokenizer(text, return_special_tokens_mask=True, verbose=False)
        ids, is_special = encoded["input_ids"], [bool(mark) for mark in encoded["special_tokens_mask"]]
        tokens = tokenizer.convert_ids_to_tokens(ids)
        word_ids = encoded.word_ids()
    check_tokens(model, len(ids))
    inner = [index for index, special in enumerate(is_special) if not special]
    if len(inner) < LEAST_TOKENS:
        raise UnsuitableText("There is too little text to train on. Write a sentence of several words.")
    if len(inner) > MOST_TOKENS:
        raise UnsuitableText(
            f"The text has {len(inner):,} tokens; at most {MOST_TOKENS} are looked at here. Leave out some sentences."
        )
    words = _runs(inner, [word_ids[index] for index in inner])
    readings = read_tokens(model, ids)
    ends = [readings[ids[index]].body[-1:] in SENTENCE_ENDS for index in inner]
    numbers = [sum(ends[:place]) for place in range(len(inner))]
    return PlainText(tuple(ids), tuple(tokens), tuple(is_special), words, _runs(inner, numbers))


def _runs(indices: list[int], numbers: list[int | None]) -> tuple[Span, ...]:
    """Spans of neighbouring tokens that have the same number."""
    spans: list[list[int]] = []
    last = object()
    for index, number in zip(indices, numbers, strict=True):
        if number == last and spans[-1][1] == index:
            spans[-1][1] = index + 1
        else:
            spans.append([index, index + 1])
        last = number
    return tuple((start, end) for start, end in spans)
