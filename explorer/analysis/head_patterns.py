"""The patterns of attention heads by name, where they were measured. Free of torch."""

from __future__ import annotations

import numpy as np

from explorer.analysis.head_measures import MEASURES
from explorer.analysis.head_results import HeadMeasures, HeadPattern, RelationMatches
from explorer.analysis.intervals import share_interval
from explorer.rounding import half_up

CROSS_DOES = {  # what heads between decoder and encoder do, where the places of a text are compared
    "previous": "attends to the encoder’s token before its place",
    "same": "attends to the encoder’s token in its place",
    "next": "attends to the encoder’s token where the next one is to be written",
    "punctuation": "attends to the encoder’s punctuation",
}
LEAST_SHARE = 0.5  # of the attention: Clark et al. name heads that put more than half of it on one place
LEAST_INDUCTION = 0.4  # on random tokens, where every other place is as good
BROAD = 0.95  # of the entropy of a head that attends to all tokens alike
LEAST_GAIN = 0.1  # of the accuracy over the best fixed offset
LEAST_ACCURACY = 0.5
RESTING = {"entropy": 1, "end": 2, "first": 3}  # what most heads do, and says least of them, comes last
THRESHOLDS = (
    f"A pattern is named where a head puts at least {LEAST_SHARE:.0%} of its attention on one place "
    f"({LEAST_INDUCTION:.0%} for induction), spreads it at least {BROAD:.0%} as widely as it could, or is the best of "
    f"all heads at a relation and finds at least {LEAST_ACCURACY:.0%} of it, {100 * LEAST_GAIN:.0f} points more than "
    "the best fixed distance does, with a 95 % interval that leaves that one out. The best of many heads, chosen on "
    "the words it is scored on, looks better than it is: on other sentences expect less."
).replace("%", " %")

RELATION_WORDS = {  # of Universal Dependencies -> what it is, and an example
    "det": ("determiners", "the → cat"),
    "nsubj": ("subjects", "cat → slept"),
    "obj": ("objects", "door → opened"),
    "amod": ("adjectives", "old → man"),
    "case": ("prepositions", "on → mat"),
    "advmod": ("adverbs", "well → play"),
    "obl": ("nouns behind prepositions", "mat → slept"),
    "aux": ("auxiliaries", "can → play"),
    "nmod:poss": ("possessives", "my → brother"),
    "mark": ("conjunctions of clauses", "that → late"),
    "compound": ("parts of compounds", "school → bus"),
    "cc": ("coordinating conjunctions", "and → queen"),
    "conj": ("conjuncts", "queen → king"),
}


def head_name(layer: int, head: int) -> str:
    """A head as a reader counts: "layer 3 head 5" is [2, 4] in the arrays."""
    return f"layer {layer + 1} head {head + 1}"


def relation_label(relation: str) -> str:
    """What a relation is, its short name, and an example: a word, and the word it depends on."""
    if relation not in RELATION_WORDS:
        return relation
    name, example = RELATION_WORDS[relation]
    return f"{name} ({relation}: {example})"


def interval_words(share: float, count: int) -> str:
    """A share of words with the interval that so few of them allow, e.g. "80 % of n = 10 words, 95 % interval …"."""
    low, high = share_interval(share, count)
    return f"{_percent(share)} of n = {count:,} words, 95 % interval {100 * low:.0f} to {_percent(high)}"


def least_named(key: str, uniform: float) -> float:
    """The share of a head's attention from which on it is named after a place.

    Args:
        key: Of a measure whose unit is "share".
        uniform: What attention to all tokens alike would give.
    """
    return max(LEAST_INDUCTION if key == "induction" else LEAST_SHARE, 2 * uniform)


