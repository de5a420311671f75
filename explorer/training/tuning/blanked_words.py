"""A word of a text that a blank can stand for, chosen so that it says something."""

from collections.abc import Sequence
from dataclasses import dataclass

from transformers import PreTrainedTokenizerBase

from explorer.analysis.blanks import BLANK

SHORTEST_WORD = 4  # characters: a shorter one is seldom of a domain


@dataclass(frozen=True)
class Blank:
    """A text with a word left out.

    Attributes:
        ids: Of the text, with the mask in the word's place.
        place: Which of the ids that is.
        word: What stood there.
        text: What a person reads, with a blank.
    """

    ids: tuple[int, ...]
    place: int
    word: str
    text: str


def find_blank(tokenizer: PreTrainedTokenizerBase, ids: Sequence[int], before: int, after: int) -> Blank | None:
    """Leave out the longest word that is one token, the last of several, and not the first of the text (its spelling
    is another there); None = no word suits.

    Args:
        tokenizer: With a mask token.
        ids: A text, with its marks.
        before: Marks before it.
        after: Marks behind it.
    """
    tokens = tokenizer.convert_ids_to_tokens(list(ids))
    byte_level = any(token.startswith(("Ġ", "▁")) for token in tokens)
    end = len(ids) - after
    best, chosen = SHORTEST_WORD - 1, None
    for place in range(before + 1, end):
        word = tokens[place].lstrip("Ġ▁")
        begins = tokens[place] != word if byte_level else not word.startswith("##")
        goes_on = place + 1 < end and _continues(tokens[place + 1], byte_level)
        if begins and not goes_on and word.isascii() and word.isalpha() and len(word) >= max(best, SHORTEST_WORD):
            best, chosen = len(word), place
    if chosen is None:
        return None
    masked = [*ids[:chosen], tokenizer.mask_token_id, *ids[chosen + 1 :]]
    left = tokenizer.decode(list(ids[before:chosen])).strip()
    right = tokenizer.decode(list(ids[chosen + 1 : end])).strip()
    space = "" if right[:1] in ".,;:!?" else " "
    return Blank(tuple(masked), chosen, tokens[chosen].lstrip("Ġ▁"), f"{left} {BLANK}{space}{right}".strip())


def show_fills(fills: Sequence[tuple[str, float]]) -> str:
    """Words and probabilities as a person reads them: “river” 42 %, “road” 10 %."""
    return ", ".join(f"“{word}” {100 * probability:.0f} %" for word, probability in fills)


def _continues(token: str, byte_level: bool) -> bool:
    if byte_level:
        return not token.startswith(("Ġ", "▁")) and token.isalnum()
    return token.startswith("##")
