"""Spans that models filled, side by side: each choice a button that puts it into the sentence."""

import math
from collections.abc import Sequence
from html import escape

from explorer.analysis.span_results import Span, SpanChoice, SpanFills
from explorer.figures.notes import note
from explorer.figures.sentences import marked
from explorer.figures.style import likelihood

NOTHING, SPACE = "(nothing)", "␣"  # no token, or one that is a space


def span_columns(results: Sequence[SpanFills]) -> str:
    """One column for each model: the whole sentences, the choices of each blank, and what the model saw and wrote."""
    return f"<div class='span-columns'>{''.join(map(_column, results))}</div>"


def _column(fills: SpanFills) -> str:
    sentences = "".join(
        f"<li><span class='sentence' dir='auto'>{marked(fills.text, one.text, one.fills)}</span>"
        f"<span class='number' title='{one.log_probability!r} nats'>{likelihood(one.log_probability)}</span></li>"
        for one in fills.completions
    )
    blanks = "".join(_blank(number, span, len(fills.spans)) for number, span in enumerate(fills.spans))
    remarks = "".join(note(remark) for remark in fills.remarks)
    if any(_named(choice) == SPACE for span in fills.spans for choice in span.choices):
        remarks += note(f"{SPACE}: a space alone.")
    return (
        f"<section><h3>{escape(fills.model)}</h3>{blanks}"
        f"<p class='kind'>{'Sentences' if sentences else 'No whole sentence came of it.'}</p>"
        f"<ol class='completions'>{sentences}</ol>{remarks}{_behind(fills)}</section>"
    )


def _blank(number: int, span: Span, blanks: int) -> str:
    title = f"Blank {number + 1}" if blanks > 1 else "In the blank"
    choices = "".join(
        f"<li><button type='button' class='choice' data-blank='{number}' data-fill='{escape(choice.text)}' "
        f"title='Put it into the sentence'><i style='width:{min(1.0, math.exp(choice.log_probability)):.1%}'></i>"
        f"<bdi>{_named(choice)}</bdi></button>"
        f"<span class='number' title='{choice.log_probability!r} nats'>{likelihood(choice.log_probability)}"
        f"<small> {choice.length_tokens} token{'s' * (choice.length_tokens != 1)}</small></span></li>"
        for choice in span.choices
    )
    return f"<p class='kind'>{title}</p><ul class='choices'>{choices}</ul>"


def _named(choice: SpanChoice) -> str:
    return escape(choice.text) or (SPACE if choice.length_tokens else NOTHING)


def _behind(fills: SpanFills) -> str:
    """What the model read and wrote, and what the numbers are of."""
    wrote = "".join(f"<li><code dir='auto'>{escape(one)}</code></li>" for one in fills.wrote)
    saw = [f"<code dir='auto'>{escape(one)}</code>" if one else "nothing yet" for one in fills.saw]
    read = f"<p>It saw: {saw[0]}</p>"
    if len(saw) > 1:
        read = f"<p>It saw, for the choices of each blank:</p><ol>{''.join(f'<li>{one}</li>' for one in saw)}</ol>"
    written = f"<p>It wrote:</p><ol>{wrote}</ol>" if wrote else ""
    head = f"What it saw{' and wrote' if wrote else ''}, and what the numbers mean"
    return (
        f"<details class='note'><summary>{head}</summary>"
        f"{read}{written}"
        f"<p>Number of a choice: {_raised(fills.score)}; its logarithm, in nats, shows on hover.</p>"
        f"<p>Number of a sentence: {_raised(fills.completion_score)}.</p></details>"
    )


def _raised(score: str) -> str:
    """The words for a sum of logarithms, for the product that is shown."""
    return escape(score.removeprefix("ln ") if score.startswith("ln p(") else f"e to the {score.removeprefix('the ')}")
