"""How far a model's cosines agree with people's scores, how sure that is, and where they part. Free of torch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from explorer.analysis.anisotropy_results import SimilarityScore, SimilarityScores
from explorer.analysis.cures import CURES, rank_numbers
from explorer.analysis.pair_results import KindShift, PairCosines, RankedPair, RankedPairs
from explorer.analysis.rank_correlation import measure_spearman
from explorer.analysis.sense_results import Estimate
from explorer.analysis.text_search import cut_remarks

RESAMPLES = 1_000
TAILS_PERCENT = (2.5, 97.5)
INTERVALS = (
    f"95 % intervals of the percentile bootstrap: {RESAMPLES:,} times, as many pairs were drawn with replacement, each "
    "with its rank among all"
)
LEAST_VARIANCE = 1e-9  # of ranks; less is rounding
POOLING_LABELS = {
    "cls": "[CLS]",
    "last": "last token",
    "mean": "mean",
    "own_mean": "mean without specials",
    "max": "max",
}


def score_pairs(found: PairCosines, *, seed: int = 0) -> SimilarityScores:
    """Spearman's correlation of cosines with people's scores, each with its interval.

    Args:
        found: As similarity.measure_pairs finds it.
        seed: Of the resampling.

    Source: Spearman 1904, https://doi.org/10.2307/1412159; the percentile bootstrap, Efron 1979,
        https://doi.org/10.1214/aos/1176344552
    """
    people = np.array([pair.score for pair in found.pairs], dtype=np.float64)
    shape = found.cosines.shape[:3]
    resampled = _resample(found.cosines.reshape(-1, len(people)), people, seed).reshape(RESAMPLES, *shape)
    plain = found.cures.index("none") if "none" in found.cures else None
    values = np.array(
        [measure_spearman(row, people) for row in found.cosines.reshape(-1, len(people))], dtype=object
    ).reshape(shape)
    scores = []
    for a, pooling in enumerate(found.poolings):
        for b, cure in enumerate(found.cures):
            for c, layer in enumerate(found.layers):
                value, draws = values[a, b, c], resampled[:, a, b, c]
                low, high = (None, None) if value is None else _ends(draws, value)
                change = None
                if plain is not None and value is not None and values[a, plain, c] is not None:
                    less = value - values[a, plain, c]
                    change = Estimate(less, *_ends(draws - resampled[:, a, plain, c], less))
                scores.append(SimilarityScore(pooling, cure, layer, value, low, high, change))
    return SimilarityScores(
        model=found.model,
        name=found.name,
        pairs=len(found.pairs),
        texts=found.texts,
        fitted_on=found.fitted_on,
        own_pooling=found.own_pooling,
        layer_count=found.layer_count,
        scores=tuple(scores),
        remarks=_remarks(scores) + _of_unknown(found) + cut_remarks(found.cut_texts, found.texts, found.limit_tokens),
        intervals=f"{INTERVALS}; seed {seed}",
    )


def rank_pairs(found: PairCosines, *, pooling: str, cure: str, layer: int, kinds: Sequence[str] = ()) -> RankedPairs:
    """The places of all pairs by score and by a model, those first of which they disagree most.

    Args:
        found: As similarity.measure_pairs finds it.
        pooling: One of its.
        cure: One of its.
        layer: One of its; one above the last is the last.
        kinds: What each pair is about; none = nobody has said.
    """
    at = min(layer, found.layers[-1])
    cosines = found.cosines[found.poolings.index(pooling), found.cures.index(cure), found.layers.index(at)]
    people = np.array([pair.score for pair in found.pairs], dtype=np.float64)
    by_score, by_model = rank_numbers(-np.stack([people, cosines]))
    named = kinds or ("",) * len(people)
    ranked = [
        RankedPair(pair.first, pair.second, kind, pair.score, float(cosine), float(place), float(other))
        for pair, kind, cosine, place, other in zip(found.pairs, named, cosines, by_score, by_model, strict=True)
    ]
    shifts = []
    for kind in dict.fromkeys(name for name in named if name):
        own = [one.shift for one in ranked if one.kind == kind]
        shifts.append(KindShift(kind, len(own), sum(own) / len(own)))
    which = "input embeddings" if at == 0 else f"layer {at}"
    return RankedPairs(
        model=found.model,
        name=found.name,
        vector=f"{which}, pooling {POOLING_LABELS[pooling]}, {CURES[cure].label.lower()}",
        pairs=tuple(sorted(ranked, key=lambda one: -abs(one.shift))),
        kinds=tuple(sorted(shifts, key=lambda one: -one.shift)),
    )


def best_layer(scores: SimilarityScores, pooling: str, cure: str) -> int | None:
    """The layer of the highest correlation, the lowest of those; None where there is none."""
    known = [one for one in scores.scores if (one.pooling, one.cure) == (pooling, cure) and one.spearman is not None]
    return max(known, key=lambda one: (one.spearman, -one.layer)).layer if known else None


def _resample(
    cosines: Float[np.ndarray, "vector pair"], people: Float[np.ndarray, " pair"], seed: int
) -> Float[np.ndarray, "draw vector"]:
    """The correlation of ranks of each draw of pairs; not a number where all ranks of a draw are the same."""
    count = len(people)
    ranks = rank_numbers(cosines) - (count + 1) / 2
    own = rank_numbers(people[None])[0] - (count + 1) / 2
    shares = np.random.default_rng(seed).multinomial(count, [1 / count] * count, RESAMPLES) / count
    mean, own_mean = shares @ ranks.T, (shares @ own)[:, None]
    variance = shares @ (ranks * ranks).T - mean * mean
    own_variance = (shares @ (own * own))[:, None] - own_mean * own_mean
    together = shares @ (ranks * own).T - mean * own_mean
    is_known = (variance > LEAST_VARIANCE) & (own_variance > LEAST_VARIANCE)
    return np.divide(
        together, np.sqrt(np.where(is_known, variance * own_variance, 1)), out=np.full_like(mean, np.nan),
        where=is_known,
    )  # fmt: skip


def _ends(draws: Float[np.ndarray, " draw"], value: float) -> tuple[float, float]:
    known = draws[~np.isnan(draws)]
    if not len(known):
        return value, value
    low, high = np.percentile(known, TAILS_PERCENT)
    return float(low), float(high)


def _remarks(scores: Sequence[SimilarityScore]) -> tuple[str, ...]:
    same: dict[str, list[str]] = {}
    for one in scores:
        if one.cure == "none" and one.spearman is None:
            same.setdefault(POOLING_LABELS[one.pooling], []).append(str(one.layer))
    return tuple(
        f"All cosines are the same by pooling {pooling} in layer {', '.join(layers)}, and cannot be ranked."
        for pooling, layers in same.items()
    )


def _of_unknown(found: PairCosines) -> tuple[str, ...]:
    if not found.unknown_texts:
        return ()
    hold = "holds" if found.unknown_texts == 1 else "hold"
    return (
        f"{found.unknown_texts:,} of the {found.texts:,} texts {hold} words, signs or a script that the vocabulary "
        "lacks: the model sees the same sign for each, so that such texts may seem alike.",
    )
