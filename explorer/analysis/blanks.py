"""Texts with blanks: where the blanks are, whether the text can be analysed, and what the model sees of it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from explorer.errors import NoBlank, UnsuitableModel, UnsuitableText
from explorer.models.backend import LoadedModel
from explorer.models.card import Ability, ModelCard
from explorer.models.suggesting import suggest_models
from explorer.settings import settings

BLANK = "___"
UNDERSCORES = re.compile(r"_{2,}")
# The masks and sentinels of model families; a visitor who pastes one of another family means a blank.
FOREIGN_MASK = re.compile(
    r"\[(?:[gs]?mask|blank)_?\d*\]|<\|?(?:mask|blank)_?\d*\|?>|<extra_id_\d+>|\{mask\}", re.IGNORECASE
)
CONTINUES = "##"  # how WordPiece marks a piece that continues a word; shown for every vocabulary
ANY_BLANK = re.compile(rf"{UNDERSCORES.pattern}|{FOREIGN_MASK.pattern}", re.IGNORECASE)  # where no model is at hand


@dataclass(frozen=True)
class BlankedText:
    """A text with blanks, as given and as the model sees it.

    Attributes:
        text: As given.
        segments: What stands before, between and after the blanks; one more than there are blanks.
        ids: Token ids, special tokens and masks included.
        tokens: The same, as the vocabulary spells them.
        positions: Where in ids the blanks are.
    """

    text: str
    segments: tuple[str, ...]
    ids: tuple[int, ...]
    tokens: tuple[str, ...]
    positions: tuple[int, ...]

    def with_fills(self, fills: Sequence[int | None]) -> tuple[int, ...]:
        """The ids with a token in each blank; None leaves the blank open."""
        ids = list(self.ids)
        for position, fill in zip(self.positions, fills, strict=True):
            if fill is not None:
                ids[position] = fill
        return tuple(ids)


def find_blanks(text: str, mask_token: str | None) -> list[tuple[int, int]]:
    """Start and end (exclusive) of every blank, in characters: two underscores or more, or the model's own mask."""
    pattern = UNDERSCORES
    if mask_token:
        pattern = re.compile(rf"{UNDERSCORES.pattern}|{re.escape(mask_token)}")
    return [match.span() for match in pattern.finditer(text)]


def split_at_blanks(text: str, mask_token: str | None) -> tuple[str, ...]:
    """What stands before, between and after the blanks."""
    return _between(text, find_blanks(text, mask_token))


def put_fills(segments: Sequence[str], fills: Sequence[str | None]) -> str:
    """A text with its blanks filled; None leaves one open, and an empty fill leaves no double space.

    A fill such as "##day" continues the word before its blank: the space between them goes.
    """
    written = segments[0]
    for fill, segment in zip(fills, segments[1:], strict=True):
        if fill and is_continuing(fill):
            written, fill = written.rstrip(" \t"), fill.removeprefix(CONTINUES)
        if fill == "" and segment.startswith(" ") and (not written or written.endswith(" ")):
            segment = segment[1:]
        written += (BLANK if fill is None else fill) + segment
    return written


def is_continuing(fill: str) -> bool:
    """Whether a fill is written as a piece that continues a word, e.g. "##day"."""
    return fill.startswith(CONTINUES) and fill[len(CONTINUES) :][:1].isalnum()


def split_at_any_blank(text: str) -> tuple[str, ...]:
    """The same where the model is not at hand, e.g. to draw its answer: the masks of all families count as blanks."""
    return _between(text, [match.span() for match in ANY_BLANK.finditer(text)])


def _between(text: str, spans: Sequence[tuple[int, int]]) -> tuple[str, ...]:
    edges = [0, *(edge for span in spans for edge in span), len(text)]
    return tuple(text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True))


