"""How tokens read in a sentence: which start a word, which continue one, and what the filled text looks like."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from explorer.analysis.blanks import BLANK, CONTINUES, BlankedText
from explorer.models.backend import LoadedModel

SPACE_TOKENS = frozenset("Ġ▁")  # how byte-level and SentencePiece vocabularies spell a space
SPACE = "␣"


@dataclass(frozen=True)
class Reading:
    """How one token reads.

    Attributes:
        token: As the vocabulary spells it.
        text: As a visitor reads it in a list; a piece that continues a word has a mark, e.g. "##ing": that of the
            vocabulary, or that which read_in_blank gives it.
        body: As it stands in a sentence, without the space before it.
        starts_word: Whether a space stands before it in running text.
    """

    token: str
    text: str
    body: str
    starts_word: bool


def read_tokens(model: LoadedModel, ids: Iterable[int]) -> dict[int, Reading]:
    """How each token reads after a word, asked of the tokenizer's own decoder so that every family is right.

    Args:
        model: Any model.
        ids: Token ids; ids that a padded vocabulary has no token for read as "".
    """
    unique = sorted(set(ids))
    tokenizer = model.tokenizer
    with model.tokenizer_lock:
        word = tokenizer.encode("a", add_special_tokens=False, verbose=False)[:1] or [tokenizer.unk_token_id or 0]
        before, *decoded = tokenizer.decode(
            [word] + [[*word, token_id] for token_id in unique], clean_up_tokenization_spaces=False
        )
        tokens = tokenizer.convert_ids_to_tokens(unique)
    readings = {}
    for token_id, token, pair in zip(unique, tokens, decoded, strict=True):
        token = token or ""
        tail = pair[len(before) :]
        body = tail.strip()
        mark = token if token.startswith(CONTINUES) and body else body
        readings[token_id] = Reading(token, mark or token, body or tail, starts_word=tail[:1].isspace())
    return readings


def read_in_blank(text: BlankedText, blank: int, reading: Reading) -> Reading:
    """How a token reads in one blank: there a piece that continues the word before it is marked, e.g. "##day".

    WordPiece marks such pieces itself. Byte-level and SentencePiece vocabularies mark the words instead, so a piece is
    one that takes away the space before its blank; where there is no space, it is what is to be expected.

    Args:
        text: The text.
        blank: Which of its blanks, counted from 0.
        reading: Of the token.
    """
    is_piece = _continues(reading) and _loses_space(text, blank)
    return replace(reading, text=CONTINUES + reading.text) if is_piece else reading


def tell_apart(readings: Sequence[Reading]) -> list[Reading]:
    """Tokens of one list: of two that read alike, as "The" and "ĠThe" where a text begins, the second as "␣The".

    Args:
        readings: Of different tokens.
    """
    alike = Counter(one.text for one in readings)
    return [replace(one, text=SPACE + one.text) if one.starts_word and alike[one.text] > 1 else one for one in readings]


def _loses_space(text: BlankedText, blank: int) -> bool:
    """Whether a piece without a space takes away the one before a blank, and so joins what stands on its line."""
    before = text.segments[blank]
    left = before.rstrip(" \t")
    if not left:
        return blank > 0 and _eats_space(text, blank)  # the text, or another blank
    return left != before and not left[-1].isspace() and _eats_space(text, blank)


def _eats_space(text: BlankedText, blank: int) -> bool:
    """Whether the model saw no token for the space before a blank: its mask stands for it, too."""
    return not set(text.tokens[text.positions[blank] - 1]) <= SPACE_TOKENS


def _continues(reading: Reading) -> bool:
    """Whether a token is part of a word and has neither a space before it nor a mark."""
    first = reading.body[:1]
    is_of_word = first.isalnum() or unicodedata.category(first or " ").startswith("M")  # such as a vowel sign
    return is_of_word and not (reading.starts_word or reading.text.startswith(CONTINUES) or is_unspaced(first))


def decode(model: LoadedModel, ids: Sequence[int], *, skip_special: bool = False) -> str:
    """Tokens as text, spaces as the tokenizer sets them."""
    with model.tokenizer_lock:
        return model.tokenizer.decode(list(ids), skip_special_tokens=skip_special, clean_up_tokenization_spaces=False)


def read_span(model: LoadedModel, ids: Sequence[int]) -> str:
    """How the tokens of a fill read, without special tokens and without white space around them."""
    return decode(model, ids, skip_special=True).strip()


def read_span_in_blank(model: LoadedModel, text: BlankedText, blank: int, ids: Sequence[int]) -> str:
    """The same in one blank of a text: a fill that continues the word before it is marked, as in read_in_blank."""
    fill = read_span(model, ids)
    first = read_in_blank(text, blank, read_tokens(model, ids[:1])[ids[0]])
    return CONTINUES + fill.removeprefix(CONTINUES) if first.text.startswith(CONTINUES) else fill


def ids_beside_blanks(text: BlankedText) -> set[int]:
    """The tokens right after the blanks: whether they start a word decides about the space there."""
    return {text.ids[position + 1] for position in text.positions if position + 1 < len(text.ids)}


def filled_text(text: BlankedText, fills: Sequence[int | None], readings: Mapping[int, Reading]) -> str:
    """The visitor's text with tokens in its blanks, as it should read.

    Only white space beside a blank is ever changed: "walk ___" with "##ing" reads "walking", and "play___" with a
    token that is a word of its own reads "play football".

    Args:
        text: The text.
        fills: One token id per blank; None leaves it open, as ___.
        readings: Of the fills and of ids_beside_blanks.
    """
    written = text.segments[0]
    for blank, (fill, segment) in enumerate(zip(fills, text.segments[1:], strict=True)):
        if fill is None:
            written += BLANK + segment
            continue
        reading = readings[fill]
        if reading.starts_word:
            if _needs_space(written[-1:], reading.body[:1]):
                written += " "
        elif _eats_space(text, blank):  # a space that the model saw stays
            written = written.rstrip(" \t")
        written += reading.body
        behind = text.positions[blank] + 1
        after = readings.get(text.ids[behind]) if behind < len(text.ids) else None
        if segment and after and after.starts_word and _needs_space(written[-1:], segment[0]):
            written += " "
        written += segment
    return written


def _needs_space(left: str, right: str) -> bool:
    """Whether two words would run into each other; scripts that write without spaces need none."""
    if not left or not right or not right.isalnum() or is_unspaced(left) or is_unspaced(right):
        return False
    return left.isalnum() or left in ",.;:!?)]}"


def is_unspaced(character: str) -> bool:
    """Whether a character is of a script written without spaces between words: Chinese or Japanese."""
    return "\u3040" <= character <= "\u30ff" or "\u3400" <= character <= "\u9fff" or character >= "\U00020000"
