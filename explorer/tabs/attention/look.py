"""What is drawn of a head, as one word that the views, and a link, hold: "matrix.words.nospecial"; see attention.js."""

import re

from explorer.analysis.head_thumbnails import Shown

TEXTS = re.compile(r"[01][01]")
PART = re.compile(r"lines|matrix|table|words|close|nospecial|nofirst|[01][01]|t[0-9]|[upk][0-9]{1,4}|h[0-9]{1,3}")
MOST_CHARACTERS = 100


def tidy_look(look: str) -> str:
    """The parts of a look that are known, to be sent back.

    Args:
        look: From a link or the page: anything.
    """
    parts = look[:MOST_CHARACTERS].split(".") if isinstance(look, str) else []
    return ".".join(filter(PART.fullmatch, parts))


def is_look(word: str) -> bool:
    """Whether a link holds a look of which any part is known."""
    return bool(tidy_look(word))


def read_shown(look: str) -> Shown:
    """Which tokens a look leaves in sight; what else it holds is for the view "Head".

    Args:
        look: From a link or the page: anything.
    """
    parts = tidy_look(look).split(".")
    texts = [(int(part[0]), int(part[1])) for part in parts if TEXTS.fullmatch(part)]
    return Shown(
        by_words="words" in parts,
        special="nospecial" not in parts,
        first="nofirst" not in parts,
        texts=texts[-1] if texts else None,
    )
