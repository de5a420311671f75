"""Rogue dimensions: the few numbers of a vector that make up its cosine, and whether the model needs them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from jaxtyping import Float, Int

from explorer.analysis.anisotropy import MOST_DRAWN, MOST_SEED, VISITORS, count_corpus
from explorer.analysis.anisotropy_results import VALUES, DimensionAblation, Protocol, RogueDimensions
from explorer.analysis.blanks import check_option
from explorer.analysis.dimension_ablation import DRAWS, ablate_dimensions, predicts_tokens
from explorer.analysis.frozen_arrays import freeze_copy
from explorer.analysis.rank_correlation import measure_correlation, measure_spearman
from explorer.analysis.vector_samples import keep_batch, plan_sample, start_sample
from explorer.analysis.vector_spaces import describe_space, start_sums
from explorer.analysis.vector_stream import Corpus, check_corpus, stream_points
from explorer.analysis.vector_sums import accumulate
from explorer.errors import UnsuitableModel, UnsuitableText
from explorer.models.backend import LoadedModel
from explorer.models.layer_vectors import resolve_layers

MOST_TOP = 50
LEAST_COSINE = 1e-9  # a mean cosine below is none: there is nothing to have a share of


def find_rogue_dimensions(
    model: LoadedModel,
    *,
    sentences: Iterable[str],
    k: int = 5,
    corpus: str = VISITORS,
    layers: Sequence[int] | None = None,
    unit: str = "tokens",
    specials: bool = False,
    random_points: int = 500,
    places: int = 200,
    ablated: int = -1,
    value: str = "mean",
    seed: int = 0,
) -> RogueDimensions:
    """The numbers of a layer's vectors that add most to the mean cosine, and what is lost without them.

    A number i adds u_i v_i to the cosine of two vectors u and v at length 1; its contribution is the mean of that over
    all pairs of different tokens, by sums, not sampled. The contributions of all numbers sum to the mean cosine.

    Args:
        model: Any that gives token vectors; of an encoder-decoder the encoder.
        sentences: A corpus of any length, read twice, or three times with places, by the model once: a list, or
            anything that can be read again from the start. Memory does not grow with it.
        k: How many of the top numbers, from 1 to 50, and fewer than a vector has.
        corpus: Its name, for the protocol.
        layers: Which, 0 = input embeddings, negative ones counted from the last; None = all.
        unit: As measure_anisotropy takes it.
        specials: Likewise.
        random_points: So many vectors are drawn, and all pairs of them compared with and without the top numbers.
        places: How many predictions are compared with and without them, one in a sentence; 0 = none.
        ablated: Without the top numbers of which layer, negative ones counted from the last; one of the layers.
        value: What stands in their place: "mean" of the corpus, or "zero".
        seed: Of what is drawn.

    Returns:
        For each layer contributions and the top numbers, and how far cosines without them go with the cosines; for one
        layer of a masked or causal model what they do for predictions, beside numbers drawn at random.

    Raises:
        UnsuitableModel: It gives no vectors, or its tokenizer cannot say where a token stands.
        UnsuitableText: As measure_anisotropy does, or there is no such layer.

    Source: Timkey and van Schijndel 2021, https://arxiv.org/abs/2109.04404
    """
    whole = Corpus(sentences, unit, specials)
    check_corpus(model, whole)
    check_option("k", k, MOST_TOP)
    check_option("random_points", random_points, MOST_DRAWN, least=3)
    check_option("places", places, MOST_DRAWN, least=0)
    check_option("seed", seed, MOST_SEED, least=0)
    check_value(value)
    census = count_corpus(model, whole)
    plan = plan_sample(census, least_uses=2, words=0, uses=2, points=random_points, seed=seed)
    sums = sample = None
    for batch in stream_points(model, whole, words={}, layers=layers):
        if sums is None or sample is None:
            count, _, dim = batch.vectors.shape
            if k >= dim:
                raise UnsuitableText(f"k must be less than the {dim} numbers of a vector; it is {k}.")
            sums, sample = start_sums(count, dim), start_sample(plan, count, dim)
        accumulate(sums, batch.vectors)
        keep_batch(sample, batch.vectors, *plan.slots(batch))
    spaces = [describe_space(sums, layer) for layer in range(len(batch.layers))]
    top = np.stack([np.argsort(-space.contributions, kind="stable")[:k] for space in spaces])
    own = np.stack([space.contributions[dims] for space, dims in zip(spaces, top, strict=True)])
    cosines = np.array([space.mean_cosine for space in spaces])
    agreement = np.stack(
        [compare_without(points, dims) for points, dims in zip(sample.random, top, strict=True)]
    )  # [layer, measure, top]
    ablation, remarks = None, []
    [at] = resolve_layers(model, [ablated], batch.layer_count)
    if places and at in batch.layers:
        index, is_last = batch.layers.index(at), at == batch.layer_count - 1
        try:
            predicts_tokens(model)
            ablation = ablate_dimensions(
                model, whole, census, top[index], spaces[index].mean, layer=at, is_last=is_last, places=places,
                value=value, seed=seed,
            )  # fmt: skip
        except UnsuitableModel as error:
            remarks.append(f"Nothing is said about predictions: {error}")
    numbers = len(plan.points)
    return RogueDimensions(
        model=model.card.name,
        protocol=Protocol(
            corpus, census.sentences, census.points, len(census.uses), unit, specials, 2, 0, 0, 2, numbers, seed
        ),
        layers=batch.layers,
        layer_count=batch.layer_count,
        mean_cosine=freeze_copy(cosines),
        contributions=freeze_copy(np.stack([space.contributions for space in spaces])),
        centre=freeze_copy(np.stack([space.mean for space in spaces])),
        top=freeze_copy(top),
        shares=freeze_copy(
            np.divide(own, cosines[:, None], out=np.full(own.shape, np.nan), where=cosines[:, None] > LEAST_COSINE)
        ),
        means=freeze_copy(np.stack([space.mean[dims] for space, dims in zip(spaces, top, strict=True)])),
        deviations=freeze_copy(
            np.stack([np.sqrt(np.diag(space.covariance)[dims]) for space, dims in zip(spaces, top, strict=True)])
        ),
        r_squared=freeze_copy(agreement[:, 0]),
        spearman=freeze_copy(agreement[:, 1]),
        pairs=numbers * (numbers - 1) // 2,
        ablation=ablation,
        remarks=(*remarks, *_remarks(cosines, batch.layers)),
    )


def ablate_rogues(
    model: LoadedModel,
    *,
    found: RogueDimensions,
    sentences: Iterable[str],
    layer: int = -1,
    k: int = 5,
    places: int = 200,
    value: str = "mean",
    draws: int = DRAWS,
    seed: int = 0,
) -> DimensionAblation:
    """What dimensions that were found do for predictions, without reading the whole corpus again.

    Args:
        model: The one they were found in.
        found: With the layer, and k dimensions or more of it.
        sentences: The corpus they were found in.
        layer: Negative ones counted from the last.
        k: How many of them.
        places: As find_rogue_dimensions takes it, 1 or more.
        value: Likewise.
        draws: How often as many random numbers are drawn, to stand beside them, 1 or more.
        seed: As find_rogue_dimensions takes it.

    Raises:
        UnsuitableModel: It is neither masked nor causal, or the vectors of the layer cannot be changed.
        UnsuitableText: An option is out of range.

    Source: Timkey and van Schijndel 2021, https://arxiv.org/abs/2109.04404
    """
    predicts_tokens(model)
    check_option("k", k, found.top.shape[1])
    check_option("places", places, MOST_DRAWN)
    check_option("draws", draws, MOST_DRAWN)
    check_value(value)
    [at] = resolve_layers(model, [layer], found.layer_count)
    if at not in found.layers:
        raise UnsuitableText(f"Layer {at} was not measured; these were: {', '.join(map(str, found.layers))}.")
    index, whole = found.layers.index(at), Corpus(sentences, found.protocol.unit, found.protocol.specials)
    return ablate_dimensions(
        model, whole, count_corpus(model, whole), found.top[index, :k], found.centre[index], layer=at,
        is_last=at == found.layer_count - 1, places=places, value=value, draws=draws, seed=seed,
    )  # fmt: skip


def check_value(value: str) -> None:
    """Refuse what cannot stand in the place of a number."""
    if value not in VALUES:
        raise UnsuitableText(f"value must be one of: {', '.join(VALUES)}; it is {value!r}.")


def compare_without(
    points: Float[np.ndarray, "point dim"], dims: Int[np.ndarray, " top"]
) -> Float[np.ndarray, "measure top"]:
    """How far cosines go with those without the first, the first two, … of some numbers, over all pairs.

    Args:
        points: Three or more.
        dims: Numbers of a vector, in the order in which they are left out.

    Returns:
        Squared correlation, and rank correlation; not a number where all cosines are the same.
    """
    exact = points.astype(np.float64)
    first, second = np.triu_indices(len(exact), 1)
    products = exact @ exact.T
    squares = (exact * exact).sum(axis=1)
    intact = _cosines(products, squares)[first, second]
    found = np.empty((2, len(dims)))
    for number in range(len(dims)):
        # left out, not subtracted: beside a large number the others would lose their digits
        kept = np.delete(exact, dims[: number + 1], axis=1)
        less = _cosines(kept @ kept.T, (kept * kept).sum(axis=1))[first, second]
        correlation, rank = measure_correlation(intact, less), measure_spearman(intact, less)
        found[:, number] = np.nan if correlation is None else correlation**2, np.nan if rank is None else rank
    return found


def _cosines(
    products: Float[np.ndarray, "point point"], squares: Float[np.ndarray, " point"]
) -> Float[np.ndarray, "point point"]:
    lengths = np.sqrt(squares)
    scale = np.outer(lengths, lengths)
    return np.divide(products, scale, out=np.zeros_like(products), where=scale > 0)


def _remarks(cosines: Float[np.ndarray, " layer"], layers: Sequence[int]) -> Iterator[str]:
    none = [str(layer) for layer, cosine in zip(layers, cosines, strict=True) if cosine <= LEAST_COSINE]
    if none:
        yield f"The mean cosine of layer {', '.join(none)} is 0 or less: no number has a share of it."
