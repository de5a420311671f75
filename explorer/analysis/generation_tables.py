"""What was written, and what might have been, as tables for a spreadsheet."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from explorer.analysis.beam_results import BeamSearch
from explorer.analysis.branches import Tree, leaves, path_to

Table = list[list[str | int | float | bool | None]]


def _tables_of_tree(result: Tree) -> dict[str, Table]:
    head = ["model", "prompt", "branch"]
    steps: Table = [[*head, "settings", "step", "token_id", "text", "probability", "chance", "rank"]]
    steps[0] += ["entropy_nats", "surprisal_nats"]
    options: Table = [[*head, "step", "written_id", "rank", "token_id", "text", "probability", "chance"]]
    for branch, leaf in enumerate(leaves(result), start=1):
        about = [result.model, result.prompt, branch]
        for number, node in enumerate(path_to(result, leaf), start=1):
            step, how = result.nodes[node].step, result.nodes[node].how
            surprisal = -math.log(step.probability) if step.probability else math.inf
            steps.append([*about, how, number, step.token_id, step.text, step.probability, step.chance, step.rank])
            steps[-1] += [step.entropy, surprisal]
            for rank, option in enumerate(step.alternatives, start=1):
                options.append([*about, number, step.token_id, rank, option.token_id, option.text])
                options[-1] += [option.probability, option.chance]
    return {"steps": steps, "alternatives": options}


def _tables_of_search(result: BeamSearch) -> dict[str, Table]:
    rows: Table = [["model", "prompt", "step", "fate", "parent", "token_id", "token", "text", "log_probability_nats"]]
    rows[0].append("log_probability_per_token_nats")
    for number, step in enumerate(result.steps, start=1):
        for beam in step.beams:
            rows.append([result.model, result.prompt, number, beam.fate, beam.parent, beam.token_id, beam.token])
            rows[-1] += [beam.text, beam.log_probability, beam.score]
    return {"beams": rows}


GENERATION_TABLES: dict[type, Callable[[Any], dict[str, Table]]] = {
    Tree: _tables_of_tree,
    BeamSearch: _tables_of_search,
}
