"""Attention as text for a terminal: the strongest links of a head, or of an average."""

from __future__ import annotations

from typing import TYPE_CHECKING

from explorer.terminal import columns, percent

if TYPE_CHECKING:
    from explorer.analysis.attention_view import AttentionView

AVERAGED = {
    "heads": "mean over heads",
    "layers": "mean over layers",
    "both": "mean over layers and heads",
    "rollout": "rollout up to this layer",
}


def describe_attention(result: AttentionView, top: int) -> str:
    """One line per link, strongest first."""
    weights = result.stack.weights[-1, -1]
    width = weights.shape[1]
    rows = [["from", "to", "weight"]]
    for place in weights.argsort(axis=None, kind="stable")[::-1][:top].tolist():
        query, key = divmod(place, width)
        sides = [
            f"{result.query_places[query] + 1} {result.stack.queries[query].text}",
            f"{result.key_places[key] + 1} {result.stack.keys[key].text}",
        ]
        rows.append([*sides, percent(float(weights[query, key]))])
    where = [f"layer {layer + 1}" for layer in result.layers[-1:]] + [f"head {head + 1}" for head in result.heads[-1:]]
    if result.average in AVERAGED:
        where.append(AVERAGED[result.average])
    count = f"the strongest {len(rows) - 1:,} of {weights.size:,} links between {result.level}"
    lines = [f"{result.stack.name}: {', '.join(where)} · {count}"]
    if result.absorbed is not None:
        left = "the rest was rescaled" if result.is_rescaled else "the rest was not rescaled"
        lines.append(f"Hidden: {' '.join(result.hidden)}, which get {percent(float(result.absorbed[-1, -1]))}; {left}")
    if result.written_by_model:
        lines.append(f"Written by the model: {result.second_text}")
    lines.append(f"Model: {result.model} · layers, heads and tokens are counted from 1, in JSON from 0")
    return columns(rows, right=[2]) + "\n\n" + "\n".join(lines)
