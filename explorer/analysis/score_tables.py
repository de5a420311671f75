"""Next tokens, layers, scores and choices as tables for a spreadsheet; exporting.to_tables finds them here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from explorer.analysis.next_token_results import NextTokens
from explorer.analysis.option_results import OptionChoice
from explorer.analysis.scoring_results import LayerReadings, ScoreComparison, TextScore

Cell = str | int | float | bool | None
Table = list[list[Cell]]


def _tables_of_next(result: NextTokens) -> dict[str, Table]:
    rows: Table = [["model", "prompt", "written", "rank", "text", "token", "token_id", "probability"]]
    rows[0] += ["entropy_nats"]
    for rank, token in enumerate(result.tokens, start=1):
        rows.append(
            [result.model, result.prompt, result.written_text, rank, token.text, token.token, token.token_id]
            + [token.probability, result.entropy_nats]
        )
    return {"tokens": rows}


def _tables_of_layers(result: LayerReadings) -> dict[str, Table]:
    rows: Table = [["model", "prompt", "layer", "rank", "text", "token", "token_id", "probability"]]
    rows[0] += ["rank_of_final_answer", "probability_of_final_answer", "entropy_nats"]
    for layer in result.layers:
        for rank, token in enumerate(layer.tokens, start=1):
            rows.append(
                [result.model, result.prompt, layer.layer, rank, token.text, token.token, token.token_id]
                + [token.probability, layer.rank, layer.probability, layer.entropy_nats]
            )
    return {"layers": rows}


def _tables_of_score(result: TextScore) -> dict[str, Table]:
    about: list[Cell] = ["model", "protocol", "direction"]
    numbers: list[Cell] = ["log_probability_nats", "surprisal_bits", "rank"]
    tokens: Table = [[*about, "index", "text", "token", "token_id", "start", "end", *numbers, "entropy_bits"]]
    words: Table = [[*about, "index", "word", "start", "end", "tokens", *numbers]]
    totals: Table = [[*about, "text", "log_probability_nats", "perplexity", "tokens"]]
    for one in result.passes:
        head = [result.model, result.protocol, one.direction]
        for index, token in enumerate(one.tokens):
            row = [token.text, token.token, token.token_id, token.start, token.end, token.log_probability]
            tokens.append([*head, index, *row, token.surprisal_bits, token.rank, token.entropy_bits])
        for index, word in enumerate(one.words):
            row = [word.text, word.start, word.end, word.tokens, word.log_probability, word.surprisal_bits, word.rank]
            words.append([*head, index, *row])
        totals.append([*head, result.text, one.log_probability, one.perplexity, result.token_count])
    return {"tokens": tokens, "words": words, "totals": totals}


def _tables_of_comparison(result: ScoreComparison) -> dict[str, Table]:
    rows: Table = [["model", "other_model", "protocol", "other_protocol", "direction", "other_direction"]]
    rows[0] += [
        "word",
        "start",
        "surprisal_bits",
        "other_surprisal_bits",
        "rank",
        "other_rank",
        "tokens",
        "other_tokens",
        "difference_bits",
    ]
    directions = [score.passes[0].direction for score in result.scores]
    for word in result.words:
        pairs = [*word.surprisal_bits, *word.ranks, *word.tokens]
        rows.append(
            [*result.models, *result.protocols, *directions, word.word, word.start, *pairs, word.difference_bits]
        )
    first, other = (_tables_of_score(score) for score in result.scores)
    return {"comparison": rows} | {name: [*table, *other[name][1:]] for name, table in first.items()}


def _tables_of_choice(result: OptionChoice) -> dict[str, Table]:
    about = [result.model, result.text, result.normalise]
    options: Table = [["model", "text", "normalise", "rank", "option", "score_nats", "share", "log_probability_nats"]]
    options[0] += ["baseline_log_probability_nats", "tokens", "characters", "bytes"]
    tokens: Table = [["model", "text", "normalise", "option", "part", "token", "token_id", "log_probability_nats"]]
    for rank, one in enumerate(result.options, start=1):
        baseline = one.baseline.log_probability if one.baseline else None
        options.append(
            [*about, rank, one.option, one.score, one.share, one.part.log_probability, baseline]
            + [one.token_count, one.characters, one.bytes]
        )
        for name, part in (("option", one.part), ("baseline", one.baseline)):
            for token in part.tokens if part else ():
                tokens.append([*about, one.option, name, token.token, token.token_id, token.log_probability])
    return {"options": options, "tokens": tokens}


SCORE_TABLES: dict[type, Callable[[Any], dict[str, Table]]] = {
    NextTokens: _tables_of_next,
    LayerReadings: _tables_of_layers,
    TextScore: _tables_of_score,
    ScoreComparison: _tables_of_comparison,
    OptionChoice: _tables_of_choice,
}
