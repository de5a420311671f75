"""What labelled examples are made of: bars of classes with their numbers, and what was found when they were checked."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from explorer.figures.notes import note
from explorer.figures.style import percent
from explorer.training.tuning.checks import Checks, ClassCount

MOST_CLASSES = 8
KINDS = {"PER": "a person", "LOC": "a place", "ORG": "an organisation", "MISC": "a name of another kind"}  # CoNLL-2003


def balance_bars(checks: Checks, name: str, unit: str, aside: int = 0) -> str:
    """How many examples there are, bars of their classes, problems and notes, as HTML.

    Args:
        checks: Of the examples.
        name: Of the set.
        unit: What the bars count: "examples" or "phrases".
        aside: How many of the examples will be set aside to measure on; 0 = others are given.
    """
    if checks.problems:
        return "".join(
            f"<div class='message error' role='alert'>{escape(words)}</div>" for words in checks.problems
        ) + (_notes(checks))
    tags = tags_note(one.label for one in checks.balance) if unit == "phrases" else ""
    return _counts(checks, name, aside) + _bars(checks.balance, unit) + tags + _notes(checks)


def tags_note(kinds: Iterable[str]) -> str:
    """What the tags of words say, as HTML: B-PER, I-PER, O.

    Args:
        kinds: Of phrases, as "PER"; those of CoNLL-2003 are said in words.

    Source: Ramshaw and Marcus 1995 (BIO), https://aclanthology.org/W95-0107
    """
    used = set(kinds)
    known = [f"{kind}: {words}" for kind, words in KINDS.items() if kind in used]
    meant = f" {'; '.join(known)}." if known else ""
    return note(f"Tags: B- begins a phrase, I- goes on with it, O stands outside of any.{meant}")


def _counts(checks: Checks, name: str, aside: int) -> str:
    if aside:
        share = percent(aside / checks.train)
        parts = f"{checks.train:,} examples; {aside:,} of them ({share}) are set aside to measure on"
    else:
        parts = f"{checks.train:,} to learn from, {checks.held_out:,} held out to measure on"
    return f"<p class='note'><bdi>{escape(name)}</bdi>: {parts}.</p>"


def _bars(balance: tuple[ClassCount, ...], unit: str) -> str:
    """A row for each class: its name, a bar whose hatched end is held out, and the same in numbers."""
    if not balance:
        return ""
    total = sum(one.train + one.held_out for one in balance)
    longest = max(one.train + one.held_out for one in balance)
    rows = []
    for one in balance[:MOST_CLASSES]:
        count = one.train + one.held_out
        widths = (100 * one.train / longest, 100 * one.held_out / longest)
        told = f"{count:,} · {percent(count / total)}"
        detail = f"{one.label}: {one.train:,} {unit} to learn from, {one.held_out:,} held out"
        rows.append(
            f"<tr title='{escape(detail)}'><th scope='row'><bdi>{escape(_cut(one.label))}</bdi></th>"
            f"<td class='balance'><i style='width:{widths[0]:.1f}%'></i>"
            f"<i class='held' style='width:{widths[1]:.1f}%'></i></td><td class='number'>{told}</td></tr>"
        )
    more = len(balance) - MOST_CLASSES
    rest = f"<p class='note'>and {more:,} more classes, each rarer than these.</p>" if more > 0 else ""
    head = f"<caption>{unit.capitalize()} of each {'class' if unit == 'examples' else 'kind'}"
    head += "; hatched: held out</caption>" if any(one.held_out for one in balance) else "</caption>"
    return f"<table class='balances'>{head}<tbody>{''.join(rows)}</tbody></table>{rest}"


def _notes(checks: Checks) -> str:
    if not checks.notes:
        return ""
    return f"<ul class='checks'>{''.join(f'<li>{escape(words)}</li>' for words in checks.notes)}</ul>"


def _cut(label: str) -> str:
    return label if len(label) <= 24 else label[:23] + "…"
