"""Which texts are nearest to another, by one vector of each. Free of torch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from explorer.analysis.anisotropy_results import FoundText, FoundTexts
from explorer.analysis.cures import CURES, FittedCure, apply_cure
from explorer.analysis.embedding_results import Points
from explorer.analysis.neighbours import find_neighbours

POOLING_WORDS = {  # of text_vectors.POOLINGS
    "cls": "the first token, [CLS] where the model has one",
    "last": "the last token of the text itself",
    "mean": "the mean of all tokens, as Sentence-BERT has it",
    "own_mean": "the mean of the tokens of the text itself",
    "max": "the largest of each number over all tokens",
}


@dataclass(frozen=True, eq=False)
class PooledTexts:
    """One vector of each text, in one layer.

    Attributes:
        model: Its name.
        texts: As given.
        pooling: A key of text_vectors.POOLINGS.
        layer: 0 = input embeddings.
        vectors: Not writeable.
        limit_tokens: How many the model reads.
        cut_texts: How many of the texts have more, and are read as far as it goes.
    """

    model: str
    texts: tuple[str, ...]
    pooling: str
    layer: int
    vectors: Float[np.ndarray, "text dim"]
    limit_tokens: int = 0
    cut_texts: int = 0


@dataclass(frozen=True, eq=False)
class SearchableTexts:
    """Texts after a cure, ready to be searched.

    Attributes:
        texts: Before it.
        cure: Fitted on them.
        points: Their directions after it.
    """

    texts: PooledTexts
    cure: FittedCure
    points: Points


def search_texts(searchable: SearchableTexts, query: PooledTexts, *, k: int = 10) -> FoundTexts:
    """The texts nearest to a query by cosine.

    Args:
        searchable: As similarity.prepare_search prepares it.
        query: One text, pooled alike.
        k: How many, 1 or more; fewer where there are fewer.
    """
    cured = np.asarray(apply_cure(searchable.cure, query.vectors))
    near = find_neighbours(cured[0], searchable.points, k=k)
    texts = searchable.texts
    where = "input embeddings" if texts.layer == 0 else f"layer {texts.layer}"
    found = zip(near.indices[0].tolist(), near.cosines[0].tolist(), strict=True)
    return FoundTexts(
        model=texts.model,
        query=query.texts[0],
        vector=f"{where}, {POOLING_WORDS[texts.pooling]}; {CURES[searchable.cure.name].label.lower()}",
        count=len(texts.texts),
        found=tuple(FoundText(index, texts.texts[index], cosine) for index, cosine in found),
        remarks=(
            *[f"The query {_beginnings(query.limit_tokens, 1)}."] * bool(query.cut_texts),
            *cut_remarks(texts.cut_texts, len(texts.texts), texts.limit_tokens),
        ),
    )


def cut_remarks(cut: int, count: int, limit_tokens: int) -> tuple[str, ...]:
    """What to know of texts that are longer than the model reads; nothing where none is.

    Args:
        cut: How many are.
        count: Of all.
        limit_tokens: How many the model reads.
    """
    return (f"{cut:,} of the {count:,} texts {_beginnings(limit_tokens, cut)}.",) * bool(cut)


def _beginnings(limit_tokens: int, count: int) -> str:
    verb, what = ("is", "its beginning is") if count == 1 else ("are", "their beginnings are")
    return f"{verb} longer than the {limit_tokens:,} tokens that the model reads: only {what} compared"
