"""Senses in numbers, from a model: whether the uses of one sense are near each other, layer by layer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from explorer.analysis.anisotropy import sum_spaces
from explorer.analysis.blanks import check_option
from explorer.analysis.cured_senses import score_cured
from explorer.analysis.cures import COMPONENTS, CURES, check_cures
from explorer.analysis.embedding_results import Span
from explorer.analysis.embeddings import embed_occurrences
from explorer.analysis.sense_results import CuredSenses, SenseScores
from explorer.analysis.sense_scoring import MOST_SEED, check_senses, draw_words, score_vectors
from explorer.models.backend import LoadedModel


def score_senses(
    model: LoadedModel,
    *,
    sentences: Sequence[str],
    positions: Sequence[Span],
    senses: Sequence[str],
    layers: Sequence[int] | None = None,
    pieces: str = "mean",
    seed: int = 0,
) -> SenseScores:
    """How well each layer of a model tells the senses of a word apart.

    Args:
        model: As embed_occurrences takes it.
        sentences: Likewise.
        positions: Likewise.
        senses: The sense of each use; two different ones at least.
        layers: Likewise.
        pieces: Likewise.
        seed: Of the random words and the resampling, 0 or more.

    Returns:
        Accuracies, silhouette and self-similarity of each layer with intervals, beside chance, the most frequent sense
        and a bag of words.

    Raises:
        UnsuitableModel: As embed_occurrences does.
        UnsuitableText: Likewise; or senses are missing, or all are the same.

    Source: Peters et al. 2018, section 5.3, https://arxiv.org/abs/1802.05365; Rousseeuw 1987,
        https://doi.org/10.1016/0377-0427(87)90125-7; Ethayarajh 2019, https://arxiv.org/abs/1909.00512
    """
    check_senses(senses, sentences)
    check_option("seed", seed, MOST_SEED, least=0)
    drawn = draw_words(sentences, positions, seed)
    found = embed_occurrences(
        model,
        sentences=[*sentences, *(sentence for sentence, _ in drawn)],
        positions=[*positions, *(span for _, span in drawn)],
        layers=layers,
        pieces=pieces,
    )
    count = len(sentences)
    uses = replace(found, sentences=found.sentences[:count], vectors=found.vectors[:, :count])
    return score_vectors(uses, senses, random_words=found.vectors[:, count:], seed=seed)


def score_cured_senses(
    model: LoadedModel,
    *,
    sentences: Sequence[str],
    positions: Sequence[Span],
    senses: Sequence[str],
    corpus: Iterable[str],
    cures: Sequence[str] = tuple(CURES),
    pieces: str = "mean",
    components: int = COMPONENTS,
    unit: str = "tokens",
    specials: bool = False,
    seed: int = 0,
) -> tuple[CuredSenses, ...]:
    """How well each layer tells the senses of a word apart after cures, and which uses each cure changes.

    Args:
        model: As embed_occurrences takes it.
        sentences: Likewise.
        positions: Likewise.
        senses: The sense of each use; two different ones at least.
        corpus: The sentences that the cures are fitted on, as measure_anisotropy takes them: fitted on few uses,
            whitening makes every sense a cloud.
        cures: Keys of cures.CURES; "none" = as they are.
        pieces: As embed_occurrences takes it.
        components: How many principal components the cure "all_but_the_top" takes away.
        unit: Of the corpus, as measure_anisotropy takes it.
        specials: Likewise.
        seed: Of the resampling.

    Returns:
        One for each cure, in their order, of all layers.

    Raises:
        UnsuitableModel: As embed_occurrences and measure_anisotropy do.
        UnsuitableText: Likewise; or senses are missing, all are the same, or there is no such cure.

    Source: Timkey and van Schijndel 2021, https://arxiv.org/abs/2109.04404; McNemar 1947,
        https://doi.org/10.1007/BF02295996
    """
    check_senses(senses, sentences)
    check_option("seed", seed, MOST_SEED, least=0)
    check_cures(cures)
    uses = embed_occurrences(model, sentences=sentences, positions=positions, pieces=pieces)
    spaces = sum_spaces(model, sentences=corpus, unit=unit, specials=specials)
    return tuple(
        score_cured(uses, senses, cure=cure, spaces=spaces, components=components, seed=seed) for cure in cures
    )
