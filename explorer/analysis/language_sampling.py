"""How a multilingual model chooses the language of its next text: q_i ∝ p_i^α. No model is needed.

Source: Conneau and Lample 2019, section 3.1, https://arxiv.org/abs/1901.07291 (the formula; there with shares of
    sentences, here of GiB); Conneau et al. 2020, https://arxiv.org/abs/1911.02116 (XLM-R: α = 0.3)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from explorer.analysis.cc100 import CC100_GIB
from explorer.errors import UnsuitableText

PAPER_URL = "https://arxiv.org/abs/1911.02116"
XLM_R_ALPHA = 0.3


@dataclass(frozen=True)
class LanguageShare:
    """How often a language is read.

    Attributes:
        language: Its English name.
        size_gib: Of its text in the corpus, in GiB.
        share: Of the text of all languages, p_i, in [0, 1].
        sampled: Chance of the next text to be in it, q_i, in [0, 1].
    """

    language: str
    size_gib: float
    share: float
    sampled: float


@dataclass(frozen=True)
class SmallestLanguages:
    """What a number of languages with the least text have together.

    Attributes:
        count: How many languages.
        share: Of the text, in [0, 1].
        sampled: Of what is read, in [0, 1].
    """

    count: int
    share: float
    sampled: float


def sample_languages(
    alpha: float = XLM_R_ALPHA, sizes_gib: Mapping[str, float] = CC100_GIB
) -> tuple[LanguageShare, ...]:
    """The chance of each language to be read next.

    Args:
        alpha: 1 = as often as there is text, 0 = all alike; XLM-R 0.3, XLM 0.5, mBERT 0.7.
        sizes_gib: Language -> size of its text, above 0, in GiB; the shares are of these languages only.

    Returns:
        In the order given.

    Raises:
        UnsuitableText: alpha is not a number from 0 to 1.
    """
    if not 0 <= alpha <= 1:
        raise UnsuitableText(f"alpha must be a number from 0 to 1; it is {alpha!r}.")
    total = sum(sizes_gib.values())
    shares = {language: size / total for language, size in sizes_gib.items()}
    weights = {language: share**alpha for language, share in shares.items()}
    all_weights = sum(weights.values())
    return tuple(
        LanguageShare(language, size, shares[language], weights[language] / all_weights)
        for language, size in sizes_gib.items()
    )


def sum_smallest(languages: Sequence[LanguageShare], count: int) -> SmallestLanguages:
    """What the languages with the least text have together.

    Args:
        languages: In any order.
        count: How many of them; all if there are fewer.
    """
    smallest = sorted(languages, key=lambda row: row.size_gib)[:count]
    return SmallestLanguages(len(smallest), sum(row.share for row in smallest), sum(row.sampled for row in smallest))