def check_option(name: str, value: int | None, most: int, *, least: int = 1) -> None:
    """Refuse a number that is not an integer in [least, most]; None is that of an empty field.

    Raises:
        UnsuitableText: It is not; the message says the range.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        found = "empty" if value is None else repr(value)
        raise UnsuitableText(f"{name} must be a whole number from {least} to {most}; it is {found}.")


def check_characters(text: str) -> None:
    """Refuse text that is too long to tokenize, or holds characters that no tokenizer is made for.

    Raises:
        UnsuitableText: It is too long, or holds control characters or halves of surrogate pairs.
    """
    if not isinstance(text, str):
        raise UnsuitableText(f"The text must be a string, not {type(text).__name__}.")
    longest = settings().longest_text_characters
    if len(text) > longest:
        raise UnsuitableText(f"The text has {len(text):,} characters; at most {longest:,} are read. Shorten it.")
    strange = sorted({c for c in text if unicodedata.category(c) in {"Cc", "Cs"} and c not in "\n\r\t"})
    if strange:
        codes = ", ".join(f"U+{ord(c):04X}" for c in strange[:3])
        raise UnsuitableText(f"The text contains control characters ({codes}). Remove them, or type it anew.")


def check_fills_blanks(card: ModelCard, mask_token: str | None) -> None:
    """Refuse a model that cannot fill blanks; before it is loaded, give any mask token.

    Raises:
        UnsuitableModel: It has no masked head or no mask token; the message says which models have.
    """
    if Ability.FILL_BLANKS in card.abilities and mask_token:
        return
    able = suggest_models(lambda other: Ability.FILL_BLANKS in other.abilities)
    missing = "masked LM head" if mask_token else "mask token"
    instead = "It fills spans of any length. " if Ability.FILL_SPANS in card.abilities else ""
    raise UnsuitableModel(f"{card.name} has no {missing}, so it cannot fill blanks. {instead}{able}")


def parse_blanks(model: LoadedModel, text: str) -> BlankedText:
    """Find the blanks of one text and tokenize it; see parse_texts."""
    return parse_texts(model, [text])[0]


def parse_texts(model: LoadedModel, texts: Sequence[str]) -> tuple[BlankedText, ...]:
    """Find the blanks of texts, and tokenize them with the model's mask in their place.

    Args:
        model: A model with a masked language modelling head.
        texts: Each with 1 to settings().most_blanks blanks.

    Returns:
        One per text.

    Raises:
        UnsuitableModel: The model cannot fill blanks.
        UnsuitableText: A text cannot be analysed; the message says which, why, and what to do.
    """
    tokenizer = model.tokenizer
    mask_token = tokenizer.mask_token
    check_fills_blanks(model.card, mask_token)
    split: list[tuple[str, ...]] = []
    for number, text in enumerate(texts):
        try:
            split.append(split_text(text, mask_token))
        except UnsuitableText as error:
            raise _about(number, texts, error) from None
    if not split:
        return ()
    with model.tokenizer_lock:  # never with truncation or padding: those are state of the tokenizer
        batch = tokenizer(
            [mask_token.join(segments) for segments in split],
            return_attention_mask=False,
            return_token_type_ids=False,
            verbose=False,
        )["input_ids"]
        spelled = [tokenizer.convert_ids_to_tokens(ids) for ids in batch]
    mask_id = tokenizer.mask_token_id
    parsed = []
    for number, (text, segments, ids, tokens) in enumerate(zip(texts, split, batch, spelled, strict=True)):
        positions = tuple(index for index, token_id in enumerate(ids) if token_id == mask_id)
        try:
            check_tokens(model, len(ids))
            if len(positions) != len(segments) - 1:
                raise UnsuitableText(
                    f"{model.card.name} reads {len(positions)} of the {len(segments) - 1} blanks. "
                    f"Put spaces around each {BLANK}."
                )
        except UnsuitableText as error:
            raise _about(number, texts, error) from None
        parsed.append(BlankedText(text, segments, tuple(ids), tuple(tokens), positions))
    return tuple(parsed)


def check_tokens(model: LoadedModel, count: int) -> None:
    """Refuse more tokens than the model reads, before the device sees them.

    Raises:
        UnsuitableText: Too many; the message says how many, and the limit.
    """
    if count > model.limit_tokens:
        raise UnsuitableText(
            f"The text has {count:,} tokens, and {model.card.name} reads at most {model.limit_tokens:,}. "
            f"Leave out {say_over(count - model.limit_tokens)}, or choose a model that reads more."
        )


def say_over(count: int) -> str:
    """How many tokens a visitor is to leave out, where that is so many too many."""
    return "a token" if count == 1 else f"about {count:,} tokens"


def refuse_foreign_masks(text: str, mask_token: str | None) -> None:
    """Refuse the mask token of another model, which this one would read as ordinary characters.

    Raises:
        UnsuitableText: There is one; the message says to write ___.
    """
    for match in FOREIGN_MASK.finditer(text):
        if match.group() != mask_token:
            what = "a sentinel" if match.group().startswith("<extra_id_") else "the mask of another model"
            raise UnsuitableText(
                f"{match.group()} is {what}. Write {BLANK} where a word is missing: it works with every model."
            )


def split_text(text: str, mask_token: str | None) -> tuple[str, ...]:
    """What stands before, between and after the blanks of a text that can be analysed.

    Args:
        text: With 1 to settings().most_blanks blanks.
        mask_token: Of the model; None if it has none.

    Raises:
        UnsuitableText: It cannot be analysed; the message says why, and what to do.
    """
    check_characters(text)
    example = f"Write one such as: The cat sat on the {BLANK}."
    if not text.strip():
        raise UnsuitableText(f"There is no text. {example}")
    refuse_foreign_masks(text, mask_token)
    segments = split_at_blanks(text, mask_token)
    blanks = len(segments) - 1
    if not blanks:
        raise NoBlank(f"The text has no blank. Write {BLANK} where a word is missing: The cat sat on the {BLANK}.")
    if not any(_is_visible(character) for segment in segments for character in segment):
        raise UnsuitableText(f"The text has only blanks: there is nothing to go on. {example}")
    check_blanks(blanks)
    return segments


def check_blanks(count: int) -> None:
    """Refuse more blanks than are filled together.

    Raises:
        UnsuitableText: There are more; the message says the limit.
    """
    if count > settings().most_blanks:
        raise UnsuitableText(f"The text has {count} blanks; at most {settings().most_blanks} are filled together.")


def _is_visible(character: str) -> bool:
    """Whether it shows: neither white space nor an invisible mark such as U+200B or U+200F."""
    return not character.isspace() and unicodedata.category(character) != "Cf"


def _about(number: int, texts: Sequence[str], error: UnsuitableText) -> UnsuitableText:
    return UnsuitableText(f"Text {number + 1}: {error}") if len(texts) > 1 else error
