"""What is said of sentence vectors: which of two sentences is nearer, what is retrieved, agreement with people."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from explorer.analysis.rank_correlation import measure_spearman
from explorer.analysis.word_bags import TOKEN
from explorer.training.tuning.examples import ScoredPair, Triplet
from explorer.training.tuning.recipe import LIKE
from explorer.training.tuning.results import Judged, wrong_first
from explorer.training.tuning.retrieval import Retrieval, retrieve
from explorer.training.tuning.task import Measured

MOST_SEARCHED = 200  # examples, for the samples that are shown
SAMPLES = 8
SHARED_WORDS = "words in common"

Texts = Float[np.ndarray, "_ dim"]  # of an example of two sentences, or of three


def texts_of(example: Triplet | ScoredPair) -> tuple[str, ...]:
    """The sentences of an example, in the order of its vectors."""
    if isinstance(example, ScoredPair):
        return example.text, example.second_text
    return example.text, example.positive, example.negative


def measure_similarity(examples: Sequence[Triplet | ScoredPair], vectors: Sequence[Texts]) -> Measured:
    """Of triplets retrieval first; of pairs rank correlation.

    Args:
        examples: What was compared.
        vectors: Of the sentences of each, as texts_of lists them.
    """
    triplets = [(one, found) for one, found in zip(examples, vectors, strict=True) if isinstance(one, Triplet)]
    pairs = [(one, found) for one, found in zip(examples, vectors, strict=True) if isinstance(one, ScoredPair)]
    scores: dict[str, float] = {}
    judged = []
    if triplets:
        found = _retrieve(triplets)
        near = np.array([_cosine(texts[0], texts[1]) for _, texts in triplets])
        far = np.array([_cosine(texts[0], texts[2]) for _, texts in triplets])
        scores |= {
            "recall_at_1": found[0].recall_at_1,
            "mean_reciprocal_rank": found[0].mean_reciprocal_rank,
            "triplet_accuracy": float((near > far).mean()),
        }
        nearest = [found[1][best] for best in found[0].best]
        judged += [
            Judged(one.text, one.positive, text, float(np.clip(cosine, 0, 1)), is_right=text == one.positive)
            for (one, _), text, cosine in zip(triplets, nearest, found[0].cosines, strict=True)
        ]
    if pairs:
        cosines = np.array([_cosine(*texts) for _, texts in pairs])
        gold = np.array([one.score for one, _ in pairs])
        scores["spearman"] = measure_spearman(cosines, gold) or 0.0
        judged += [
            Judged(
                f"{one.text} — {one.second_text}",
                f"{_in_words(one.score)}, {one.score:.2f}",
                f"{_in_words(cosine)}, cosine {cosine:.2f}",
                _sureness(cosine),
                is_right=_in_words(one.score) == _in_words(cosine),
            )
            for (one, _), cosine in zip(pairs, cosines.tolist(), strict=True)
        ]
    return Measured(scores, (), wrong_first(judged))


def show_retrieved(examples: Sequence[Triplet | ScoredPair], vectors: Sequence[Texts]) -> list[tuple[str, str]]:
    """Some queries with what is wanted, and what is nearest to each of all positives and negatives; or pairs' cosines.

    Args:
        examples: What is searched.
        vectors: Of the sentences of each.
    """
    triplets = [(one, found) for one, found in zip(examples, vectors, strict=True) if isinstance(one, Triplet)]
    if not triplets:
        some = list(zip(examples, vectors, strict=True))[:SAMPLES]
        return [(f"{one.text} — {one.second_text}", f"cosine {_cosine(*texts):.2f}") for one, texts in some]
    found, candidates = _retrieve(triplets)
    some = zip(triplets[:SAMPLES], found.best, found.cosines, strict=False)
    shown = [(one, candidates[best], cosine) for (one, _), best, cosine in some]
    return [
        (f"{one.text} [{one.positive}]", f"{nearest}{' ✓' * (nearest == one.positive)} ({cosine:.2f})")
        for one, nearest, cosine in shown
    ]


def similarity_baselines(held_out: Sequence[Triplet | ScoredPair]) -> dict[str, float]:
    """Main score of counting the words that two sentences share (cosine of TF-IDF vectors)."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = [text for one in held_out for text in texts_of(one)]
    table = TfidfVectorizer(token_pattern=TOKEN.pattern).fit_transform(texts).toarray()
    sizes = [len(texts_of(one)) for one in held_out]
    vectors = np.split(table, np.cumsum(sizes)[:-1])
    return {SHARED_WORDS: next(iter(measure_similarity(held_out, vectors).scores.values()))}


def similarity_remarks(examples: Sequence[Triplet | ScoredPair], loss: str) -> list[str]:
    """Where the loss cannot be had."""
    if loss != "cosine" and any(isinstance(one, ScoredPair) for one in examples):
        return ["Pairs with scores are learned by the cosine loss, whichever is chosen: they have no negative."]
    return []


def _retrieve(triplets: Sequence[tuple[Triplet, Texts]]) -> tuple[Retrieval, list[str]]:
    """Each query's nearest among all positives and negatives, each sentence once; and these."""
    places: dict[str, int] = {}
    rows: list[np.ndarray] = []
    for one, texts in triplets:
        for text, vector in ((one.positive, texts[1]), (one.negative, texts[2])):
            if text not in places:
                places[text] = len(rows)
                rows.append(vector)
    queries = np.stack([texts[0] for _, texts in triplets])
    wanted = np.array([places[one.positive] for one, _ in triplets])
    return retrieve(queries, np.stack(rows), wanted), list(places)


def _cosine(one: np.ndarray, other: np.ndarray) -> float:
    return float(one @ other / max(np.linalg.norm(one) * np.linalg.norm(other), 1e-12))


def _in_words(score: float) -> str:
    return "similar" if score >= LIKE else "different"


def _sureness(cosine: float) -> float:
    """Of calling a pair similar or different, in [0.5, 1]."""
    inside = float(np.clip(cosine, 0.0, 1.0))
    return max(inside, 1 - inside)
