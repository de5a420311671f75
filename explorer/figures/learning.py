"""What a model learns when: its scores on held-out text against the tokens it has seen, and its answers on the way."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from explorer.analysis.results import TracePoint, TrainingTrace
from explorer.figures.style import BLUE, FRAME_PIXELS, ORANGE, STYLE

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


def learning_curves(trace: TrainingTrace) -> go.Figure:
    """Loss, or bits per byte where the model has them, above the shares it gets right; tokens seen on a log axis."""
    shown = set(trace.points[0].scores)
    number = "bits per byte" if "bits per byte" in shown else "loss"
    shares = [name for name in SHARE_WORDS if name in shown]
    rows = 2 if shares else 1
    height = rows * (PANEL_PIXELS + FRAME_PIXELS) - 40
    labels = [
        f"<span style='color:{colour}'>{sign}</span> {SHARE_WORDS[name]}"
        for name, (colour, _, sign) in zip(shares, MARKS, strict=False)
    ]
    titles = (f"{NUMBERS[number]} (lower is better)", "   ".join(labels))[:rows]
    figure = make_subplots(rows, 1, subplot_titles=titles, vertical_spacing=FRAME_PIXELS / height)
    _draw(figure, trace.points, number, 0, 1, "%{y:.3f}")
    for index, name in enumerate(shares):
        _draw(figure, trace.points, name, index, 2, "%{y:.1%}")
    ticks = _ticks([point.tokens for point in trace.points])
    figure.update_xaxes(type="log", tickvals=ticks, ticktext=[short_tokens(tick) for tick in ticks])
    figure.update_xaxes(title="Tokens seen in training", row=rows)
    if shares:
        figure.update_yaxes(tickformat=".0%", rangemode="tozero", row=2)
    return figure.update_layout(template=STYLE, height=height, showlegend=False)


def _draw(figure: go.Figure, points: Sequence[TracePoint], name: str, mark: int, row: int, number: str) -> None:
    figure.add_trace(
        go.Scatter(
            x=[point.tokens for point in points],
            y=[point.scores[name] for point in points],
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


def answers_table(trace: TrainingTrace) -> str:
    """The answers to the prompts, one row for each moment of the training; nothing for a model that was asked none."""
    prompts = [prompt for prompt, _ in trace.points[0].answers]
    if not prompts:
        return ""
    heads = "".join(f"<th scope='col'>{escape(prompt)}</th>" for prompt in prompts)
    rows = "".join(
        f"<tr><th scope='row'>{short_tokens(point.tokens)} tokens</th>"
        + "".join(
            f"<td data-label='{escape(prompt)}'>{escape(answer) or NO_ANSWER}</td>" for prompt, answer in point.answers
        )
        + "</tr>"
        for point in trace.points
    )
    return (
        f"<table class='answers'><thead><tr><th scope='col'>After</th>{heads}</tr></thead><tbody>{rows}</tbody></table>"
    )


def short_tokens(count: int) -> str:
    """A number of tokens as people say it: 50 k, 1.4 M."""
    if count < 999_500:
        return f"{count / 1e3:.0f} k"
    return f"{count / 1e6:.1f} M" if count < 99_500_000 else f"{count / 1e6:.0f} M"
