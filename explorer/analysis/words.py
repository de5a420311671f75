"""A sentence as clickable words: blank a word, and put it back. No model is needed."""

import re
from dataclasses import dataclass
from os.path import commonprefix

from explorer.analysis.blanks import ANY_BLANK, BLANK

WORD = re.compile(rf"{ANY_BLANK.pattern}|[^\W_]+(?:['’-][^\W_]+)*|[^\s]", re.IGNORECASE)


@dataclass(frozen=True)
class Word:
    """A word, a punctuation mark or a blank of a sentence.

    Attributes:
        text: As it stands in the sentence.
        start: Where it starts, in characters.
        is_blank: Whether it is a blank.
        hidden: For a blank made by a click: the word, or words, it took the place of.
    """

    text: str
    start: int
    is_blank: bool
    hidden: str = ""


def split_words(text: str, hidden: tuple[str, ...] = ()) -> tuple[Word, ...]:
    """The words of a text in order.

    Args:
        text: Any text.
        hidden: For each blank in order, the word it hides, or "".
    """
    blanks = iter(hidden)
    words = []
    for match in WORD.finditer(text):
        is_blank = bool(ANY_BLANK.fullmatch(match.group()))
        words.append(Word(match.group(), match.start(), is_blank, next(blanks, "") if is_blank else ""))
    return tuple(words)


def last_word(text: str) -> Word | None:
    """The last word of a text; None if it has none, or a blank or an underscore stands behind it."""
    for word in reversed(split_words(text)):
        if word.is_blank or word.text == "_":
            return None
        if word.text[0].isalnum():
            return word
    return None


def carry_hidden(before: str, hidden: tuple[str, ...], after: str) -> tuple[str, ...]:
    """What the blanks of a text hide after it was edited: a blank outside the edit keeps its word, a new one has none.

    Args:
        before: The text before the edit.
        hidden: For each of its blanks in order, the word it hides, or "".
        after: The text after the edit, which is taken to be in one place.

    Returns:
        For each blank of the text after the edit, the word it hides, or "".
    """
    same_before = len(commonprefix((before, after)))
    rest, new_rest = before[same_before:], after[same_before:]
    same_after = len(commonprefix((rest[::-1], new_rest[::-1])))
    moved = len(after) - len(before)
    known = {}
    for word in split_words(before, hidden):
        if word.is_blank and word.start < same_before:
            known[word.start] = word.hidden
        elif word.is_blank and word.start >= len(before) - same_after:
            known[word.start + moved] = word.hidden
    return tuple(known.get(word.start, "") for word in split_words(after) if word.is_blank)


def toggle_blank(text: str, hidden: tuple[str, ...], index: int) -> tuple[str, tuple[str, ...]]:
    """Blank a word, or put back the word that a click has hidden.

    Args:
        text: The sentence.
        hidden: For each of its blanks in order, the word it hides, or "".
        index: Which word, as counted by split_words; one that is out of range changes nothing.

    Returns:
        The sentence, and what its blanks hide. A blank that was typed hides nothing, and stays.
    """
    words = split_words(text, hidden)
    if not 0 <= index < len(words):
        return text, hidden
    word = words[index]
    put = word.hidden if word.is_blank else BLANK
    if not put:
        return text, hidden
    changed = text[: word.start] + put + text[word.start + len(word.text) :]
    kept = [
        (word.text if place == index else other.hidden)
        for place, other in enumerate(words)
        if other.is_blank != (place == index)
    ]
    return changed, tuple(kept)


def blank_words(text: str, hidden: tuple[str, ...], first: int, last: int) -> tuple[str, tuple[str, ...]]:
    """Put one blank in the place of neighbouring words, some of which may be blanks already.

    Args:
        text: The sentence.
        hidden: For each of its blanks in order, what it hides, or "".
        first: The first of the words, as counted by split_words.
        last: The last of them; a pair that is out of range or in the wrong order, or one blank, changes nothing.

    Returns:
        The sentence, and what its blanks hide. The new one hides what stood there, with the words of the blanks it took
        in; nothing if one of these was typed.
    """
    words = split_words(text, hidden)
    taken = words[first : last + 1] if 0 <= first <= last < len(words) else ()
    if not taken or (len(taken) == 1 and taken[0].is_blank):
        return text, hidden
    start, end = taken[0].start, taken[-1].start + len(taken[-1].text)
    was, at = "", start
    for word in taken:
        was += text[at : word.start] + (word.hidden if word.is_blank else word.text)
        at = word.start + len(word.text)
    if any(word.is_blank and not word.hidden for word in taken):
        was = ""
    before, behind = ([word.hidden for word in some if word.is_blank] for some in (words[:first], words[last + 1 :]))
    return text[:start] + BLANK + text[end:], (*before, was, *behind)
