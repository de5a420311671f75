"""Measures of heads, relations, ablations and rankings as text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from explorer.analysis.ablation_results import READOUTS
from explorer.analysis.head_measures import MEASURES
from explorer.analysis.head_patterns import RESTING, THRESHOLDS, head_name, name_patterns
from explorer.analysis.head_results import DECODER_READS
from explorer.terminal import columns, percent

if TYPE_CHECKING:
    from explorer.analysis.ablation_results import AblationPlace, HeadAblation, HeadRanking
    from explorer.analysis.head_results import HeadMeasures, RelationMatches

MOST_ROWS = 20
REMINDER = (
    "Attention is not explanation: that a head looks at a word does not show that the answer depends on it (Jain and "
    "Wallace 2019; Wiegreffe and Pinter 2019). Heads stand in for each other: one whose loss changes little may still "
    "do the work (Michel et al. 2019)."
)


def number(value: float, unit: str) -> str:
    """A value of a measure, with its unit."""
    return percent(value) if unit == "share" else f"{value:.2f} {unit}"


def describe_measures(result: HeadMeasures, measure: str) -> str:
    """The heads with the largest values of a measure, then the patterns that have a name."""
    values, unit = result.values[measure], MEASURES[measure].unit
    rows = [["head", MEASURES[measure].label.lower(), "all alike"]]
    for index in np.argsort(-values, axis=None, kind="stable")[:MOST_ROWS].tolist():
        layer, head = divmod(index, values.shape[1])
        rows.append([head_name(layer, head), number(values.flat[index], unit), number(result.uniform[measure], unit)])
    named = name_patterns(result)
    patterns = [f"  {pattern.sentence}" for pattern in named if pattern.key not in RESTING]
    for key, place in (("end", result.end_token), ("first", result.first_token or "the first token")):
        if resting := [pattern.value for pattern in named if pattern.key == key]:
            patterns.append(
                f"  {len(resting)} heads rest on {place}: {percent(min(resting))} to {percent(max(resting))}"
            )
    left_out = [f"No {MEASURES[key].label.lower()}: {why}" for key, why in result.left_out.items()]
    texts = f"{result.texts} {'text' if result.texts == 1 else 'texts'}"
    about = f"Model: {result.model} · {result.stack} · {result.source}: {texts}, {result.tokens:,} tokens"
    parts = [
        MEASURES[measure].says,
        DECODER_READS.get(result.decoder_reads, ""),
        columns(rows, right=[1, 2]),
        "\n".join(patterns),
        THRESHOLDS,
    ]
    return "\n\n".join([*filter(None, parts), "\n".join([*left_out, about])])


def describe_relations(result: RelationMatches) -> str:
    """The best head of each relation, beside the best fixed distance."""
    rows = [["relation", "n", "best head", "", "accuracy", "best distance", ""]]
    for one in result.relations:
        layer, head = divmod(int(one.accuracy.argmax()), one.accuracy.shape[1])
        way = "to its head" if one.to_head[layer, head] >= one.from_head[layer, head] else "from its head"
        numbers = [percent(float(one.accuracy[layer, head])), f"{one.offset:+d}", percent(one.baseline)]
        rows.append([one.relation, str(one.count), head_name(layer, head), way, *numbers])
    left_out = ", ".join(f"{relation} {count}" for relation, count in result.left_out.items()) or "none"
    sentences = "sentence" if result.sentences == 1 else "sentences"
    about = f"Model: {result.model} · {result.stack} · {result.source}: {result.sentences:,} {sentences}, "
    return "\n\n".join(
        [
            columns(rows, right=[1, 4, 5, 6]),
            f"Each best head was chosen on these same words. Left out, with fewer than {result.least_count} words: "
            f"{left_out}.\n{about}{result.words:,} words. UD, not comparable with the paper's.",
        ]
    )


def describe_ablation(result: HeadAblation) -> str:
    """What was likeliest before and after at each place, and how much changed."""
    parts = []
    for index, place in enumerate(result.places, start=1):
        rows = [["all heads on", "", "these off", ""]]
        for before, after in zip(place.before, place.after, strict=True):
            rows.append(
                [before.text.strip() or before.token, percent(before.probability)]
                + [after.text.strip() or after.token, percent(after.probability)]
            )
        title = f"Place {index} of {len(result.places)}\n" if len(result.places) > 1 else ""
        parts.append(f"{title}{columns(rows, right=[1, 3])}\n  {_change(place)}")
    if result.cosine is not None:
        parts.append(f"Sentence embedding: cosine to the intact one {result.cosine:.3f}")
    off = ", ".join(f"{stack} {head_name(layer, head)}" for stack, layer, head in result.heads[:MOST_ROWS])
    more = f" and {len(result.heads) - MOST_ROWS} more" if len(result.heads) > MOST_ROWS else ""
    about = f"Off: {len(result.heads)} of {result.head_count} heads: {off or 'none'}{more}"
    return "\n\n".join([*parts, f"{about}\nRead: {READOUTS[result.readout]}\nModel: {result.model}", REMINDER])


def describe_ranking(result: HeadRanking) -> str:
    """The heads whose loss changes most, first."""
    found = [
        (float(effects[layer, head]), float(result.changes[stack][layer, head]), f"{stack} {head_name(layer, head)}")
        for stack, effects in result.effects.items()
        for layer, head in np.ndindex(*effects.shape)
    ]
    rows = [["head that is off", result.unit, "answer"]]
    for effect, change, name in sorted(found, reverse=True)[:MOST_ROWS]:
        rows.append([name, f"{effect:.4f}", f"{100 * change:+.1f} points" if result.answers else "-"])
    answers = ", ".join(answer.text.strip() or answer.token for answer in result.answers) or "-"
    about = f"Read: {READOUTS[result.readout]} · answer: {answers}\nModel: {result.model} · {result.done} heads"
    return "\n\n".join([columns(rows, right=[1, 2]), about, REMINDER])


def _change(place: AblationPlace) -> str:
    name = place.answer.text.strip() or place.answer.token
    before, after = percent(place.answer.probability), percent(place.answer_after)
    return f"{name}: {before} -> {after}, rank {place.rank_after:,} · divergence {place.divergence_bits:.3f} bits"