def name_patterns(measures: HeadMeasures, relations: RelationMatches | None = None) -> tuple[HeadPattern, ...]:
    """Which heads follow a pattern, the clearest first.

    Args:
        measures: Of a model.
        relations: Of the same model, if they were measured.

    Returns:
        Nothing that was not measured: each with its number, and what chance gives.

    Source: Clark et al. 2019, https://aclanthology.org/W19-4828; induction: Olsson et al. 2022,
        https://arxiv.org/abs/2209.11895
    """
    found = [*_places(measures), *_broad(measures)]
    if relations is not None:
        found += _relations(relations)
    return tuple(sorted(found, key=lambda pattern: (RESTING.get(pattern.key, 0), -pattern.value)))


def _places(measures: HeadMeasures) -> list[HeadPattern]:
    spelled = {"first": measures.first_token, "end": measures.end_token}
    found = []
    for key, values in measures.values.items():
        measure = MEASURES[key]
        if measure.unit != "share":
            continue
        least = least_named(key, measures.uniform[key])
        does = CROSS_DOES.get(key, measure.does) if measures.stack == "cross" else measure.does
        does = f"attends to {spelled[key]}" if spelled.get(key) else does
        for layer, head in np.argwhere(values >= least).tolist():
            value = float(values[layer, head])
            sentence = f"{head_name(layer, head)} {does}: {_percent(value)} of its attention"
            count = f"{measures.counts[key]:,} token{'s' * (measures.counts[key] != 1)}"
            sentence += f", n = {count} (all alike: {_percent(measures.uniform[key])})"
            found.append(
                HeadPattern(layer, head, key, value, measures.uniform[key], measures.counts[key], _capital(sentence))
            )
    return found


def _broad(measures: HeadMeasures) -> list[HeadPattern]:
    values, most = measures.values["entropy"], measures.uniform["entropy"]
    found = []
    for layer, head in np.argwhere(values >= BROAD * most).tolist():
        value = float(values[layer, head])
        sentence = (
            f"{head_name(layer, head)} attends broadly: {value:.1f} of at most {most:.1f} bits of entropy, "
            f"n = {measures.counts['entropy']:,} token{'s' * (measures.counts['entropy'] != 1)}"
        )
        count = measures.counts["entropy"]
        found.append(HeadPattern(layer, head, "entropy", value, most, count, _capital(sentence)))
    return found


def _relations(matches: RelationMatches) -> list[HeadPattern]:
    found = []
    for one in matches.relations:
        accuracy = one.accuracy
        least = max(LEAST_ACCURACY, one.baseline + LEAST_GAIN, float(accuracy.max()))
        for layer, head in np.argwhere(accuracy >= least).tolist():
            value = float(accuracy[layer, head])
            if share_interval(value, one.count)[0] <= one.baseline:
                continue
            is_forward = one.to_head[layer, head] >= one.from_head[layer, head]
            sides = _sides(one.relation, is_forward=bool(is_forward))
            sentence = (
                f"{head_name(layer, head)} finds {relation_label(one.relation)}: {interval_words(value, one.count)} "
                f"(best fixed distance: {_percent_below(one.baseline, share_interval(value, one.count)[0])}); {sides}"
            )
            key = f"relation:{one.relation}"
            found.append(HeadPattern(layer, head, key, value, one.baseline, one.count, _capital(sentence)))
    return found


def _sides(relation: str, *, is_forward: bool) -> str:
    """Who looks at whom, by the example of the relation."""
    if relation not in RELATION_WORDS:
        return "a word attends to the one it depends on" if is_forward else "the one it depends on attends to a word"
    word, _, head = RELATION_WORDS[relation][1].partition(" → ")
    return f"“{word}” attends to “{head}”" if is_forward else f"“{head}” attends to “{word}”"


def _percent(share: float) -> str:
    """Without decimals, unless it would be told as all or as none, which it is not."""
    digits = 0 if 0.005 <= share < 0.995 or share in (0, 1) else 1
    return f"{half_up(min(max(100 * share, 0.1), 99.9) if digits else 100 * share, digits)} %"


def _percent_below(share: float, bound: float) -> str:
    """A share that is less than a bound, with as many digits as it takes to see that."""
    if _percent(share) != _percent(bound):
        return _percent(share)
    return f"{100 * share:.1f} %, below the interval’s {100 * bound:.1f} %"


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
