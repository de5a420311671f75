"""How tokens read in a sentence: which start a word, which continue one, and what the filled text looks like."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from explorer.analysis.blanks import BLANK, BlankedText
from explorer.models.backend import LoadedModel

SPACE_TOKENS = frozenset("Ġ▁")  # how byte-level and SentencePiece vocabularies spell a space


@dataclass(frozen=True)
class Reading:
    """How one token reads.

    Attributes:
        token: As the vocabulary spells it.
        text: As a visitor reads it in a list; a piece that continues a word keeps its mark, e.g. "##ing".
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
        mark = token if token.startswith("##") and body else body
        readings[token_id] = Reading(token, mark or token, body or tail, starts_word=tail[:1].isspace())
    return readings


def decode(model: LoadedModel, ids: Sequence[int], *, skip_special: bool = False) -> str:
    """Tokens as text, spaces as the tokenizer sets them."""
    with model.tokenizer_lock:
        return model.tokenizer.decode(list(ids), skip_special_tokens=skip_special, clean_up_tokenization_spaces=False)


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
    for position, fill, segment in zip(text.positions, fills, text.segments[1:], strict=True):
        if fill is None:
            written += BLANK + segment
            continue
        reading = readings[fill]
        if reading.starts_word:
            if _needs_space(written[-1:], reading.body[:1]):
                written += " "
        elif not set(text.tokens[position - 1]) <= SPACE_TOKENS:  # a space that the model saw stays
            written = written.rstrip(" \t")
        written += reading.body
        after = readings.get(text.ids[position + 1]) if position + 1 < len(text.ids) else None
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
