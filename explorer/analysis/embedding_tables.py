"""Vectors of uses, neighbours and scores of senses as tables for a spreadsheet; exporting.to_tables finds them here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from explorer.analysis.embedding_results import NearUses, Occurrences, StaticNeighbours, UseNeighbours
from explorer.analysis.projection_results import Projection
from explorer.analysis.sense_quiz import QuizAnswer
from explorer.analysis.sense_results import LayerSenses, SenseConfusion, SenseScores, UseSimilarity

Cell = str | int | float | bool | None
Table = list[list[Cell]]
ESTIMATES = ("nearest", "centroid", "silhouette", "self_similarity", "baseline")


def _tables_of_occurrences(result: Occurrences) -> dict[str, Table]:
    uses: Table = [["model", "pieces", "use", "sentence", "start", "end", "word", "tokens"]]
    vectors: Table = [["model", "pieces", "layer", "use", *(f"number_{dim}" for dim in range(result.vectors.shape[2]))]]
    about = [result.model, result.pieces]
    for index, sentence in enumerate(result.sentences):
        start, end = result.positions[index]
        uses.append([*about, index, sentence, start, end, result.words[index], " ".join(result.tokens[index])])
    for layer, points in zip(result.layers, result.vectors, strict=True):
        vectors += [[*about, layer, index, *numbers] for index, numbers in enumerate(points.tolist())]
    return {"uses": uses, "vectors": vectors}


def _tables_of_near_uses(result: NearUses) -> dict[str, Table]:
    rows: Table = [["model", "vector", "pieces", "query", "query_start", "query_end", "searched", "rank", "use"]]
    rows[0] += ["sentence", "start", "end", "sense", "cosine"]
    about = [result.model, result.vector, result.pieces, result.sentence, result.start, result.end, result.count]
    for rank, one in enumerate(result.neighbours, start=1):
        rows.append([*about, rank, one.index, one.sentence, one.start, one.end, one.sense, one.cosine])
    return {"neighbours": rows}


def _tables_of_static(result: StaticNeighbours) -> dict[str, Table]:
    rows: Table = [["source", "word", "tokens", "searched", "rank", "neighbour", "token", "cosine"]]
    about = [result.source, result.word, " ".join(result.tokens), result.count]
    for rank, one in enumerate(result.neighbours, start=1):
        rows.append([*about, rank, one.text, one.token, one.cosine])
    return {"neighbours": rows}


def _tables_of_use(result: UseNeighbours) -> dict[str, Table]:
    head, *rest = (_tables_of_near_uses(near)["neighbours"] for near in result.near)
    tables = {"uses": head + [row for table in rest for row in table[1:]]}
    return tables | ({"words": _tables_of_static(result.static)["neighbours"]} if result.static else {})


def _tables_of_senses(result: SenseScores) -> dict[str, Table]:
    layers: Table = [["model", "pieces", "uses", "vector", "layer"]]
    layers[0] += [f"{name}{end}" for name in ESTIMATES for end in ("", "_low", "_high")]
    layers[0] += ["chance_nearest", "chance_centroid", "most_frequent_sense", "bag_of_words"]
    scored: list[tuple[str, int | None, LayerSenses]] = [
        (f"layer {one.layer}", one.layer, one) for one in result.layers
    ]
    if result.joined:
        scored.append((result.joined[0], None, result.joined[1]))
    for vector, number, layer in scored:
        numbers: list[Cell] = []
        for name in ESTIMATES:
            estimate = getattr(layer, name)
            numbers += [None] * 3 if estimate is None else [estimate.value, estimate.low, estimate.high]
        without = [result.chance_nearest, result.chance_centroid, result.most_frequent, result.bag_of_words]
        layers.append([result.model, result.pieces, result.uses, vector, number, *numbers, *without])
    senses: Table = [["model", "sense", "uses"], *([result.model, sense, count] for sense, count in result.senses)]
    return {"layers": layers, "senses": senses}


def _tables_of_projection(result: Projection) -> dict[str, Table]:
    maps = result.maps
    about = [result.model, result.pieces, maps.method, maps.seed]
    axes = ["x", "y", "z"][: maps.coordinates.shape[2]]
    points: Table = [["model", "pieces", "method", "seed", "vector", "layer", "use", *axes]]
    points[0] += ["sentence", "start", "end", "word", "sense"]
    quality: Table = [["model", "pieces", "method", "seed", "vector", "layer", "points", "variance"]]
    quality[0] += ["trustworthiness", "k", "nearest_on_map", "nearest_in_space", "alike", "tied"]
    for place, (vector, drawn, one) in enumerate(zip(result.vectors, maps.coordinates, result.quality, strict=True)):
        layer = result.layers[place] if result.layers else None
        share = None if maps.shares is None else float(maps.shares[place].sum())
        quality.append([*about, vector, layer, one.points, share, one.trustworthiness, one.k])
        quality[-1] += [one.nearest_on_map, one.nearest_in_space, one.alike, one.tied]
        for use, numbers in enumerate(drawn.tolist()):
            row = [*about, vector, layer, use, *numbers, result.sentences[use], *result.positions[use]]
            row[0] = result.models[use] if result.models else result.model
            points.append([*row, result.words[use], result.senses[use]])
    return {"points": points, "quality": quality}


def _tables_of_similarity(result: UseSimilarity) -> dict[str, Table]:
    rows: Table = [["model", "pieces", "uses", "layer"]]
    rows[0] += [f"{name}{end}" for name in ESTIMATES[-2:] for end in ("", "_low", "_high")]
    for layer in result.layers:
        numbers: list[Cell] = []
        for estimate in (layer.self_similarity, layer.baseline):
            numbers += [None] * 3 if estimate is None else [estimate.value, estimate.low, estimate.high]
        rows.append([result.model, result.pieces, result.uses, layer.layer, *numbers])
    return {"layers": rows}


def _tables_of_confusion(result: SenseConfusion) -> dict[str, Table]:
    rows: Table = [["model", "vector", "pieces", "sense", "taken_for", "by_nearest_use", "by_centroid"]]
    about = [result.model, result.vector, result.pieces]
    for one, sense in enumerate(result.senses):
        for other, taken in enumerate(result.senses):
            rows.append([*about, sense, taken, result.nearest[one][other], result.centroid[one][other]])
    return {"confusion": rows}


def _tables_of_quiz(result: QuizAnswer) -> dict[str, Table]:
    rows: Table = [
        ["model", "vector", "question", "sentence_1", "choice", "sentence", "cosine", "is_right", "is_nearest"]
    ]
    about = [result.model, result.vector, result.seed, result.query]
    for place, (sentence, cosine) in enumerate(zip(result.sentences, result.cosines, strict=True)):
        is_nearest = (place == result.choice or place in result.tied) and not result.same
        rows.append([*about, "ABCD"[place], sentence, cosine, place == result.right, is_nearest])
    return {"quiz": rows}


EMBEDDING_TABLES: dict[type, Callable[[Any], dict[str, Table]]] = {
    Occurrences: _tables_of_occurrences,
    NearUses: _tables_of_near_uses,
    StaticNeighbours: _tables_of_static,
    UseNeighbours: _tables_of_use,
    SenseScores: _tables_of_senses,
    SenseConfusion: _tables_of_confusion,
    QuizAnswer: _tables_of_quiz,
    UseSimilarity: _tables_of_similarity,
    Projection: _tables_of_projection,
}
