"""In a sentence what several models, or two texts, make of the same blank."""

import math
from collections.abc import Sequence

from explorer.analysis.reading import SPACE
from explorer.analysis.results import BlankFills, TextContrast
from explorer.figures.notes import LEAST, MOST_TOLD, note
from explorer.figures.style import as_words, times


def models_note(results: Sequence[BlankFills], blank: int, vocabularies: Sequence[int]) -> str:
    """What several models expect most in one blank, and which of them is surest; "" of one model.

    Args:
        results: One of each model.
        blank: Which blank, counted from 0.
        vocabularies: How many tokens each model chooses among; of different numbers, none is called surer.
    """
    if len(results) < 2:
        return ""
    tops: dict[str, list[str]] = {}
    for fills in results:
        tops.setdefault(fills.blanks[blank].choices[0].text.removeprefix(SPACE), []).append(fills.model)
    if len(tops) == 1:
        told = f"All expect “{next(iter(tops))}” most. "
    else:
        parts = [f"{' and '.join(names)} “{word}”" for word, names in list(tops.items())[:MOST_TOLD]]
        told = f"First choices: {', '.join(parts)}. "
    if len(set(vocabularies)) > 1:
        sizes = _sizes([fills.model for fills in results], vocabularies)
        return note(f"{told}They choose among different vocabularies ({sizes} tokens): their shares, and how sure "
                    "they are, cannot be compared. In a small one, rarer words begin with a piece.")  # fmt: skip
    (low, surest), *_, (high, least) = sorted((fills.blanks[blank].entropy_bits, fills.model) for fills in results)
    if high - low < 0.05:  # one decimal is shown
        return note(told)
    return note(f"{told}{surest} is surest, as if among {as_words(low)}; {least} least, as if among {as_words(high)}.")


def _sizes(models: Sequence[str], vocabularies: Sequence[int]) -> str:
    """Which models choose among how many tokens, in the order of the models."""
    named: dict[int, list[str]] = {}
    for model, size in zip(models, vocabularies, strict=True):
        named.setdefault(size, []).append(model)
    return ", ".join(f"{' and '.join(names)} {size:,}" for size, names in named.items())


def contrast_note(contrast: TextContrast) -> str:
    """The word that leans most to each of two texts, and how much more likely it is there."""
    told = []
    if contrast.words and contrast.words[0].log_odds_ratio > 0:
        word = contrast.words[0]
        ratio = times(math.log(max(word.probability, LEAST) / max(word.other_probability, LEAST)))
        told.append(f"In the first sentence “{word.text}” is {ratio} in the second")
    if contrast.words and contrast.words[-1].log_odds_ratio < 0:
        word = contrast.words[-1]
        ratio = times(math.log(max(word.other_probability, LEAST) / max(word.probability, LEAST)))
        told.append(f"{'in' if told else 'In'} the second “{word.text}” is {ratio} in the first")
    return note("; ".join(told) + ".") if told else ""
