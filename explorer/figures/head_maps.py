"""What heads were measured to do: a map of layers and heads to press on, a list to sort, the patterns by name."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from explorer.analysis.head_measures import MEASURES
from explorer.analysis.head_patterns import (
    RELATION_WORDS,
    RESTING,
    head_name,
    interval_words,
    least_named,
    relation_label,
)
from explorer.analysis.head_results import HeadMeasures, HeadPattern, RelationMatches
from explorer.figures.style import count_of, percent

RELATION = "relation:"
NARROW = "\u00a0%"  # a number and its sign stay on one line
FIRST = 12  # named patterns in sight; the others in a fold
STRONG = 0.75  # of the full colour: from here on dark text is read better than light


@dataclass(frozen=True, eq=False)
class MappedMeasure:
    """One number for each head, ready to be drawn.

    Attributes:
        key: Of the measure, or "relation:" with the relation.
        label: As a visitor chooses it.
        short: The same for the head of a column.
        unit: As in head_measures.Measure.
        says: What it says, in one sentence.
        values: For each head.
        chance: What the values are compared with.
        chance_words: What that is.
        count: How many tokens or words the values are of.
        counted: "token" or "word".
        least: From which share on a head is named after it; 0 = what names it is no share.
    """

    key: str
    label: str
    short: str
    unit: str
    says: str
    values: Float[ndarray, "layer head"]
    chance: float
    chance_words: str
    count: int
    counted: str
    least: float = 0.0


def map_measure(measures: HeadMeasures, relations: RelationMatches, key: str) -> MappedMeasure | None:
    """The measure or the relation of a key; None where it is not defined."""
    for one in relations.relations:
        if key == RELATION + one.relation:
            says = (
                "How often a head’s strongest attention between words joins a word with the one it depends on, in the "
                f"better of the two directions. The best: {interval_words(float(one.accuracy.max()), one.count)}."
            )
            words = f"the word {abs(one.offset)} {'to the right' if one.offset > 0 else 'to the left'}"
            return MappedMeasure(
                key,
                relation_label(one.relation),
                one.relation,
                "share",
                says,
                one.accuracy,
                one.baseline,
                words,
                one.count,
                "word",
            )
    if key not in measures.values:
        return None
    measure = MEASURES[key]
    return MappedMeasure(
        key, measure.label, measure.label, measure.unit, measure.says, measures.values[key], measures.uniform[key],
        "all tokens alike", measures.counts[key], "token",
        least_named(key, measures.uniform[key]) if measure.unit == "share" else 0.0,
    )  # fmt: skip


def head_map(mapped: MappedMeasure, stack: str, patterns: Sequence[HeadPattern], here: str) -> str:
    """The map and, beside it, the list; every head opens when pressed.

    Args:
        mapped: What colours the map.
        stack: Whose heads these are.
        patterns: That have a name.
        here: The word for the head in sight, e.g. "encoder-3-5".
    """
    named: dict[tuple[int, int], list[HeadPattern]] = {}
    for pattern in patterns:
        named.setdefault((pattern.layer, pattern.head), []).append(pattern)
    return (
        f"<div class='found-heads'>{_says(mapped)}<div class='found-columns'>"
        f"{_grid(mapped, stack, named, here)}{_list(mapped, stack, named, here)}</div></div>"
    )


def pattern_list(patterns: Sequence[HeadPattern], measures: HeadMeasures, thresholds: str) -> str:
    """The patterns by name; heads that rest on one token in a line together."""
    rows = [
        "<li><button type='button' class='found-pattern' "
        f"data-open-head='{_word(measures.stack, one.layer, one.head)}'>"
        f"{escape(one.sentence).replace(' %', NARROW)}</button></li>"
        for one in patterns
        if one.key not in RESTING
    ]
    resting = []
    for key, place in (("end", measures.end_token), ("first", measures.first_token or "the first token")):
        if shares := [pattern.value for pattern in patterns if pattern.key == key]:
            span = " to ".join(dict.fromkeys((percent(min(shares)), percent(max(shares)))))
            verb, put, their = ("rests", "it puts", "its") if len(shares) == 1 else ("rest", "they put", "their")
            resting.append(
                f"{len(shares)} of {measures.values['entropy'].size} heads {verb} on {escape(place)}: {put} {span} of "
                f"{their} attention there, n = {count_of(measures.counts[key], 'token')}."
            )
    if broad := sum(pattern.key == "entropy" for pattern in patterns):
        resting.append(f"{count_of(broad, 'head')} {'attends' if broad == 1 else 'attend'} to all tokens almost alike.")
    first, further = (f"<ul class='found-patterns'>{''.join(some)}</ul>" for some in (rows[:FIRST], rows[FIRST:]))
    body = first if rows else "<p class='quiet'>No head follows a named pattern.</p>"
    if len(rows) > FIRST:
        body += f"<details><summary>{len(rows) - FIRST} more</summary>{further}</details>"
    rest = f"<p class='note'>{' '.join(resting)}</p>" if resting else ""
    return f"<h3>Named patterns</h3>{body}{rest}<p class='note'>{escape(thresholds)}</p>"


def value_words(value: float, unit: str) -> str:
    """A value as a reader wants it."""
    if unit == "share":
        return percent(value)
    return f"{value:.2f} {unit}" if unit == "bits" else f"{value:.1f} {unit}"


def _value_of(mapped: MappedMeasure, value: float) -> str:
    """As value_words has it, and of what just misses its name with a digit that shows it: 49.6 %, not 50 %."""
    if value < mapped.least and value_words(value, mapped.unit) == value_words(mapped.least, mapped.unit):
        return f"{math.floor(1000 * value) / 10:.1f} %"
    return value_words(value, mapped.unit)


def _says(mapped: MappedMeasure) -> str:
    chance = value_words(mapped.chance, mapped.unit).replace(" %", NARROW)
    return (
        f"<p class='found-says'><b>{escape(mapped.label)}.</b> {escape(mapped.says)} "
        f"<span class='quiet'>For comparison, {escape(mapped.chance_words)}: {chance}. "
        f"n = {count_of(mapped.count, mapped.counted)}.</span></p>"
    )


def _grid(mapped: MappedMeasure, stack: str, named: dict[tuple[int, int], list[HeadPattern]], here: str) -> str:
    layers, heads = mapped.values.shape
    most = 1.0 if mapped.unit == "share" else float(mapped.values.max()) or 1.0
    cells = ["<span class='corner'>Layer</span>", *(f"<span>{head + 1}</span>" for head in range(heads))]
    for layer in range(layers):
        cells.append(f"<span>{layer + 1}</span>")
        for head in range(heads):
            value = float(mapped.values[layer, head])
            word = _word(stack, layer, head)
            kinds = [one for one in named.get((layer, head), []) if one.key not in RESTING]
            title = f"{head_name(layer, head).capitalize()}: {_value_of(mapped, value)}"
            title += "".join(f"\n{one.sentence}" for one in kinds)
            is_named = any(one.key == mapped.key for one in kinds)
            marks = "".join([" data-named" if is_named else "", " data-here" if word == here else ""])
            strong = " data-strong" if value / most > STRONG else ""
            cells.append(
                f"<button type='button' data-open-head='{word}'{marks}{strong} style='--c:{value / most:.3f}' "
                f"title='{escape(title)}' aria-label='{escape(title)}'>{_short(value, mapped.unit)}</button>"
            )
    return (
        f"<div class='found-scroll'><div class='found-grid' role='group' aria-label='Heads: layers down, heads across' "
        f"style='--heads:{heads}'>{''.join(cells)}</div>{_legend(mapped, most)}</div>"
    )


def _legend(mapped: MappedMeasure, most: float) -> str:
    least = "0 %" if mapped.unit == "share" else f"0 {mapped.unit}"
    top = "100 %" if mapped.unit == "share" else value_words(most, mapped.unit)
    return (
        f"<p class='legend'><span>{least}</span><i class='scale'></i><span>{top}</span>"
        "</p><p class='note'>Layers down, heads across; framed: named below; outlined: the head at “Head”. Press a "
        "head to open it.</p>"
    )


def _list(mapped: MappedMeasure, stack: str, named: dict[tuple[int, int], list[HeadPattern]], here: str) -> str:
    order = np.argsort(-mapped.values, axis=None, kind="stable").tolist()
    rows = "".join(_row(mapped, stack, divmod(index, mapped.values.shape[1]), named, here) for index in order)
    heads = (
        "<th scope='col' aria-sort='none'><button type='button' data-sort='head'>Head</button></th>"
        f"<th scope='col' class='number' aria-sort='descending'><button type='button' data-sort='value'>"
        f"{escape(mapped.short)}</button></th><th scope='col'>Also</th>"
    )
    return (
        "<div class='found-list' tabindex='0' role='region' aria-label='Heads as a list'><table class='scores'>"
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _row(
    mapped: MappedMeasure,
    stack: str,
    place: tuple[int, int],
    named: dict[tuple[int, int], list[HeadPattern]],
    here: str,
) -> str:
    layer, head = place
    value = float(mapped.values[layer, head])
    also = [_also(one) for one in named.get(place, []) if one.key != mapped.key]
    mark = " data-here" if _word(stack, layer, head) == here else ""
    return (
        f"<tr data-head='{layer * mapped.values.shape[1] + head}' data-value='{value!r}'{mark}><th scope='row'>"
        f"<button type='button' data-open-head='{_word(stack, layer, head)}'>{layer + 1}-{head + 1}</button></th>"
        f"<td class='number' title='{value!r}'>{_value_of(mapped, value)}</td><td>{', '.join(also)}</td></tr>"
    )


def _also(pattern: HeadPattern) -> str:
    if pattern.key.startswith(RELATION):
        relation = pattern.key.removeprefix(RELATION)
        name, _ = RELATION_WORDS.get(relation, (relation, ""))
        return f"{escape(name)} {percent(pattern.value)}".replace(" %", NARROW)
    measure = MEASURES[pattern.key]
    words = "broad" if pattern.key == "entropy" else measure.label.lower()
    return f"{words} {value_words(pattern.value, measure.unit)}".replace(" %", NARROW)


def _short(value: float, unit: str) -> str:
    return f"{100 * value:.0f}" if unit == "share" else f"{value:.1f}"


def _word(stack: str, layer: int, head: int) -> str:
    return f"{stack}-{layer + 1}-{head + 1}"
