"""Tokens as a reader sees them: the sign by which a vocabulary spells a space is not one that anybody knows."""

from __future__ import annotations

from collections.abc import Iterable

from explorer.analysis.reading import SPACE_TOKENS
from explorer.figures.notes import note

SPACE = "␣"
SPACE_NOTE = f"{SPACE}: a space before the token."


def shown_token(token: str) -> str:
    """A token with the space that it begins with as ␣; "Ġplay" of GPT-2 and "▁play" of T5 both are "␣play"."""
    return SPACE + token[1:] if token[:1] in SPACE_TOKENS else token


def space_note(tokens: Iterable[str]) -> str:
    """What ␣ means, where one is shown; else nothing."""
    return note(SPACE_NOTE) if any(token[:1] in SPACE_TOKENS for token in tokens) else ""
