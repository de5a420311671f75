"""Texts nearest to a query, as they are beside a cure, and which of them changed places: HTML, every text escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from statistics import median

from explorer.analysis.anisotropy_results import FoundText, FoundTexts
from explorer.analysis.cures import CURES
from explorer.figures.notes import note
from explorer.figures.style import two_decimals
from explorer.figures.use_marks import cosine_bar


def found_columns(found: Sequence[FoundTexts], cures: Sequence[str], shown: int) -> str:
    """The nearest texts after each cure, and what became of their places.

    Args:
        found: All texts, the nearest first; once or twice.
        cures: What was done to each, keys of cures.CURES.
        shown: How many are listed.
    """
    places = [{one.index: place for place, one in enumerate(each.found, 1)} for each in found]
    sections = ""
    for side, (each, cure) in enumerate(zip(found, cures, strict=True)):
        other = places[1 - side] if len(found) > 1 else None
        rows = "".join(
            _row(one, place, None if other is None else other[one.index], is_after=side == 1)
            for place, one in enumerate(each.found[:shown], 1)
        )
        sections += (
            f"<section><h3>{escape(CURES[cure].label)}</h3><p class='near-shared'>{_range_words(each)}</p>"
            f"<ol class='near-uses'>{rows}</ol></section>"
        )
    query = (
        "<p class='near-query'><span class='kind'>Query</span> "
        f"<span class='use-sentence' dir='auto'>{escape(found[0].query)}</span></p>"
    )
    same = _same_words(found, shown) if len(found) > 1 else ""
    return f"<div class='near' data-sides='{len(found)}'>{query}{same}<div class='near-columns'>{sections}</div></div>"


def _same_words(found: Sequence[FoundTexts], shown: int) -> str:
    before, after = ([one.index for one in each.found[:shown]] for each in found)
    count = len(set(before) & set(after))
    first = "The nearest stays the same." if before[0] == after[0] else "Another text is the nearest."
    if len(before) == found[0].count:
        return note(f"All {len(before)} texts are listed, so that only their places can change. {first}")
    return note(f"{count} of the {len(before)} nearest are the same texts before and after. {first}")


def _range_words(found: FoundTexts) -> str:
    """What cosine 0.8 is worth here: how near the farthest text is."""
    nearest, farthest = found.found[0].cosine, found.found[-1].cosine
    middle = median(one.cosine for one in found.found)
    return (
        f"Cosines to all {found.count:,} texts: from {two_decimals(farthest)} to {two_decimals(nearest)}, "
        f"median {two_decimals(middle)}."
    )


def _row(one: FoundText, place: int, other: int | None, *, is_after: bool) -> str:
    moved = ""
    if other is not None:
        kind = "moved up" if is_after and other > place else "moved"
        moved = f"<span class='{kind}'>{_moved(place, other, is_after=is_after)}</span>"
    return (
        f"<li><span class='use-sentence' dir='auto'>{escape(one.text)}</span>"
        f"<span class='near-foot'>{cosine_bar(one.cosine)}{moved}</span></li>"
    )


def _moved(place: int, other: int, *, is_after: bool) -> str:
    if place == other:
        return "same place"
    came, went = ("▲", "▼") if is_after else ("▼", "▲")
    sign = came if other > place else went
    return f"{sign} {'was place' if is_after else 'place after:'} {other:,}"
