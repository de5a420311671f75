"""Anisotropy, rogue dimensions and similarity as text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from explorer.terminal import columns, percent

if TYPE_CHECKING:
    from explorer.analysis.anisotropy_results import Anisotropy, FoundTexts, RogueDimensions, SimilarityScores

SHOWN = 60  # characters of a text


def describe_anisotropy(results: tuple[Anisotropy, ...]) -> str:
    """For each cure one line for each metric, a column for each layer."""
    parts = []
    for result in results:
        rows = [["layer", *result.layers, "isotropic"]]
        for key, values in result.metrics.items():
            rows.append([key, *map(_number, values), _number(result.isotropic[key])])
        name = "As they are" if result.cure == "none" else f"After {result.cure}"
        parts.append(f"{name}\n" + columns(rows, right=range(1, len(rows[0]))))
    last = results[-1]
    about = f"Model: {last.model} · {last.dim} numbers · layer 0 = input embeddings\n{last.protocol}"
    return "\n\n".join([*parts, "\n".join([*last.remarks, about])])


def describe_rogues(result: RogueDimensions) -> str:
    """One line for each layer, then what the top dimensions of the last do for predictions."""
    rows = [["layer", "mean cosine", "r² without top 1", f"without top {result.top.shape[1]}", "top dimensions"]]
    for index, layer in enumerate(result.layers):
        shares = [
            f"{dim} ({'-' if share != share else percent(share)})"
            for dim, share in zip(result.top[index].tolist(), result.shares[index].tolist(), strict=True)
        ]
        fits = result.r_squared[index]
        rows.append([layer, f"{result.mean_cosine[index]:.3f}", f"{fits[0]:.2f}", f"{fits[-1]:.2f}", "  ".join(shares)])
    parts = [columns(rows, right=range(4))]
    said = result.ablation
    if said:
        rows = [["without", "divergence, bits", "95 %", "same first choice", "random dimensions, bits", "from - to",
                 "same first choice"]]  # fmt: skip
        of_random = (said.random, said.random_least, said.random_most, said.random_kept)
        for one, random, least, most, kept in zip(said.rogue, *of_random, strict=True):
            own = [f"{one.divergence_bits:.4f}", f"{one.low_bits:.4f} - {one.high_bits:.4f}", percent(one.kept)]
            others = [f"{random:.4f}", f"{least:.4f} - {most:.4f}", percent(kept)]
            rows.append([" ".join(map(str, one.dimensions)), *own, *others])
        title = f"Predictions at {said.places:,} places, dimensions of layer {said.layer} set to their {said.value}"
        parts.append(f"{title}; {said.draws} draws of random ones\n" + columns(rows, right=range(1, 7)))
    about = f"Model: {result.model} · r² of cosines over {result.pairs:,} pairs\n{result.protocol}"
    return "\n\n".join([*parts, "\n".join([*result.remarks, about])])


def describe_similarity(result: SimilarityScores) -> str:
    """One line for each pooling and cure, a column for each layer."""
    layers = sorted({one.layer for one in result.scores})
    found = {(one.pooling, one.cure, one.layer): one.spearman for one in result.scores}
    rows = [["pooling", "cure", *layers]]
    for pooling, cure in dict.fromkeys((one.pooling, one.cure) for one in result.scores):
        rows.append([pooling, cure, *(_number(found[pooling, cure, layer]) for layer in layers)])
    about = f"Spearman's correlation with the scores, {result.pairs:,} pairs of {result.texts:,} texts: {result.name}"
    fitted = f"Model: {result.model} · cures fitted on {result.fitted_on}"
    return columns(rows, right=range(2, len(rows[0]))) + "\n\n" + "\n".join([*result.remarks, about, fitted])


def describe_texts(result: FoundTexts) -> str:
    """One line for each text, nearest first."""
    rows = [["cosine", "number", "text"]]
    for one in result.found:
        text = " ".join(one.text.split())
        rows.append([f"{one.cosine:.3f}", one.index, text if len(text) <= SHOWN else text[:SHOWN] + "…"])
    about = f"Model: {result.model} · {result.vector} · nearest of {result.count:,} texts"
    return f"Query: {result.query}\n\n" + columns(rows, right=[0, 1]) + "\n\n" + "\n".join([*result.remarks, about])


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
