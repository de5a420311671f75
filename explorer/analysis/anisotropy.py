"""Anisotropy: how far the vectors of each layer point the same way, what of it is due to words, and what cures it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from jaxtyping import Float

from explorer.analysis.anisotropy_metrics import METRICS
from explorer.analysis.anisotropy_results import Anisotropy, Protocol
from explorer.analysis.blanks import check_option
from explorer.analysis.cures import COMPONENTS, CURES, FittedCure, apply_cure, check_cures, fit_cure
from explorer.analysis.frozen_arrays import freeze_copy
from explorer.analysis.vector_samples import Sample, SamplePlan, keep_batch, measure_pairs, plan_sample, start_sample
from explorer.analysis.vector_spaces import LayerSpace, VectorSums, describe_space, start_sums
from explorer.analysis.vector_stream import Census, Corpus, PointBatch, check_corpus, stream_points, take_census
from explorer.analysis.vector_sums import accumulate
from explorer.errors import UnsuitableText
from explorer.models.backend import LoadedModel

VISITORS = "The visitor's sentences"
TOP_DIMENSIONS = 10  # whose covariance is told
LEAST_POINTS = 3
LEAST_UNKNOWN = 0.01  # share of the tokens that is worth a remark
MOST_DRAWN = 5_000
MOST_SEED = 2**32 - 1


def measure_anisotropy(
    model: LoadedModel,
    *,
    sentences: Iterable[str],
    corpus: str = VISITORS,
    layers: Sequence[int] | None = None,
    unit: str = "tokens",
    specials: bool = False,
    cure: str = "none",
    components: int = COMPONENTS,
    least_uses: int = 5,
    most_words: int = 200,
    most_uses: int = 50,
    random_points: int = 1_000,
    seed: int = 0,
) -> Anisotropy:
    """How the vectors of each layer use the directions there are.

    Args:
        model: Any that gives token vectors; of an encoder-decoder the encoder.
        sentences: A corpus of any length, read twice, or three times with a cure, by the model once or twice: a list,
            or anything that can be read again from the start. Memory does not grow with it.
        corpus: Its name, for the protocol.
        layers: Which, 0 = input embeddings, negative ones counted from the last; None = all.
        unit: What has a vector: "tokens", or "words", each the mean of its tokens, in any case of its letters.
        specials: Whether the special tokens that the tokenizer adds are among the tokens.
        cure: What is done to the vectors before: a key of cures.CURES, fitted on the same corpus.
        components: How many principal components the cure "all_but_the_top" takes away.
        least_uses: Self-similarity and explainable variance are of tokens, or words, with so many uses, 2 or more.
        most_words: The explainable variance and the histogram are of so many of these, drawn at random.
        most_uses: And of so many uses of each, drawn at random, 2 or more; all other numbers are of all there are.
        random_points: How many vectors are drawn for the histogram.
        seed: Of what is drawn.

    Returns:
        For each layer the value of each of METRICS, exact over all pairs; spectrum, histograms and the covariance of
        the dimensions that vary most.

    Raises:
        UnsuitableModel: It gives no vectors, or its tokenizer cannot say where a token stands.
        UnsuitableText: The corpus is too small, all its sentences are the same or all its tokens are; an option is out
            of range; or the model's numbers are not finite.

    Source: Ethayarajh 2019, https://arxiv.org/abs/1909.00512; Rudman et al. 2022, https://arxiv.org/abs/2108.07344
    """
    [measured] = measure_cures(
        model, sentences=sentences, corpus=corpus, layers=layers, unit=unit, specials=specials, cures=(cure,),
        components=components, least_uses=least_uses, most_words=most_words, most_uses=most_uses,
        random_points=random_points, seed=seed,
    )  # fmt: skip
    return measured


def measure_cures(
    model: LoadedModel,
    *,
    sentences: Iterable[str],
    corpus: str = VISITORS,
    layers: Sequence[int] | None = None,
    unit: str = "tokens",
    specials: bool = False,
    cures: Sequence[str] = tuple(CURES),
    components: int = COMPONENTS,
    least_uses: int = 5,
    most_words: int = 200,
    most_uses: int = 50,
    random_points: int = 1_000,
    seed: int = 0,
    spaces: Sequence[LayerSpace] | None = None,
) -> tuple[Anisotropy, ...]:
    """The same before and after several cures, from two forward passes over the corpus however many there are.

    Args:
        model: As measure_anisotropy takes it.
        sentences: Likewise.
        corpus: Likewise.
        layers: Likewise.
        unit: Likewise.
        specials: Likewise.
        cures: Keys of cures.CURES, each fitted on the same corpus; "none" = as they are.
        components: Likewise.
        least_uses: Likewise.
        most_words: Likewise.
        most_uses: Likewise.
        random_points: Likewise.
        seed: Likewise.
        spaces: What sum_spaces gives for the same corpus, which saves one of the passes; None = it is summed here.

    Returns:
        One for each cure, in their order, of the same words and drawn with the same seed.

    Raises:
        UnsuitableModel: As measure_anisotropy does.
        UnsuitableText: Likewise.

    Source: Timkey and van Schijndel 2021, https://arxiv.org/abs/2109.04404
    """
    whole = Corpus(sentences, unit, specials)
    check_corpus(model, whole)
    check_cures(cures)
    check_option("most_words", most_words, MOST_DRAWN, least=0)
    check_option("most_uses", most_uses, MOST_DRAWN, least=2)
    check_option("random_points", random_points, MOST_DRAWN, least=2)
    check_option("least_uses", least_uses, MOST_SEED, least=2)
    check_option("seed", seed, MOST_SEED, least=0)
    check_option("components", components, MOST_DRAWN)
    census = count_corpus(model, whole)
    plan = plan_sample(census, least_uses=least_uses, words=most_words, uses=most_uses, points=random_points, seed=seed)
    protocol = Protocol(
        corpus, census.sentences, census.points, len(census.uses), unit, specials, least_uses,
        len(plan.words), len(plan.kept), most_uses, len(plan.points), seed,
    )  # fmt: skip
    fitted: list[list[FittedCure]] = []
    if any(CURES[cure].needs_fit for cure in cures):
        spaces = sum_corpus(model, whole, layers) if spaces is None else spaces
        fitted = [[fit_cure(cure, space, components=components) for space in spaces] for cure in cures]
    each: list[tuple[VectorSums, Sample]] = []
    for batch in stream_points(model, whole, words=plan.words, layers=layers):
        if not each:
            count, _, dim = batch.vectors.shape
            fitted = fitted or [[fit_cure(cure, None)] * count for cure in cures]
            plan.check_room(len(cures), count, dim)
            each = [(start_sums(count, dim, words=len(plan.words)), start_sample(plan, count, dim)) for _ in cures]
        slots = plan.slots(batch)
        for cure, (sums, sample) in zip(fitted, each, strict=True):
            vectors = _apply(cure, batch)
            accumulate(sums, vectors, batch.words, batch.sentences)
            keep_batch(sample, vectors, *slots)
    remarks = tuple(_remarks(census, plan))
    return tuple(
        _result(model, cure, protocol, batch, sums, sample, remarks)
        for cure, (sums, sample) in zip(cures, each, strict=True)
    )


def count_corpus(model: LoadedModel, corpus: Corpus) -> Census:
    """What is in a corpus, if it is large enough to be measured.

    Raises:
        UnsuitableText: It is not; the message says what is missing.
    """
    census = take_census(model, corpus)
    if census.points < LEAST_POINTS:
        counted = f"is only 1 {corpus.unit[:-1]}" if census.points == 1 else f"are only {census.points} {corpus.unit}"
        raise UnsuitableText(f"There {counted}, and {LEAST_POINTS} are needed at least. Give more sentences.")
    if len(census.uses) < 2:
        raise UnsuitableText("The corpus is one word again and again. Give sentences of different words.")
    if census.sentences > 1 and not census.differ:
        raise UnsuitableText("All sentences are the same, and so are their vectors. Give different ones.")
    return census


def sum_spaces(
    model: LoadedModel, *, sentences: Iterable[str], unit: str = "tokens", specials: bool = False
) -> tuple[LayerSpace, ...]:
    """The space of every layer on a corpus, for measure_cures and for cured_senses.score_cured.

    Args:
        model: As measure_anisotropy takes it.
        sentences: Likewise.
        unit: Likewise.
        specials: Likewise.

    Raises:
        UnsuitableModel: As measure_anisotropy does.
        UnsuitableText: Likewise.
    """
    corpus = Corpus(sentences, unit, specials)
    check_corpus(model, corpus)
    count_corpus(model, corpus)
    return tuple(sum_corpus(model, corpus))


def sum_corpus(model: LoadedModel, corpus: Corpus, layers: Sequence[int] | None = None) -> list[LayerSpace]:
    """Each layer's space on a corpus, from one forward pass, without words and sentences.

    Args:
        model: As measure_anisotropy takes it.
        corpus: Large enough.
        layers: As measure_anisotropy takes them.
    """
    sums = None
    for batch in stream_points(model, corpus, words={}, layers=layers):
        if sums is None:
            sums = start_sums(batch.vectors.shape[0], batch.vectors.shape[2])
        accumulate(sums, batch.vectors)
    return [describe_space(sums, layer) for layer in range(len(batch.layers))]


def _apply(cure: list[FittedCure], batch: PointBatch) -> Float[np.ndarray, "layer point dim"]:
    if cure[0].name == "none":
        return batch.vectors
    return np.stack([apply_cure(one, points) for one, points in zip(cure, batch.vectors, strict=True)])


def _result(
    model: LoadedModel,
    cure: str,
    protocol: Protocol,
    batch: PointBatch,
    sums: VectorSums,
    sample: Sample,
    remarks: tuple[str, ...],
) -> Anisotropy:
    spaces = [describe_space(sums, layer, sample.uses(layer)) for layer in range(len(batch.layers))]
    top = np.stack([np.argsort(-np.diag(space.covariance), kind="stable")[:TOP_DIMENSIONS] for space in spaces])
    covariance = np.stack([space.covariance[np.ix_(dims, dims)] for space, dims in zip(spaces, top, strict=True)])
    totals = np.array([[space.spectrum.sum()] for space in spaces])
    spectra = np.stack([space.spectrum for space in spaces])
    edges, random_pairs, same_word = measure_pairs(sample)
    flat = [str(layer) for layer, total in zip(batch.layers, totals[:, 0], strict=True) if total == 0]
    if flat:
        remarks += (f"All vectors of layer {', '.join(flat)} are the same: there is no variance to be shared.",)
    return Anisotropy(
        model=model.card.name,
        cure=cure,
        protocol=protocol,
        layers=batch.layers,
        layer_count=batch.layer_count,
        dim=spaces[0].dim,
        metrics={key: tuple(metric.measure(space) for space in spaces) for key, metric in METRICS.items()},
        isotropic={key: metric.isotropic(spaces[0]) for key, metric in METRICS.items()},
        spectrum=freeze_copy(np.divide(spectra, totals, out=np.zeros_like(spectra), where=totals > 0)),
        edges=freeze_copy(edges),
        random_pairs=freeze_copy(random_pairs),
        same_word=freeze_copy(same_word),
        top_dimensions=freeze_copy(top),
        covariance=freeze_copy(covariance),
        remarks=remarks,
    )


def _remarks(census: Census, plan: SamplePlan) -> Iterator[str]:
    if census.readings > census.sentences:
        yield "Sentences longer than the model reads were read in parts, each as a sentence of its own."
    if census.unknown >= LEAST_UNKNOWN * census.tokens:
        told = f"{census.unknown:,} of the {census.tokens:,} tokens, special ones included,"
        if census.unknown == 1:
            yield f"{told} is unknown to this model, whose vocabulary lacks the word, the sign or its script."
        else:
            yield (
                f"{told} are unknown to this model, whose vocabulary lacks these words, signs or their script: it sees "
                "the same sign for each, and their vectors are alike."
            )
    if not plan.words:
        yield (f"Nothing is used {plan.least_uses} times or more: there is no self-similarity. Give more text.")
    if plan.left_out:
        yield (
            f"{plan.left_out:,} of those used {plan.least_uses} times were left out at random, so that the memory is "
            "bounded."
        )
