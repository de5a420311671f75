"""What a token is called where it stands alone, as before a bar: some are no words, and no letters either."""

from explorer.analysis.reading import SPACE, SPACE_TOKENS
from explorer.models.written_text import UNREADABLE, bytes_of

_BY_BYTES = "a byte, and no letter by itself. This vocabulary spells most letters of other scripts by several bytes"
BYTES_NOTE = f"<0xE3> and the like, in a sentence {UNREADABLE}: {_BY_BYTES}, and a blank takes but one token."
BYTE_NOTE = f"{UNREADABLE}: {_BY_BYTES}, and emoji, too."
SPACE_NOTE = (
    "{0} is {1} with a space before it: this vocabulary has both spellings, as two tokens. Where a text begins, either "
    "may be expected: in training, most sentences had others before them."
)


def token_label(text: str, token: str) -> str:
    """A byte that is no letter by itself by its number, <0xE3>, as SentencePiece does; a space alone as ␣.

    Args:
        text: As it reads.
        token: As the vocabulary spells it.
    """
    if text in SPACE_TOKENS:
        return SPACE
    if not text or set(text) != {UNREADABLE}:
        return text
    numbers = [] if token.startswith("<0x") else bytes_of(token.lstrip("".join(SPACE_TOKENS)))
    return "".join(f"<0x{number:02X}>" for number in numbers) or token
