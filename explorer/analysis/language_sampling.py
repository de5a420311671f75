"""How a multilingual model chooses the language of its next text: q_i ∝ p_i^α. No model is needed.

Source: Conneau and Lample 2019, section 3.1, https://arxiv.org/abs/1901.07291 (the formula);
    Conneau et al. 2020, https://arxiv.org/abs/1911.02116 (XLM-R: α = 0.3, sizes of its corpus in Table 6)
"""

from dataclasses import dataclass

PAPER_URL = "https://arxiv.org/abs/1911.02116"
CC100_GIB = {  # of text, as Table 6 has them: twelve of the hundred languages, from the largest to a small one
    "English": 300.8,
    "Russian": 278.0,
    "Indonesian": 148.3,
    "Vietnamese": 137.3,
    "Japanese": 69.3,
    "German": 66.6,
    "French": 56.8,
    "Spanish": 53.3,
    "Chinese (simplified)": 46.9,
    "Tamil": 12.2,
    "Urdu": 5.7,
    "Swahili": 1.6,
}


@dataclass(frozen=True)
class LanguageShare:
    """How often a language is read.

    Attributes:
        language: Its English name.
        size_gib: Of its text in the corpus, in GiB.
        share: Of the text of all languages given, p_i, in [0, 1].
        sampled: Chance of the next text to be in it, q_i, in [0, 1].
    """

    language: str
    size_gib: float
    share: float
    sampled: float


def sample_languages(alpha: float, sizes_gib: dict[str, float] = CC100_GIB) -> tuple[LanguageShare, ...]:
    """The chance of each language to be read next.

    Args:
        alpha: 1 = as often as there is text, 0 = all alike; XLM-R 0.3, XLM 0.5, mBERT 0.7.
        sizes_gib: Language -> size of its text; the shares are of these languages only.

    Returns:
        In the order given.
    """
    total = sum(sizes_gib.values())
    shares = {language: size / total for language, size in sizes_gib.items()}
    weights = {language: share**alpha for language, share in shares.items()}
    return tuple(
        LanguageShare(language, size, shares[language], weights[language] / sum(weights.values()))
        for language, size in sizes_gib.items()
    )
