"""Uses of a word, and what is near one of them, in context and without: HTML strings, every text escaped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape

from explorer.analysis.embedding_results import INPUT_EMBEDDINGS, NearUse, NearUses, StaticNeighbours
from explorer.analysis.labelled_uses import LabelledUses
from explorer.analysis.shared_senses import count_by_words, count_shared_sense
from explorer.figures.notes import note
from explorer.figures.sense_marks import UNLABELLED, SenseMark, mark_senses, sense_label
from explorer.figures.use_marks import cosine_bar, use_sentence

MOST_BAGS = 2_000  # uses whose other words are compared while the visitor waits
MOST_LISTED = 600  # uses; a list of more is no help
TIE, FEWEST_TIED = 1e-6, 2
OF_THOSE_FOUND = (
    "These are the senses of the sentences found. The model may be wrong: whether the query means the same, you say."
)
Marks = dict[str, SenseMark]


def use_list(uses: LabelledUses, use: int) -> str:
    """All uses with their senses, each to be pressed; a sense can be listed alone.

    Args:
        uses: Of a word.
        use: The one looked at.
    """
    marks = mark_senses(uses.senses)
    counts = Counter(uses.senses)
    choice = ""
    if len(counts) > 1:
        named = [f"{marks[sense].glyph} {escape(sense)}" if sense else UNLABELLED for sense in counts]
        options = "".join(
            f"<option value='{number}'>{name} ({count})</option>"
            for number, (name, count) in enumerate(zip(named, counts.values(), strict=True), 1)
        )
        choice = (
            f"<select class='use-senses' aria-label='List one sense alone'><option value='0'>All {len(uses.senses):,} "
            f"sentences</option>{options}</select>"
        )
    places = {sense: number for number, sense in enumerate(counts, 1)}
    listed = range(min(len(uses.sentences), MOST_LISTED))
    entered = use if use in listed else 0  # by Tab; neighbours.js walks the others by arrow keys
    rows = "".join(
        _row(index, places[uses.senses[index]], index == use, index == entered, uses, marks) for index in listed
    )
    more = len(uses.sentences) - MOST_LISTED
    rest = f"<p class='note'>And {more:,} more, which are searched all the same.</p>" if more > 0 else ""
    if uses.without:
        which = (
            "One sentence without the word was" if uses.without == 1 else f"{uses.without:,} sentences without it were"
        )
        rest += f"<p class='note'>{which} left out.</p>"
    return f"{choice}<ol class='use-list' aria-label='Sentences to choose from, by arrow keys'>{rows}</ol>{rest}"


def near_columns(
    near: Sequence[NearUses], static: StaticNeighbours | None, why_no_static: str, uses: LabelledUses, use: int
) -> str:
    """The query, what is near it in context, and what is near the word without.

    Args:
        near: Of one model and layer, or of two that are compared.
        static: The nearest words; None = there are none.
        why_no_static: Why not.
        uses: All uses, the query among them.
        use: The query's place among them.
    """
    marks = mark_senses(uses.senses)
    columns = "".join(_near(one, uses, use, marks, len(near) > 1) for one in near)
    words = _static(static) if static else f"<p class='message error'>{escape(why_no_static)}</p>"
    source = f" <small>{escape(static.source)}</small>" if static else ""
    query = (
        f"<p class='near-query'><span class='kind'>Query</span> "
        f"{use_sentence(uses.sentences[use], uses.positions[use])} {_label(uses.senses[use], marks)}</p>"
    )
    return (
        f"<div class='near' data-sides='{len(near)}'>{query}<div class='near-columns'>{columns}"
        f"<section class='near-static'><h3>Without context{source}</h3>{words}</section></div></div>"
    )


def _near(near: NearUses, uses: LabelledUses, use: int, marks: Marks, is_compared: bool) -> str:
    rows = "".join(
        f"<li><button type='button' data-use='{one.index}' title='Press to make it the query'>"
        f"{use_sentence(one.sentence, (one.start, one.end))}</button>"
        f"<span class='near-foot'>{cosine_bar(one.cosine)}{_label(one.sense, marks)}</span></li>"
        for one in near.neighbours
    )
    title = near.model if is_compared else "By context"
    remarks = "".join(map(note, near.remarks))
    return (
        f"<section><h3><bdi>{escape(title)}</bdi> <small>{escape(near.vector)}</small></h3>"
        f"{_shared(near, uses, use)}{_ties(near)}<ol class='near-uses'>{rows}</ol>{remarks}</section>"
    )


def _tied(near: NearUses) -> list[NearUse]:
    """Those that are as near as each other; of several such groups the largest."""
    groups = ([other for other in near.neighbours if abs(other.cosine - one.cosine) < TIE] for one in near.neighbours)
    return max(groups, key=len)


def _ties(near: NearUses) -> str:
    """What to know of uses that are as near as each other; "" where there are not several."""
    tied = _tied(near)
    if len(tied) < FEWEST_TIED:
        return ""
    which = "All of these" if len(tied) == len(near.neighbours) else f"{len(tied)} of these"
    why = ""
    if near.vector.startswith(INPUT_EMBEDDINGS):
        why = " At layer 0 nothing of the sentence was read yet; at most the place of the word in it counts."
    elif len({_words(one.sentence[: one.start]) for one in tied}) == 1 < len({_words(one.sentence) for one in tied}):
        why = (
            " The same words stand before it in each, and a model that reads from the left has seen no more of the "
            "sentence there."
        )
    return note(f"{which} are as near as each other, so that their order says nothing.{why}")


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.casefold().split())


def _shared(near: NearUses, uses: LabelledUses, use: int) -> str:
    """How many of the nearest mean the same, beside baselines; of a query without a sense, which senses they have."""
    if sense := uses.senses[use]:
        count = count_shared_sense(near, sense=sense, senses=uses.senses)
        if count.nearest == near.count:
            if count.nearest == 1:
                words = "shares" if count.shared else "does not share"
                return f"<p class='near-shared'>The only other use {words} its sense.</p>"
            share = "shares" if count.shared == 1 else "share"
            of_them = f"{count.shared} of them {share} its sense."
            return f"<p class='near-shared'>All {count.nearest} other uses; {of_them}</p>"
        if len(_tied(near)) == count.nearest:
            return (
                f"<p class='near-shared'><b>A tie</b>: how many of these {count.nearest} share its sense is an "
                "accident, as others may be as near.</p>"
            )
        return (
            f"<p class='near-shared'><b>{count.shared} of the {count.nearest} nearest</b> share its sense; "
            f"{_by_words(uses, use, count.nearest)}by chance it would be {count.expected:.1f}.</p>"
        )
    found = Counter(one.sense or UNLABELLED for one in near.neighbours)
    if set(found) == {UNLABELLED}:
        return "<p class='near-shared quiet'>No senses were given: put one and | before each sentence.</p>"
    words = ", ".join(f"{name} {count}" for name, count in found.most_common())
    return f"<p class='near-shared'>Of the {len(near.neighbours)} nearest: <b>{escape(words)}</b>. {OF_THOSE_FOUND}</p>"


def _by_words(uses: LabelledUses, use: int, nearest: int) -> str:
    if len(uses.sentences) > MOST_BAGS:
        return ""
    count = count_by_words(uses, use, nearest=nearest)
    return f"by the other words of each sentence alone (a bag of words) it would be {count:.1f}, "


def _static(static: StaticNeighbours) -> str:
    rows = "".join(
        f"<li title='{escape(one.token)}'><bdi>{escape(one.text)}</bdi>{cosine_bar(one.cosine)}</li>"
        for one in static.neighbours
    )
    if not rows:
        return note("No other word has a vector there.")
    return (
        f"<p class='near-shared'>One vector for every “<bdi>{escape(static.word)}</bdi>”, whatever the sentence: one "
        f"list for all its senses.</p><ol class='near-words'>{rows}</ol>{''.join(map(note, static.remarks))}"
    )


def _label(sense: str, marks: Marks) -> str:
    return sense_label(sense, marks) if sense else ""


def _row(index: int, sense: int, is_here: bool, is_entered: bool, uses: LabelledUses, marks: Marks) -> str:
    here = f" tabindex='{0 if is_entered else -1}'" + " aria-current='true'" * is_here
    return (
        f"<li data-sense='{sense}'><button type='button' data-use='{index}'{here}>{_mark(uses.senses[index], marks)}"
        f"{use_sentence(uses.sentences[index], uses.positions[index])}</button></li>"
    )


def _mark(sense: str, marks: Marks) -> str:
    if not sense:
        return ""
    mark = marks[sense]
    return f"<i style='color:{mark.colour}' title='{escape(sense)}'>{mark.glyph}</i> "
