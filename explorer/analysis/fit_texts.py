"""What the cures are fitted on before pairs are compared: texts of the same kind from a corpus. Free of torch."""

from __future__ import annotations

import re
from collections.abc import Sequence

from explorer.analysis.pair_files import ScoredPair

MOST_FITTED = 500  # texts: a model takes seconds for so many, and a mean and a spread of each number need no more
LETTERS = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


def choose_fit_texts(
    pairs: Sequence[ScoredPair], sentences: Sequence[str], corpus: str, *, most: int = MOST_FITTED
) -> tuple[tuple[str, ...], str]:
    """Texts of a corpus that are like those of the pairs, spread evenly over it, and what they are, in words.

    Args:
        pairs: Of words, of sentences, or of both.
        sentences: The corpus.
        corpus: Its name.
        most: How many at most.

    Returns:
        Where all texts of the pairs are single words, different words of the corpus, each to be read alone; otherwise
        sentences.
    """
    if all(len(text.split()) == 1 for pair in pairs for text in (pair.first, pair.second)):
        found = list(dict.fromkeys(word.casefold() for sentence in sentences for word in LETTERS.findall(sentence)))
        kind = "different words, each read alone"
    else:
        found, kind = list(dict.fromkeys(sentences)), "sentences"
    chosen = tuple(found[place * len(found) // most] for place in range(most)) if len(found) > most else tuple(found)
    of_all = f" of {len(found):,}" if len(found) > most else ""
    return chosen, f"{len(chosen):,}{of_all} {kind}: {corpus}"
