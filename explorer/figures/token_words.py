"""Tokens as a reader sees them: the sign by which a vocabulary spells a space is not one that anybody knows."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

from explorer.analysis.reading import SPACE_TOKENS
from explorer.analysis.scoring_results import NextToken
from explorer.figures.notes import note
from explorer.figures.token_names import BYTE_NOTE, SPACE
from explorer.models.written_text import UNREADABLE

MOST_SIGNS = 6  # that are named
SPACE_NOTE = f"{SPACE}: a space before the token."
ALONE_NOTE = f"{SPACE}: a space, as a token of its own."
LINE_BREAK = "Ċ"  # as byte-level vocabularies spell it
BREAK_NOTE = f"{LINE_BREAK}: a line break."
BYTES = re.compile("[¡-¬®-ń]")  # the letters by which byte-level vocabularies spell bytes that are no ASCII


def shown_token(token: str) -> str:
    """A token with the space that it begins with as ␣; "Ġplay" of GPT-2 and "▁play" of T5 both are "␣play"."""
    return SPACE + token[1:] if token[:1] in SPACE_TOKENS else token


def spaces_shown(text: str) -> str:
    """What a token reads as, where spaces alone have to be seen: each as ␣."""
    return SPACE * len(text) if text and set(text) <= SPACE_TOKENS else text


def signs_note(texts: Iterable[str], text: str) -> str:
    """What those of the tokens are that are no letters: a space, a line break, a byte; else nothing.

    Args:
        texts: What the tokens read as, by spaces_shown.
        text: What they were cut from; a sign of its own stands for itself.
    """
    signs = {sign for one in texts for sign in one} - set(text)
    known = {SPACE: ALONE_NOTE, LINE_BREAK: BREAK_NOTE, UNREADABLE: BYTE_NOTE}
    return "".join(note(words) for sign, words in known.items() if sign in signs)


def bytes_note(tokens: Iterable[str], text: str) -> str:
    """What the letters are by which a byte-level vocabulary spells the bytes of others; else nothing.

    Args:
        tokens: As the vocabulary spells them.
        text: What they were cut from; a letter of its own stands for itself.
    """
    own = unicodedata.normalize("NFKC", text).casefold()
    signs = dict.fromkeys(sign for token in tokens for sign in BYTES.findall(token) if sign.casefold() not in own)
    told = f"{BREAK_NOTE} " if LINE_BREAK in signs else ""
    bytes_alone = [sign for sign in signs if sign not in SPACE_TOKENS | {LINE_BREAK}]
    if bytes_alone:
        letters = " ".join(bytes_alone[:MOST_SIGNS]) + " and the like" * (len(bytes_alone) > MOST_SIGNS)
        told += f"{letters}: not letters of the text, but bytes of its letters: this vocabulary is made of bytes."
    return note(told.strip()) if told else ""


def spelling_note(tokens: Iterable[str]) -> str:
    """How a vocabulary spells the space before a token, where tokens are shown as it spells them; else nothing."""
    sign = next((token[0] for token in tokens if token[:1] in SPACE_TOKENS), "")
    return note(f"{sign}: a space before the token, as this vocabulary spells it.") if sign else ""


def names_together(tokens: Iterable[NextToken]) -> dict[int, str]:
    """What tokens that are shown together are called, by their ids: without the space that they begin with, unless two
    read the same without.

    Args:
        tokens: All of them, each as often as it is shown.
    """
    by_id = {token.token_id: token for token in tokens}
    count = Counter(token.text.strip() for token in by_id.values())
    count[""] = 2  # a space alone has to be seen
    return {
        id: shown_token(token.token) if count[token.text.strip()] > 1 else token.text.strip()
        for id, token in by_id.items()
    }


def space_note(tokens: Iterable[str]) -> str:
    """What ␣ means, where one is shown; else nothing."""
    return note(SPACE_NOTE) if any(token[:1] in {SPACE, *SPACE_TOKENS} for token in tokens) else ""
