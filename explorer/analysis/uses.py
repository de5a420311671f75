"""Where a word is used in a text: whole words only, other forms of it if wanted."""

from __future__ import annotations

import re
from collections.abc import Sequence

from explorer.analysis.embedding_results import Span
from explorer.errors import UnsuitableText, quoted

# Not inside a word, nor in one that a hyphen or an apostrophe makes: "can" is not in "can't", "play" not in "play-off".
BEFORE = r"(?<![\w])(?<!\w['’-])"
BEHIND = r"(?!\w)(?!['’-](?!s\b)\w)"  # but "play's" is a use of "play"
# Thai and Lao, Myanmar, Khmer, kana, Han: no space stands between words there.
UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
VOWELS = "aeiou"
LONGEST_WORD_CHARACTERS = 100


def find_uses(text: str, word: str, *, forms: Sequence[str] = ()) -> tuple[Span, ...]:
    """All uses of a word in a text, upper or lower case.

    Args:
        text: Any text.
        word: A word, or several in a row; any white space may stand between them.
        forms: Further forms that count as uses, e.g. those of english_forms.

    Returns:
        Start and end (exclusive) of each use, in characters, from left to right. Uses do not overlap; of two forms that
        start at one place the longer is meant. In scripts without spaces a use may stand within a longer word.

    Raises:
        UnsuitableText: The word or a form is empty, or longer than any word is.
    """
    wanted = [" ".join(str(one).split()) for one in (word, *forms)]
    for one in wanted:
        if not one or len(one) > LONGEST_WORD_CHARACTERS:
            raise UnsuitableText(f"Give a word of 1 to {LONGEST_WORD_CHARACTERS} characters, not {quoted(one)}.")
    longest_first = sorted(set(wanted), key=lambda one: (-len(one), one))
    either = "|".join(_pattern(one) for one in longest_first)
    return tuple(match.span() for match in re.finditer(either, text, re.IGNORECASE))


def english_forms(word: str) -> tuple[str, ...]:
    """Forms that an English word has if it is regular: "play" gives plays, played, playing; irregular ones are missing.

    Args:
        word: A noun or a verb, as in a dictionary.
    """
    stem = word.strip().lower()
    if not re.fullmatch(r"[a-z]+", stem):
        return ()
    ends_in_y = stem.endswith("y") and stem[-2:-1] not in VOWELS
    if ends_in_y:
        return f"{stem[:-1]}ies", f"{stem[:-1]}ied", f"{stem}ing"
    plural = f"{stem}es" if re.search(r"(?:s|x|z|ch|sh)$", stem) else f"{stem}s"
    if stem.endswith("ie"):
        return plural, f"{stem}d", f"{stem[:-2]}ying"
    if stem.endswith("e") and not stem.endswith("ee"):
        return plural, f"{stem}d", f"{stem[:-1]}ing"
    # one short syllable doubles its last letter: "star", "starred"
    doubled = stem + stem[-1] if re.fullmatch(r"[^aeiou]*[aeiou][^aeiouwxy]", stem) else stem
    return plural, f"{stem}d" if stem.endswith("ee") else f"{doubled}ed", f"{doubled}ing"


def _pattern(word: str) -> str:
    """A word as it may be typed: any white space between its parts, either apostrophe; not within another word."""
    escaped = re.sub("['’]", "['’]", r"\s+".join(re.escape(part) for part in word.split(" ")))
    before, behind = ("" if UNSPACED.match(end) else edge for end, edge in ((word[0], BEFORE), (word[-1], BEHIND)))
    return f"{before}{escaped}{behind}"
