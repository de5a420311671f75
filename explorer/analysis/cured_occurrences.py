"""Uses of words after a cure, so that neighbours and senses can be asked of them as before."""

from __future__ import annotations

from dataclasses import replace

from explorer.analysis.cures import COMPONENTS, CURES, check_cure, cure_layers
from explorer.analysis.embedding_results import Occurrences
from explorer.analysis.similarity import fit_layers


def cure_occurrences(occurrences: Occurrences, *, cure: str, components: int = COMPONENTS) -> Occurrences:
    """The same uses with cured vectors, e.g. for senses.score_vectors or vectors.choose_vectors.

    Args:
        occurrences: Of one word or many; the cure is fitted on them, layer by layer, without their senses. Fewer uses
            than a vector has numbers are all equally near each other once they are whitened; cured_senses.score_cured
            takes a cure that was fitted on a corpus.
        cure: A key of cures.CURES.
        components: How many principal components the cure "all_but_the_top" takes away.

    Raises:
        UnsuitableText: There is no such cure, or there are too few uses to fit it on.

    Source: Timkey and van Schijndel 2021, https://arxiv.org/abs/2109.04404
    """
    check_cure(cure)
    ready = fit_layers(cure, occurrences.vectors, components=components)
    vectors = cure_layers(ready, occurrences.vectors)
    remark = () if cure == "none" else (f"The vectors are cured, fitted on these uses: {CURES[cure].label.lower()}.",)
    return replace(occurrences, vectors=vectors, remarks=(*occurrences.remarks, *remark))
