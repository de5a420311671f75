"""Which words a text has, as attention between words counts them, in any script."""

import unicodedata
from collections.abc import Sequence

from explorer.analysis.reading import is_unspaced

JOINERS = frozenset("'’-\u200c\u200d")  # within a word, between letters
Span = tuple[int, int]


def split_at_words(text: str, solid: Sequence[Span] = ()) -> list[Span]:
    """Start and end (exclusive) of the words and punctuation marks of a text, in characters.

    Letters, digits and the marks on them make a word, "don't" and "well-known" are one, every other character but
    white space is one by itself, and so is each character of a script that is written without spaces.

    Args:
        text: Any text.
        solid: Spans that are one word whatever they hold, such as masks; in order.
    """
    whole, inside = set(solid), {place: span for span in solid for place in range(*span)}
    words: list[Span] = []
    for place, character in enumerate(text):
        if place in inside:
            if inside[place] not in words[-1:]:
                words.append(inside[place])
        elif not character.isspace():
            if words and words[-1][1] == place and words[-1] not in whole and _goes_on(text, words[-1], place):
                words[-1] = (words[-1][0], place + 1)
            else:
                words.append((place, place + 1))
    return words


def _goes_on(text: str, word: Span, place: int) -> bool:
    character, before = text[place], text[place - 1]
    if _is_mark(character):
        return True
    if is_unspaced(character) or is_unspaced(text[word[0]]):
        return False
    if character in JOINERS:
        return _is_letter(before) and place + 1 < len(text) and _is_letter(text[place + 1])
    return _is_letter(character) and (_is_letter(before) or before in JOINERS and word[1] - word[0] > 1)


def _is_letter(character: str) -> bool:
    return character.isalnum() or _is_mark(character)


def _is_mark(character: str) -> bool:
    """Whether it belongs to the character before it: an accent, a vowel sign, a variant of an emoji."""
    return unicodedata.category(character)[0] == "M" or "\U0001f3fb" <= character <= "\U0001f3ff"


def number_words(words: Sequence[int | None], first: int = 0) -> list[int | None]:
    """Words counted from `first` without a gap, where some have no token of their own."""
    numbers: dict[int, int] = {}
    return [None if word is None else numbers.setdefault(word, first + len(numbers)) for word in words]
