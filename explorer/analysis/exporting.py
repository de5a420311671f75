"""Results as plain data to take away: JSON, and tables for a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from explorer.analysis.anisotropy_tables import ANISOTROPY_TABLES
from explorer.analysis.attention_tables import ATTENTION_TABLES
from explorer.analysis.embedding_tables import EMBEDDING_TABLES
from explorer.analysis.generation_tables import GENERATION_TABLES
from explorer.analysis.head_tables import HEAD_TABLES
from explorer.analysis.language_sampling import LanguageShare
from explorer.analysis.results import (
    BlankFills,
    BlankReveal,
    CandidateRanking,
    TextContrast,
    Tokenization,
    TrainingTrace,
)
from explorer.analysis.score_tables import SCORE_TABLES
from explorer.analysis.span_results import SpanFills
from explorer.analysis.training_results import TrainingExample

Cell = str | int | float | bool | None
Table = list[list[Cell]]  # the first row names the columns

# A spreadsheet runs a cell that starts like this as a formula; an apostrophe in front makes it text.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def to_json(result: object) -> Any:
    """A frozen result as what JSON knows: dicts, lists, strings, numbers, booleans and None.

    Args:
        result: A result or a card, or a tuple, list, set or dict of such; numbers that are not finite become None, and
            fields marked as bulk (next_token_results.BULK) are left out.

    Raises:
        TypeError: Something in it has no place in JSON.
    """
    if is_dataclass(result) and not isinstance(result, type):
        small = [field for field in fields(result) if not field.metadata.get("bulk")]
        return {field.name: to_json(getattr(result, field.name)) for field in small}
    if isinstance(result, np.ndarray | np.generic):
        return to_json(result.tolist())
    if isinstance(result, dict):
        return {str(key): to_json(value) for key, value in result.items()}
    if isinstance(result, set | frozenset):
        return sorted(to_json(value) for value in result)
    if isinstance(result, list | tuple):
        return [to_json(value) for value in result]
    if isinstance(result, float):
        return result if np.isfinite(result) else None
    if result is None or isinstance(result, str | int | bool):
        return result
    raise TypeError(f"{type(result).__name__} has no place in JSON")


def to_tables(result: object) -> dict[str, Table]:
    """A result as tables, by name, each row of which says the model and what the numbers mean.

    Args:
        result: Of an analysis in TABLES, or a tuple of such results, whose rows are put under each other.

    Returns:
        Unescaped cells, a row of column names first.

    Raises:
        TypeError: The result has no tables.
    """
    if isinstance(result, tuple) and result:
        merged = to_tables(result[0])
        for other in result[1:]:
            for name, rows in to_tables(other).items():
                merged[name] += rows[1:]
        return merged
    if type(result) not in TABLES:
        raise TypeError(f"{type(result).__name__} has no tables")
    return TABLES[type(result)](result)


def escape_formulas(table: Table) -> Table:
    """A table that is safe to open in a spreadsheet: no text of it is run as a formula; numbers stay numbers."""
    return [
        [f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA_STARTS) else cell for cell in row]
        for row in table
    ]


def to_csv(table: Table) -> str:
    """A table as CSV (RFC 4180), formulas escaped."""
    written = io.StringIO(newline="")
    csv.writer(written).writerows(escape_formulas(table))
    return written.getvalue()


def _tables_of_fills(result: BlankFills) -> dict[str, Table]:
    choices: Table = [["model", "text", "blank", "rank", "choice", "token", "token_id", "probability", "entropy_bits"]]
    for number, blank in enumerate(result.blanks, start=1):
        for rank, choice in enumerate(blank.choices, start=1):
            choices.append(
                [result.model, result.text, number, rank, choice.text, choice.token, choice.token_id]
                + [choice.probability, blank.entropy_bits]
            )
    fills = [f"fill_{number}" for number in range(1, len(result.blanks) + 1)]
    completions: Table = [["model", "text", "strategy", "score", "rank", "completion", "log_probability_nats", *fills]]
    for rank, completion in enumerate(result.completions, start=1):
        completions.append(
            [result.model, result.text, result.strategy, result.score, rank]
            + [completion.text, completion.log_probability, *completion.fills]
        )
    return {"choices": choices, "completions": completions}


def _tables_of_reveal(result: BlankReveal) -> dict[str, Table]:
    steps: Table = [["model", "text", "strategy", "step", "text_before", "blank", "is_filled_now", "rank"]]
    steps[0] += ["choice", "probability", "entropy_bits"]
    for number, step in enumerate(result.steps, start=1):
        for index, blank in enumerate(step.blanks):
            for rank, choice in enumerate(blank.choices if blank else (), start=1):
                steps.append(
                    [result.model, result.text, result.strategy, number, step.text, index + 1]
                    + [index == step.filled_blank, rank, choice.text, choice.probability, blank.entropy_bits]
                )
    return {"steps": steps}


def _tables_of_ranking(result: CandidateRanking) -> dict[str, Table]:
    rows: Table = [["model", "text", "score", "blank", "rank", "candidate", "tokens", "is_own"]]
    rows[0] += ["log_probability_nats", "log_probability_per_token_nats"]
    for number, ranking in enumerate(result.blanks, start=1):
        for rank, candidate in enumerate(ranking, start=1):
            rows.append(
                [result.model, result.text, result.score, number, rank, candidate.text, " ".join(candidate.tokens)]
                + [candidate.is_own, candidate.log_probability, candidate.log_probability_per_token]
            )
    return {"candidates": rows}


def _tables_of_contrast(result: TextContrast) -> dict[str, Table]:
    rows: Table = [["model", "text", "other_text", "blank", "word", "probability", "other_probability"]]
    rows[0] += ["log_odds_ratio_nats", "divergence_bits"]
    for word in result.words:
        rows.append(
            [result.model, result.text, result.other_text, result.blank, word.text, word.probability]
            + [word.other_probability, word.log_odds_ratio, result.divergence_bits]
        )
    return {"words": rows}


def _tables_of_spans(result: SpanFills) -> dict[str, Table]:
    choices: Table = [["model", "text", "method", "score", "blank", "rank", "choice", "tokens", "log_probability_nats"]]
    for number, span in enumerate(result.spans, start=1):
        for rank, choice in enumerate(span.choices, start=1):
            choices.append(
                [result.model, result.text, result.method, result.score, number, rank]
                + [choice.text, choice.length_tokens, choice.log_probability]
            )
    completions: Table = [["model", "text", "method", "score", "rank", "completion", "log_probability_nats"]]
    for rank, completion in enumerate(result.completions, start=1):
        completions.append(
            [result.model, result.text, result.method, result.completion_score, rank]
            + [completion.text, completion.log_probability]
        )
    return {"choices": choices, "completions": completions}


def _tables_of_tokenization(result: Tokenization) -> dict[str, Table]:
    rows: Table = [["model", "index", "token", "token_id", "is_special", "is_unknown", "start", "end"]]
    for index, piece in enumerate(result.pieces):
        rows.append(
            [result.model, index, piece.token, piece.token_id, piece.is_special, piece.is_unknown]
            + [piece.start, piece.end]
        )
    return {"tokens": rows}


def _tables_of_trace(result: TrainingTrace) -> dict[str, Table]:
    scores: Table = [["model", "tokens", "seconds", "score", "value"]]
    answers: Table = [["model", "tokens", "prompt", "answer"]]
    for point in result.points:
        scores += [[result.model, point.tokens, point.seconds, *score] for score in point.scores.items()]
        answers += [[result.model, point.tokens, *answer] for answer in point.answers]
    return {"scores": scores, "answers": answers}


def _tables_of_example(result: TrainingExample) -> dict[str, Table]:
    about = [result.model, result.text, result.objective, result.noise, result.seed]
    head: list[Cell] = ["model", "text", "objective", "noise", "seed"]
    tables: dict[str, Table] = {}
    for name, tokens in (("tokens", result.tokens), ("inputs", result.inputs)):
        rows = [[*about, index, each.token, each.token_id, each.fate] for index, each in enumerate(tokens)]
        tables[name] = [[*head, "index", "token", "token_id", "fate"], *rows]
    if result.segments:
        named = ["segment", *("AB"[segment] for segment in result.segments)]
        tables["inputs"] = [[*row, name] for row, name in zip(tables["inputs"], named, strict=True)]
    answers: Table = [[*head, "token_index", "direction", "right", "guess", "probability", "loss_nats"]]
    for each in result.answers:
        answers.append([*about, each.index, each.direction, each.right, each.guess, each.probability, each.loss_nats])
    return tables | {"answers": answers}


def _tables_of_language(result: LanguageShare) -> dict[str, Table]:
    columns = [field.name for field in fields(result)]
    return {"languages": [columns, [getattr(result, column) for column in columns]]}


TABLES: dict[type, Callable[[Any], dict[str, Table]]] = {
    BlankFills: _tables_of_fills,
    BlankReveal: _tables_of_reveal,
    CandidateRanking: _tables_of_ranking,
    TextContrast: _tables_of_contrast,
    Tokenization: _tables_of_tokenization,
    SpanFills: _tables_of_spans,
    TrainingTrace: _tables_of_trace,
    TrainingExample: _tables_of_example,
    LanguageShare: _tables_of_language,
    **ATTENTION_TABLES,
    **GENERATION_TABLES,
    **SCORE_TABLES,
    **HEAD_TABLES,
    **EMBEDDING_TABLES,
    **ANISOTROPY_TABLES,
}
