"""Two models on one text, word by word: their vocabularies may cut the words in different ways. No model is needed."""

from __future__ import annotations

import math

from explorer.analysis.scoring_results import ScoreComparison, TextScore, WordDifference, WordScore
from explorer.errors import UnsuitableText


def compare_scores(first: TextScore, other: TextScore) -> ScoreComparison:
    """Where two models differ about a text.

    Args:
        first: Of one model; of two directions the first counts.
        other: Of the other model, of the same text.

    Raises:
        UnsuitableText: The texts are not the same.
    """
    if first.text != other.text:
        raise UnsuitableText("Two models are compared on one text; these are two.")
    names = (first.model, other.model)
    words = tuple(
        _compare_word(names, *pair) for pair in zip(first.passes[0].words, other.passes[0].words, strict=True)
    )
    known = [word.difference_bits for word in words if word.difference_bits is not None]
    return ScoreComparison(
        models=names,
        text=first.text,
        protocols=(first.protocol, other.protocol),
        scores=(first, other),
        words=words,
        difference_bits=math.fsum(known),
        words_compared=len(known),
    )


def _compare_word(names: tuple[str, str], one: WordScore, two: WordScore) -> WordDifference:
    """What one of them does not know is left out: it scored any unknown word, the other this one."""
    unknown_to = tuple(name for name, word in zip(names, (one, two), strict=True) if word.has_unknown)
    are_scored = one.surprisal_bits is not None and two.surprisal_bits is not None
    return WordDifference(
        word=one.text,
        start=one.start,
        surprisal_bits=(one.surprisal_bits, two.surprisal_bits),
        ranks=(one.rank, two.rank),
        tokens=(one.tokens, two.tokens),
        difference_bits=two.surprisal_bits - one.surprisal_bits if are_scored and not unknown_to else None,
        unknown_to=unknown_to,
    )
