"""What a tuned model takes for what: the confusion matrix, and the examples behind it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import plotly.graph_objects as go

from explorer.figures.notes import note
from explorer.figures.style import STANDOFF_PIXELS, STYLE, percent
from explorer.training.tuning.results import Judged, Outcome

HUE = "30, 135, 210"  # faint enough for the text of the page on it, in light and dark
STRONGEST = 0.55
ROW_PIXELS, FRAME_PIXELS, MOST_PIXELS = 44, 96, 620
MOST_NUMBERED = 12  # classes; of more the numbers are read by pointing at them
LONGEST_LABEL = 18
MOST_ROWS = 50
MOST_ALIKE = 2  # mistakes that are named where they are equally common
ORDERS = {  # key -> what is shown first
    "wrong": "Mistakes, most confident first",
    "unsure": "Mistakes, least confident first",
    "doubtful": "Right ones, least confident first",
    "all": "All, most confident first",
}


def confusion_map(outcome: Outcome) -> go.Figure:
    """Counts of each class, by what the model took its examples for; the colour is the share of the class."""
    labels = [_short(label) for label in outcome.labels]
    counts = [list(row) for row in outcome.confusion]
    shares = [[count / max(1, sum(row)) for count in row] for row in counts]
    numbered = len(labels) <= MOST_NUMBERED
    places = list(range(len(labels)))
    hover = [
        [f"{escape(gold)} taken for {escape(taken)}: {counts[row][column]:,} of {sum(counts[row]):,} "
         f"({percent(shares[row][column])})" for column, taken in enumerate(outcome.labels)]
        for row, gold in enumerate(outcome.labels)
    ]  # fmt: skip
    figure = go.Figure(
        go.Heatmap(
            x=places, y=places, z=shares, zmin=0, zmax=1, showscale=False, xgap=2, ygap=2,
            colorscale=[[0, f"rgba({HUE}, 0.04)"], [1, f"rgba({HUE}, {STRONGEST})"]],
            text=[[str(count) for count in row] for row in counts],
            texttemplate="%{text}" if numbered else None, textfont={"size": 14},
            hovertext=hover, hovertemplate="%{hovertext}<extra></extra>",
        )
    )  # fmt: skip
    axis = {"tickmode": "array", "tickvals": places, "ticktext": [escape(label) for label in labels]}
    axis |= {"showgrid": False, "zeroline": False}
    figure.update_xaxes(
        title="the model says", side="bottom", autotickangles=[0, -45, -90], ticklabeloverflow="allow", **axis
    )
    title = {"text": "right answer", "standoff": STANDOFF_PIXELS}
    figure.update_yaxes(title=title, autorange="reversed", **axis)
    height = min(MOST_PIXELS, FRAME_PIXELS + ROW_PIXELS * max(3, len(labels)))
    return figure.update_layout(template=STYLE, height=height, margin={"t": 10, "b": 48, "l": 8, "r": 12})


def confusion_words(outcome: Outcome, counted: str = "examples") -> str:
    """How many are right, and which classes are taken for each other most.

    Args:
        outcome: With a confusion matrix.
        counted: What its numbers count.
    """
    total = sum(map(sum, outcome.confusion))
    right = sum(outcome.confusion[place][place] for place in range(len(outcome.labels)))
    pairs = sorted(
        (-count, outcome.labels[row], outcome.labels[column])
        for row, line in enumerate(outcome.confusion)
        for column, count in enumerate(line)
        if count and row != column
    )
    said = f"{right:,} of {total:,} held-out {counted} are right."
    if pairs:
        alike = [f"“{gold}” taken for “{taken}”" for count, gold, taken in pairs if count == pairs[0][0]]
        said += _commonest(alike, -pairs[0][0])
    return note(f"{said} The stronger the blue of a cell, the larger its share of its row.")


def _commonest(alike: Sequence[str], count: int) -> str:
    """The mistakes that were made most, each so many times."""
    if len(alike) > MOST_ALIKE:
        each = f"{count:,} times each" if count > 1 else "once each"
        return f" A mistake: {alike[0]}; {len(alike)} kinds are equally common, {each}."
    if count == 1:
        return f" {'A mistake' if len(alike) == 1 else 'The mistakes'}: {' and '.join(alike)}."
    if len(alike) == 1:
        return f" The commonest mistake: {alike[0]}, {count:,} times."
    return f" The commonest mistakes: {' and '.join(alike)}, {count:,} times each."


def confusion_table(outcome: Outcome) -> str:
    """The same numbers as a table, for those who do not see the colours; folded away."""
    heads = "".join(f"<th scope='col'>{escape(label)}</th>" for label in outcome.labels)
    rows = "".join(
        f"<tr><th scope='row'>{escape(label)}</th>{''.join(f'<td>{count:,}</td>' for count in row)}</tr>"
        for label, row in zip(outcome.labels, outcome.confusion, strict=True)
    )
    return (
        "<details class='note'><summary>The numbers as a table</summary>"
        "<div class='scores-scroll' tabindex='0' role='region' aria-label='The numbers as a table'>"
        f"<table class='answers'><thead><tr><th scope='col'>right answer, below: says</th>{heads}</tr></thead>"
        f"<tbody>{rows}</tbody></table></div></details>"
    )


def order_judged(judged: Sequence[Judged], order: str) -> list[Judged]:
    """Those that an order of ORDERS shows, in its order."""
    kept = [one for one in judged if order == "all" or (one.is_right is True) == (order == "doubtful")]
    return sorted(kept, key=lambda one: one.probability, reverse=order in ("wrong", "all"))


def mistakes_table(judged: Sequence[Judged], order: str, *, by_cosine: bool = False) -> str:
    """Held-out examples with the right answer, the model's, and how sure it is.

    Args:
        judged: All of them.
        order: A key of ORDERS.
        by_cosine: Whether the probability is that of the sentence that was found.
    """
    shown = order_judged(judged, order)
    if not shown:
        return note("There are none: every held-out example is right." if order in ("wrong", "unsure") else "None.")
    sure, say = ("Cosine", "{:.2f}".format) if by_cosine else ("How sure", percent)
    rows = "".join(
        f"<tr><td class='text' dir='auto'>{escape(one.text)}</td><td data-label='right'><bdi>{escape(one.gold)}</bdi>"
        f"</td><td data-label='model'><bdi>{escape(one.predicted)}</bdi>"
        f"{' <span class=wrong>✗</span>' if one.is_right is False else ''}</td>"
        f"<td data-label='{sure.lower()}' class='number' title='{one.probability!r}'>{say(one.probability)}</td></tr>"
        for one in shown[:MOST_ROWS]
    )
    kind = "judged found" if by_cosine else "judged"
    return _judged_table(kind, ["Held-out example", "Right answer", "The model says", sure], rows, len(shown))


def hardest_table(judged: Sequence[Judged]) -> str:
    """Held-out texts that have no right answer, those that the model expects least first.

    Args:
        judged: Of all texts; the probability is that of a token, on average.
    """
    shown = sorted(judged, key=lambda one: one.probability)
    rows = "".join(
        f"<tr><td class='text' dir='auto'>{escape(one.text)}</td><td data-label='it takes'>{escape(one.predicted)}</td>"
        f"<td data-label='per token' class='number' title='{one.probability!r}'>{percent(one.probability)}</td></tr>"
        for one in shown[:MOST_ROWS]
    )
    return _judged_table(
        "judged", ["Held-out text, least expected by token first", "It takes", "Chance per token"], rows, len(shown)
    )


def _judged_table(kind: str, heads: Sequence[str], rows: str, count: int) -> str:
    more = note(f"{MOST_ROWS} of {count:,} are shown; all are in the CSV.") if count > MOST_ROWS else ""
    head = "".join(f"<th scope='col'>{escape(one)}</th>" for one in heads)
    return (
        "<div class='scores-scroll' tabindex='0' role='region' aria-label='Example by example'>"
        f"<table class='answers {kind}'><thead><tr>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table></div>{more}"
    )


def _short(label: str) -> str:
    return label if len(label) <= LONGEST_LABEL else label[: LONGEST_LABEL - 1] + "…"
