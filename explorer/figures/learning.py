"""What a model learns when: its scores on held-out text against the tokens it has seen, and its answers on the way."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from html import escape

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from explorer.analysis.results import TracePoint, TrainingTrace
from explorer.figures.layer_lines import LINE_PIXELS
from explorer.figures.style import BLUE, FRAME_PIXELS, ORANGE, SHARE, STYLE, percent_axis, percents

PANEL_PIXELS = 150
NUMBERS = {"loss": "Loss in nats", "bits per byte": "Bits per byte"}  # all other scores are shares
SHARE_WORDS = {
    "top-1": "first guess is right",
    "top-5": "right one among the first five",
    "exact match": "the missing word is written exactly",
    "found": "replaced tokens found",
    "falsely accused": "others taken for replaced",
}
MARKS = ((BLUE, "circle", "●"), (ORANGE, "diamond", "◆"))
MOST_TICKS = 6
NO_ANSWER = "<span class='quiet'>(nothing)</span>"
FROM_NOTHING = {  # what the tables of this project's models show, by name; what stands in quotes is an answer there
    "BERT mini": "for two million tokens every question gets the commonest signs and words, “the” and “of”. Then "
    "come words that begin a sentence (“He”, “The”), wherever the blank stands; “The” twice is two tokens, one with a "
    "space before it. From 4 to 6 M on come words of the right kind (“came”, “went”) and what stands together "
    "(“York”), more and more also things and places (“door”, “room”). From 19 to 28 M the loss drops at once: a drop "
    "of the kind is known of BERT, and came when heads began to follow the syntax (Chen et al. 2024; not looked at "
    "here). That London is the capital of England it never puts first.",
    "GPT mini": "first nothing but “the”, a comma and, once, quotation marks; then what stands together, again and "
    "again (“United States”). From 4 M on most of what it writes has a verb, and now and then a sentence ends and "
    "another begins. What it says of cities and years is invented to the end.",
    "ELMo mini": "each direction learns what stands beside the words it sees. From the left “New” calls for “York” "
    "from 2.5 M tokens on (once for “Zealand”), and “the door and” for a verb (“went”, “stood”) from 12.5 M on; from "
    "the right “into the room” calls for “ed”, with which verbs end, from 1.6 M on, for “went” beside it from 4 M on, "
    "and from 19 M on rather for “out” or “back”. Where a cat may sit (“table”) the left says after "
    "28 M; the right, which sees but a full stop there, never does.",
    "ELECTRA mini": "the table names the token that it suspects most, and how strongly: from 50 % on it accuses it. "
    "Six of seven tokens are the text’s own, so that “none was replaced” is a good answer: for three million tokens it "
    "hardly gives another, and the token that it suspects most changes from row to row, and is right at times. "
    "Then it accuses whatever ends a sentence. Only from 19 M on it suspects “Tuesday” and “yellow”, which "
    "do not belong, in every row, and not enough to accuse them.",
    "T5 mini": "up to 12 M tokens, a sixth of the training, it writes nothing, a comma, or one or two of the "
    "commonest words: the decoder learns what is frequent before it reads what the encoder read. Words that fit their "
    "gap come after 19 M tokens and later (“York”, “stood”, “door”).",
}
SUSPICION = re.compile(r"(?<=: \d\d)%$")  # as it is recorded of a token
BEGINS = "Trained from nothing: "
FROM_ANOTHER = (
    "Not from nothing: the layers are those of all-MiniLM-L6-v2, which had read a billion pairs of sentences. What "
    "the table shows is how fast they learn another task, not in which order a language is learned; for that, choose "
    "a model trained from nothing."
)
FROM_ITS_KIND = {  # by name, of those whose layers had learned the like before
    "MiniLM (span)": "Not from nothing: reader and writer began with the layers of an earlier MiniLM (masked), which "
    "had learned to fill single blanks. What the table shows is how its decoder learns to write what it knows: first "
    "nothing, or “the”; then a word, but no end (“went went went”); from 1.5 M tokens on a gap mostly ends after one "
    "word. For the order in which a language is learned, choose a model trained from nothing.",
}


def learning_curves(trace: TrainingTrace) -> go.Figure:
    """Loss, or bits per byte where the model has them, above the shares it gets right; tokens seen on a log axis."""
    shown = set(trace.points[0].scores)
    number = "bits per byte" if "bits per byte" in shown else "loss"
    shares = [name for name in SHARE_WORDS if name in shown]
    rows = 2 if shares else 1
    between = FRAME_PIXELS + LINE_PIXELS * max(0, len(shares) - 1)  # one name below the other: a phone is narrow
    height = rows * PANEL_PIXELS + FRAME_PIXELS + (rows - 1) * between - 40
    labels = [
        f"<span style='color:{colour}'>{sign}</span> {SHARE_WORDS[name]}"
        for name, (colour, _, sign) in zip(shares, MARKS, strict=False)
    ]
    titles = (f"{NUMBERS[number]} (lower is better)", "<br>".join(labels))[:rows]
    figure = make_subplots(rows, 1, subplot_titles=titles, vertical_spacing=between / height)
    figure.update_annotations(align="left")
    _draw(figure, trace.points, number, 0, 1, "%{y:.3f}")
    for index, name in enumerate(shares):
        _draw(figure, trace.points, name, index, 2, SHARE)
    ticks = _ticks([point.tokens for point in trace.points])
    figure.update_xaxes(type="log", tickvals=ticks, ticktext=[short_tokens(tick).replace(".0 ", " ") for tick in ticks])
    figure.update_xaxes(title="Tokens seen in training", row=rows)
    if shares:
        figure.update_yaxes(rangemode="tozero", row=2, **percent_axis())
    return figure.update_layout(template=STYLE, height=height, showlegend=False)


def _draw(figure: go.Figure, points: Sequence[TracePoint], name: str, mark: int, row: int, number: str) -> None:
    figure.add_trace(
        go.Scatter(
            x=[point.tokens for point in points],
            y=[point.scores[name] for point in points],
            text=percents(point.scores[name] for point in points) if number == SHARE else None,
            name=SHARE_WORDS.get(name, NUMBERS.get(name)),
            mode="lines+markers",
            line_color=MARKS[mark][0],
            marker_symbol=MARKS[mark][1],
            customdata=[[short_tokens(point.tokens), f"{point.seconds / 60:.0f}"] for point in points],
            hovertemplate=f"{number}<br>after %{{customdata[0]}} tokens, %{{customdata[1]}} minutes<extra></extra>",
        ),
        row=row,
        col=1,
    )


def _ticks(tokens: Sequence[int]) -> list[int]:
    """Round numbers of tokens within the range, few enough for a phone."""
    decades = [10**digits for digits in range(len(str(tokens[0])) - 1, len(str(tokens[-1])))]
    for steps in ((1, 2, 5), (1, 3), (1,)):
        ticks = [step * decade for decade in decades for step in steps if tokens[0] <= step * decade <= tokens[-1]]
        if len(ticks) <= MOST_TICKS:
            break
    return ticks


def learning_words(name: str, *, from_nothing: bool) -> str:
    """What to see in the table of a model: in which order it learned, or that it had learned before.

    Args:
        name: Of the model.
        from_nothing: Whether its weights were random when the training began.
    """
    if not from_nothing:
        return FROM_ITS_KIND.get(name, FROM_ANOTHER)
    return BEGINS + FROM_NOTHING[name] if name in FROM_NOTHING else ""


def answers_table(trace: TrainingTrace) -> str:
    """The answers to the prompts, one row for each moment of the training; nothing for a model that was asked none."""
    prompts = [prompt for prompt, _ in trace.points[0].answers]
    if not prompts:
        return ""
    is_listed = "top-1" in trace.points[0].scores or trace.points[0].answers[0][1].startswith("from the left: ")
    write = _listed if is_listed else partial(SUSPICION.sub, " %")
    heads = "".join(f"<th scope='col'>{escape(prompt)}</th>" for prompt in prompts)
    rows = "".join(
        f"<tr><th scope='row'>{short_tokens(point.tokens)} tokens</th>"
        + "".join(
            f"<td data-label='{escape(prompt)}'>{escape(write(answer)) or NO_ANSWER}</td>"
            for prompt, answer in point.answers
        )
        + "</tr>"
        for point in trace.points
    )
    return (
        f"<table class='answers'><thead><tr><th scope='col'>After</th>{heads}</tr></thead><tbody>{rows}</tbody></table>"
    )


def _listed(answer: str) -> str:
    """The likeliest tokens apart from each other, signs in quotes: as it is recorded, a comma cannot be told."""
    sides = re.split("(from the (?:left|right): |; (?=from the right))", answer)  # of a model that reads from both
    return "".join(
        side if side.startswith(("from the", "; ")) else
        " · ".join(word if word.isalnum() else f"“{word}”" for word in side.split(", ") if word)
        for side in sides
    )  # fmt: skip


def short_tokens(count: int) -> str:
    """A number of tokens as people say it: 50 k, 1.4 M."""
    if count < 999_500:
        return f"{count / 1e3:.0f} k"
    return f"{count / 1e6:.1f} M" if count < 99_500_000 else f"{count / 1e6:.0f} M"
