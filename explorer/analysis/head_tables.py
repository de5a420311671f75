"""Measures of heads, relations and ablations as tables for a spreadsheet; exporting.to_tables finds them here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from explorer.analysis.ablation_results import HeadAblation, HeadRanking
from explorer.analysis.head_choice import head_words
from explorer.analysis.head_measures import MEASURES
from explorer.analysis.head_results import HeadMeasures, RelationMatches

Cell = str | int | float | bool | None
Table = list[list[Cell]]


def _tables_of_measures(result: HeadMeasures) -> dict[str, Table]:
    rows: Table = [["model", "source", "texts", "stack", "layer", "head", "measure", "unit", "value"]]
    rows[0] += ["all_alike", "tokens"]
    about = [result.model, result.source, result.texts, result.stack]
    for key, values in result.values.items():
        for layer, head in np.ndindex(*values.shape):
            number = [key, MEASURES[key].unit, float(values[layer, head]), result.uniform[key], result.counts[key]]
            rows.append([*about, layer + 1, head + 1, *number])
    return {"heads": rows}


def _tables_of_relations(result: RelationMatches) -> dict[str, Table]:
    rows: Table = [["model", "source", "sentences", "stack", "relation", "words", "layer", "head", "accuracy"]]
    rows[0] += ["to_head", "from_head", "best_fixed_distance", "its_accuracy"]
    about = [result.model, result.source, result.sentences, result.stack]
    for one in result.relations:
        for layer, head in np.ndindex(*one.to_head.shape):
            each = [float(values[layer, head]) for values in (one.accuracy, one.to_head, one.from_head)]
            rows.append([*about, one.relation, one.count, layer + 1, head + 1, *each, one.offset, one.baseline])
    return {"relations": rows}


def _tables_of_ablation(result: HeadAblation) -> dict[str, Table]:
    about: list[Cell] = [result.model, result.text, result.second_text, head_words(result.heads), result.readout]
    head: list[Cell] = ["model", "text", "second_text", "heads_off", "readout"]
    tokens: Table = [[*head, "place", "heads", "rank", "text", "token", "token_id", "probability"]]
    answers: Table = [[*head, "place", "answer", "probability", "probability_after", "rank_after", "divergence_bits"]]
    for number, place in enumerate(result.places, start=1):
        for name, likeliest in (("on", place.before), ("off", place.after)):
            for rank, token in enumerate(likeliest, start=1):
                tokens.append([*about, number, name, rank, token.text, token.token, token.token_id, token.probability])
        answers.append(
            [*about, number, place.answer.text, place.answer.probability, place.answer_after, place.rank_after]
            + [place.divergence_bits]
        )
    embedding: Table = [[*head, "cosine"], [*about, result.cosine]]
    tables = {"tokens": tokens, "answers": answers} if result.places else {}
    return tables if result.cosine is None else tables | {"embedding": embedding}


def _tables_of_ranking(result: HeadRanking) -> dict[str, Table]:
    rows: Table = [["model", "text", "second_text", "readout", "stack", "layer", "head", "effect", "unit"]]
    rows[0] += ["change_of_probability"]
    about = [result.model, result.text, result.second_text, result.readout]
    for stack, effects in result.effects.items():
        for layer, head in np.ndindex(*effects.shape):
            numbers = [float(effects[layer, head]), result.unit, float(result.changes[stack][layer, head])]
            rows.append([*about, stack, layer + 1, head + 1, *numbers])
    return {"heads": rows}


HEAD_TABLES: dict[type, Callable[[Any], dict[str, Table]]] = {
    HeadMeasures: _tables_of_measures,
    RelationMatches: _tables_of_relations,
    HeadAblation: _tables_of_ablation,
    HeadRanking: _tables_of_ranking,
}
