"""Whether the cosines of a model's vectors agree with what people say of pairs of words or sentences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from explorer.analysis.anisotropy_results import FoundTexts, SimilarityScores
from explorer.analysis.blanks import check_option
from explorer.analysis.cures import COMPONENTS, CURES, FittedCure, apply_cure, check_cure, check_cures, fit_cure
from explorer.analysis.frozen_arrays import freeze_copy
from explorer.analysis.neighbours import prepare_points
from explorer.analysis.pair_agreement import score_pairs
from explorer.analysis.pair_files import ScoredPair, check_pairs
from explorer.analysis.pair_results import PairCosines
from explorer.analysis.text_search import PooledTexts, SearchableTexts, search_texts
from explorer.analysis.text_vectors import count_cut, count_unknown, embed_texts, pool_texts
from explorer.analysis.vector_spaces import LEAST_VECTORS, LayerSpace, describe_space, start_sums, unit_rows
from explorer.analysis.vector_sums import accumulate
from explorer.errors import UnsuitableText
from explorer.models.backend import LoadedModel
from explorer.models.card import Ability
from explorer.settings import settings

VISITORS = "The visitor's pairs"
ON_PAIRS = "the texts of the pairs themselves"
FEW_FIT_TEXTS = (
    "The cures are fitted not on the pairs, but on a corpus ({texts}), and it takes {least} different texts at least. "
    "Give it more, or compare the vectors as they are."
)
DECIMALS = 9  # of cosines; what differs by less is a tie


def compare_similarity(
    model: LoadedModel,
    *,
    pairs: Sequence[ScoredPair | Sequence[str | float | int]],
    name: str = VISITORS,
    layers: Sequence[int] | None = None,
    poolings: Sequence[str] = ("cls", "mean", "max"),
    cures: Sequence[str] = ("none",),
    components: int = COMPONENTS,
    fit_texts: Sequence[str] = (),
) -> SimilarityScores:
    """Spearman's correlation of cosines with people's scores, by layer, pooling and cure.

    A word is read alone, without a sentence around it.

    Args:
        model: Any that gives token vectors; of an encoder-decoder the encoder.
        pairs: Two words or sentences and a score each, more = more alike; as pair_files reads them, or plain triples.
        name: Of the pairs.
        layers: Which, 0 = input embeddings, negative ones counted from the last; None = all.
        poolings: Keys of text_vectors.POOLINGS.
        cures: Keys of cures.CURES, each fitted on the pooled vectors of a layer.
        components: How many principal components the cure "all_but_the_top" takes away.
        fit_texts: What the cures are fitted on; none = the texts of the pairs, without their scores.

    Raises:
        UnsuitableModel: It gives no vectors, or its tokenizer cannot say where a token stands.
        UnsuitableText: The pairs cannot be compared, or there is no such layer, pooling or cure.

    Source: Hill et al. 2015, https://arxiv.org/abs/1408.3456; Cer et al. 2017, https://arxiv.org/abs/1708.00055;
        Reimers and Gurevych 2019, table 1, https://arxiv.org/abs/1908.10084
    """
    found = measure_pairs(
        model, pairs=pairs, name=name, layers=layers, poolings=poolings, cures=cures, components=components,
        fit_texts=fit_texts,
    )  # fmt: skip
    return score_pairs(found)


def measure_pairs(
    model: LoadedModel,
    *,
    pairs: Sequence[ScoredPair | Sequence[str | float | int]],
    name: str = VISITORS,
    layers: Sequence[int] | None = None,
    poolings: Sequence[str] = ("cls", "mean", "max"),
    cures: Sequence[str] = ("none",),
    components: int = COMPONENTS,
    fit_texts: Sequence[str] = (),
    fitted_on: str = "",
) -> PairCosines:
    """The cosine of each pair by layer, pooling and cure; arguments and errors as of compare_similarity.

    Args:
        fitted_on: What fit_texts are, in words; "" = it goes without saying.
    """
    scored = _as_pairs(pairs)
    check_cures(cures)
    if isinstance(fit_texts, str):
        raise UnsuitableText("Give a list of texts to fit the cures on, or none.")
    needs_fit = any(CURES[cure].needs_fit for cure in cures)
    if needs_fit and 0 < len(fit_texts) < LEAST_VECTORS:
        said = fitted_on or f"{len(fit_texts)} texts"
        raise UnsuitableText(FEW_FIT_TEXTS.format(texts=said, least=LEAST_VECTORS))
    texts = list(dict.fromkeys(text for pair in scored for text in (pair.first, pair.second)))
    number = {text: index for index, text in enumerate(texts)}
    first = [number[pair.first] for pair in scored]
    second = [number[pair.second] for pair in scored]
    vectors, numbers, layer_count = embed_texts(model, texts, poolings=poolings, layers=layers)
    fitting = vectors
    if fit_texts and needs_fit:
        fitting, _, _ = embed_texts(model, list(fit_texts), poolings=poolings, layers=layers)
    cosines = np.empty((len(poolings), len(cures), len(numbers), len(scored)))
    for a, pooling in enumerate(poolings):
        for c, points in enumerate(vectors[pooling]):
            space = _space_of(fitting[pooling][c : c + 1]) if needs_fit else None
            for b, cure in enumerate(cures):
                cosines[a, b, c] = pair_cosines(
                    apply_cure(fit_cure(cure, space, components=components), points), first, second
                )
    return PairCosines(
        model=model.card.name,
        name=name,
        pairs=tuple(scored),
        texts=len(texts),
        dim=points.shape[1],
        fitted_on=fitted_on or (f"{len(fit_texts):,} other texts" if fit_texts else ON_PAIRS),
        fit_texts=len(fit_texts) or len(texts),
        own_pooling="mean" if Ability.EMBED_SENTENCES in model.card.abilities else "",
        layers=numbers,
        layer_count=layer_count,
        poolings=tuple(poolings),
        cures=tuple(cures),
        cosines=freeze_copy(cosines),
        unknown_texts=count_unknown(model, texts),
        limit_tokens=model.limit_tokens,
        cut_texts=count_cut(model, texts),
    )


def find_texts(
    model: LoadedModel,
    *,
    query: str,
    texts: Sequence[str],
    pooling: str = "mean",
    layer: int = -1,
    cure: str = "none",
    components: int = COMPONENTS,
    k: int = 10,
) -> FoundTexts:
    """The texts that are nearest to a query by cosine.

    Args:
        model: As compare_similarity takes it.
        query: A word or a sentence.
        texts: To be searched.
        pooling: A key of text_vectors.POOLINGS.
        layer: 0 = input embeddings, negative ones counted from the last.
        cure: A key of cures.CURES, fitted on the texts.
        components: As compare_similarity takes it.
        k: How many, from 1 to settings().most_choices.

    Raises:
        UnsuitableModel: As compare_similarity does.
        UnsuitableText: Likewise; or there is nothing to search.

    Source: Reimers and Gurevych 2019, https://arxiv.org/abs/1908.10084
    """
    check_option("k", k, settings().most_choices)
    check_cure(cure)
    if isinstance(texts, str) or not texts:
        raise UnsuitableText("There are no texts to search. Give a list of some.")
    [pooled] = pool_texts(model, texts, pooling=pooling, layers=[layer])
    [asked] = pool_texts(model, [query], pooling=pooling, layers=[layer])
    return search_texts(prepare_search(pooled, cure, components=components), asked, k=k)


def prepare_search(texts: PooledTexts, cure: str = "none", *, components: int = COMPONENTS) -> SearchableTexts:
    """Texts ready to be searched, so that a further query costs its own vector alone.

    Args:
        texts: As text_vectors.pool_texts pools them.
        cure: A key of cures.CURES, fitted on these texts.
        components: As compare_similarity takes it.

    Raises:
        UnsuitableText: There is no such cure, or there are too few texts to fit it on.
    """
    check_cure(cure)
    space = _space_of(texts.vectors[None]) if CURES[cure].needs_fit else None
    ready = fit_cure(cure, space, components=components)
    return SearchableTexts(texts, ready, prepare_points(np.asarray(apply_cure(ready, texts.vectors))))


def fit_layers(
    cure: str, vectors: Float[np.ndarray, "layer text dim"], *, components: int = COMPONENTS
) -> list[FittedCure]:
    """A cure ready for each layer, fitted on its vectors.

    Raises:
        UnsuitableText: There are too few vectors, or no such number of components.
    """
    needs_fit = CURES[cure].needs_fit
    return [
        fit_cure(cure, _space_of(one[None]) if needs_fit else None, components=components) for one in vectors
    ]  # fmt: skip


def pair_cosines(
    points: Float[np.ndarray, "text dim"], first: Sequence[int], second: Sequence[int]
) -> Float[np.ndarray, " pair"]:
    """The cosine of each pair; 0 where a vector is zeros.

    Args:
        points: The vectors of texts.
        first: Which is the one of each pair.
        second: Which is the other.
    """
    unit = unit_rows(points)
    return np.einsum("pd,pd->p", unit[list(first)], unit[list(second)]).round(DECIMALS)


def _as_pairs(pairs: Sequence[ScoredPair | Sequence[str | float | int]]) -> list[ScoredPair]:
    if isinstance(pairs, str) or not isinstance(pairs, Sequence):
        raise UnsuitableText("Give a list of pairs, each two texts and a score.")
    scored = []
    for number, pair in enumerate(pairs, start=1):
        if isinstance(pair, ScoredPair):
            scored.append(pair)
            continue
        cells = tuple(pair) if isinstance(pair, Sequence) and not isinstance(pair, str) else ()
        is_score = len(cells) == 3 and isinstance(cells[2], int | float) and not isinstance(cells[2], bool)
        if not is_score or not all(isinstance(text, str) for text in cells[:2]):
            raise UnsuitableText(f"Pair {number} must be two texts and a number; it is {pair!r}.")
        scored.append(ScoredPair(cells[0], cells[1], float(cells[2])))
    check_pairs(scored)
    return scored


def _space_of(vectors: Float[np.ndarray, "1 text dim"]) -> LayerSpace:
    """What a layer's vectors of texts are like; one layer at a time keeps the memory small."""
    sums = start_sums(1, vectors.shape[2])
    accumulate(sums, vectors)
    return describe_space(sums, 0)
