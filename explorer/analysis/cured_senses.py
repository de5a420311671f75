"""What a cure does to the senses of a word: the same uses judged before and after, one by one. Free of torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Bool

from explorer.analysis.cures import COMPONENTS, cure_layers, fit_cure, remark_on_fit
from explorer.analysis.embedding_results import Occurrences
from explorer.analysis.intervals import sign_test
from explorer.analysis.sense_results import CuredLayer, CuredSenses, PairedUses
from explorer.analysis.sense_scoring import judge_uses, score_vectors
from explorer.analysis.vector_spaces import LayerSpace


def score_cured(
    occurrences: Occurrences,
    senses: Sequence[str],
    *,
    cure: str,
    spaces: Sequence[LayerSpace],
    components: int = COMPONENTS,
    seed: int = 0,
) -> CuredSenses:
    """How well the vectors of uses tell the senses of a word apart after a cure, and which uses that changes.

    Args:
        occurrences: Uses of one word.
        senses: The sense of each.
        cure: A key of cures.CURES.
        spaces: Of the same layers on the corpus that the cure is fitted on, as anisotropy.sum_corpus gives them.
        components: How many principal components the cure "all_but_the_top" takes away.
        seed: Of the resampling, as score_vectors takes it.

    Raises:
        UnsuitableText: As fit_cure and score_vectors do; or the spaces are of other layers.

    Source: Timkey and van Schijndel 2021, https://arxiv.org/abs/2109.04404; McNemar 1947,
        https://doi.org/10.1007/BF02295996
    """
    ready = [fit_cure(cure, space, components=components) for space in spaces]
    cured = replace(occurrences, vectors=cure_layers(ready, occurrences.vectors))
    scores = score_vectors(cured, senses, seed=seed)
    scores = replace(scores, remarks=(*scores.remarks, *remark_on_fit(cure, spaces[0].count, spaces[0].dim)))
    names = list(dict.fromkeys(senses))
    labels = np.array([names.index(sense) for sense in senses])
    layers = []
    for layer, before, after in zip(occurrences.layers, occurrences.vectors, cured.vectors, strict=True):
        sides = zip(judge_uses(before, labels), judge_uses(after, labels), strict=True)
        layers.append(CuredLayer(layer, *(pair_uses(*side) for side in sides)))
    return CuredSenses(cure, components if cure == "all_but_the_top" else None, scores, tuple(layers))


def pair_uses(before: Bool[np.ndarray, " point"], after: Bool[np.ndarray, " point"]) -> PairedUses:
    """How many uses became right, and how many wrong.

    Args:
        before: Whether each was right.
        after: Likewise.
    """
    gained, lost = int((after & ~before).sum()), int((before & ~after).sum())
    return PairedUses(gained, lost, sign_test(gained, lost))
