"""Anisotropy, rogue dimensions and similarity as tables for a spreadsheet; exporting.to_tables finds them here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from explorer.analysis.anisotropy_results import Anisotropy, FoundTexts, RogueDimensions, SimilarityScores
from explorer.analysis.pair_results import RankedPairs
from explorer.analysis.sense_results import CuredSenses

Cell = str | int | float | bool | None
Table = list[list[Cell]]


def _tables_of_anisotropy(result: Anisotropy) -> dict[str, Table]:
    head: list[Cell] = ["model", "cure", "protocol"]
    about: list[Cell] = [result.model, result.cure, str(result.protocol)]
    metrics: Table = [[*head, "layer", "metric", "value", "isotropic"]]
    for key, values in result.metrics.items():
        for layer, value in zip(result.layers, values, strict=True):
            metrics.append([*about, layer, key, value, result.isotropic[key]])
    spectrum: Table = [[*head, "layer", "component", "share_of_variance"]]
    histogram: Table = [[*head, "layer", "from_cosine", "to_cosine", "random_pairs", "same_word"]]
    covariance: Table = [[*head, "layer", "dimension", "other_dimension", "covariance"]]
    edges = result.edges.tolist()
    for index, layer in enumerate(result.layers):
        spectrum += [[*about, layer, rank, share] for rank, share in enumerate(result.spectrum[index].tolist(), 1)]
        shares = zip(edges[:-1], edges[1:], result.random_pairs[index].tolist(), result.same_word[index].tolist(),
                     strict=True)  # fmt: skip
        histogram += [[*about, layer, *row] for row in shares]
        dims = result.top_dimensions[index].tolist()
        for dim, row in zip(dims, result.covariance[index].tolist(), strict=True):
            covariance += [[*about, layer, dim, other, value] for other, value in zip(dims, row, strict=True)]
    return {"metrics": metrics, "spectrum": spectrum, "histogram": histogram, "covariance": covariance}


def _tables_of_rogues(result: RogueDimensions) -> dict[str, Table]:
    head: list[Cell] = ["model", "protocol"]
    about: list[Cell] = [result.model, str(result.protocol)]
    top: Table = [[*head, "layer", "mean_cosine", "rank", "dimension", "contribution", "share_of_mean_cosine", "mean"]]
    top[0] += ["standard_deviation", "pairs", "r_squared_without", "spearman_without"]
    contributions: Table = [["model", "layer", "dimension", "contribution"]]  # many: the protocol stands in the others
    for index, layer in enumerate(result.layers):
        own = result.contributions[index].tolist()
        contributions += [[result.model, layer, dim, value] for dim, value in enumerate(own)]
        arrays = (result.shares, result.means, result.deviations, result.r_squared, result.spearman)
        columns = [array[index].tolist() for array in arrays]
        for rank, (dim, share, mean, deviation, squared, ranked) in enumerate(
            zip(result.top[index].tolist(), *columns, strict=True), start=1
        ):
            row = [*about, layer, float(result.mean_cosine[index]), rank, dim, own[dim], share, mean, deviation]
            top.append([*row, result.pairs, squared, ranked])
    predictions: Table = [[*head, "layer", "value", "places", "without", "divergence_bits", "kept"]]
    predictions[0] += ["low_bits", "high_bits", "draws", "random_divergence_bits", "random_kept", "random_least_bits"]
    predictions[0] += ["random_most_bits"]
    if result.ablation:
        said = result.ablation
        of_random = (said.random, said.random_kept, said.random_least, said.random_most)
        for one, *random in zip(said.rogue, *of_random, strict=True):
            dims = " ".join(map(str, one.dimensions))
            row = [*about, said.layer, said.value, said.places, dims, one.divergence_bits, one.kept]
            predictions.append([*row, one.low_bits, one.high_bits, said.draws, *random])
    return {"top": top, "contributions": contributions, "predictions": predictions}


def _tables_of_similarity(result: SimilarityScores) -> dict[str, Table]:
    rows: Table = [["model", "pairs_of", "pairs", "fitted_on", "pooling", "cure", "layer", "spearman", "low", "high"]]
    rows[0] += ["change", "change_low", "change_high"]
    about = [result.model, result.name, result.pairs, result.fitted_on]
    for one in result.scores:
        change = [one.change.value, one.change.low, one.change.high] if one.change else [None] * 3
        rows.append([*about, one.pooling, one.cure, one.layer, one.spearman, one.low, one.high, *change])
    return {"similarity": rows}


def _tables_of_ranked(result: RankedPairs) -> dict[str, Table]:
    rows: Table = [["model", "pairs_of", "vector", "first", "second", "kind", "score", "cosine", "place_by_score"]]
    rows[0] += ["place_by_model"]
    about = [result.model, result.name, result.vector]
    rows += [
        [*about, one.first, one.second, one.kind, one.score, one.cosine, one.by_score, one.by_model]
        for one in result.pairs
    ]
    return {"pairs": rows}


def _tables_of_found(result: FoundTexts) -> dict[str, Table]:
    rows: Table = [["model", "query", "vector", "searched", "rank", "index", "text", "cosine"]]
    about = [result.model, result.query, result.vector, result.count]
    rows += [[*about, rank, one.index, one.text, one.cosine] for rank, one in enumerate(result.found, start=1)]
    return {"texts": rows}


def _tables_of_cured(result: CuredSenses) -> dict[str, Table]:
    scores = result.scores
    rows: Table = [["model", "pieces", "cure", "components", "uses", "layer", "measure", "right", "low", "high"]]
    rows[0] += ["became_right", "became_wrong", "p"]
    for scored, changed in zip(scores.layers, result.layers, strict=True):
        about: list[Cell] = [scores.model, scores.pieces, result.cure, result.components, scores.uses, changed.layer]
        sides = (("nearest", scored.nearest, changed.nearest), ("centroid", scored.centroid, changed.centroid))
        for measure, right, pair in sides:
            rows.append([*about, measure, right.value, right.low, right.high, pair.gained, pair.lost, pair.p])
    return {"cured_senses": rows}


ANISOTROPY_TABLES: dict[type, Callable[[Any], dict[str, Table]]] = {
    Anisotropy: _tables_of_anisotropy,
    RogueDimensions: _tables_of_rogues,
    SimilarityScores: _tables_of_similarity,
    FoundTexts: _tables_of_found,
    CuredSenses: _tables_of_cured,
    RankedPairs: _tables_of_ranked,
}
