"""Bars of tokens: what a model expects at each blank, in one or several models, and what two texts change."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from copy import deepcopy
from functools import lru_cache
from html import escape
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from explorer.analysis.blanks import BLANK, split_at_any_blank
from explorer.analysis.results import Blank, BlankFills, CandidateRanking, TextContrast
from explorer.figures.style import (
    BLUE,
    FRAME_PIXELS,
    GREY,
    ORANGE,
    ROW_PIXELS,
    STYLE,
    as_words,
    height_pixels,
    likelihood,
    percent,
    percent_axis,
    raised,
    with_narrow,
)
from explorer.figures.token_names import token_label

NARROW_SPACE = "\u2009"
NO_DIFFERENCE = "The two sentences make no difference to this blank."
MOST_COLUMNS = 2
MOST_TITLE_CHARACTERS = 26  # of a chart that has half of a small screen
MOST_LINE_CHARACTERS = 24  # where it breaks; the whole name stands below
POWERS_OF_TEN = "Probability (logarithmic scale)"
MOST_POWERS = 3  # steps between the marks of that axis
LEAST_POINT = 0.5  # from the edge, in powers of ten
POINT_PIXELS = 10
PAST_POINT = "\u2002"  # between a point and its number
PART = " · "  # between what the name of a tuned model is made of
SPARE_FOR_NUMBERS = 1.4  # what the numbers behind the bars need on a small screen
ROUND_SHARES = (1, 2, 3, 4, 6, 8, 10)  # in the first digit of a percentage; their halves are round, too


def blank_bars(fills: BlankFills) -> go.Figure:
    """One small chart per blank: the choices, the most probable on top."""
    return _choice_bars([(f"Blank {n + 1}", blank, n) for n, blank in enumerate(fills.blanks)], fills.text)


def step_bars(blanks: Sequence[Blank | None], text: str) -> go.Figure:
    """The charts of the blanks still open at one step."""
    still_open = [(n, blank) for n, blank in enumerate(blanks) if blank is not None]
    return _choice_bars([(f"Blank {n + 1}", blank, index) for index, (n, blank) in enumerate(still_open)], text)


def model_bars(results: Sequence[BlankFills], blank: int) -> go.Figure:
    """The same blank in several models, side by side."""
    return _choice_bars([(fills.model, fills.blanks[blank], blank) for fills in results], results[0].text)


def _choice_bars(charts: Sequence[tuple[str, Blank, int]], text: str) -> go.Figure:
    """Charts of (title, blank, which blank of the text it is)."""
    figure = _choice_grid(charts, text, min(len(charts), MOST_COLUMNS))
    return with_narrow(figure, _choice_grid(charts, text, 1)) if len(charts) > 1 else figure


def _as_unsure(entropy_bits: float) -> str:
    """An entropy as how many equally likely words would have it (its perplexity)."""
    return f"as unsure as among {as_words(entropy_bits)}"


def _choice_grid(charts: Sequence[tuple[str, Blank, int]], text: str, columns: int) -> go.Figure:
    rows = -(-len(charts) // columns)
    bars = max(len(blank.choices) for _, blank, _ in charts)
    height = height_pixels(bars) * rows
    layout = deepcopy(_empty_grid(rows, columns, len(charts), FRAME_PIXELS / height)) | {"height": height}
    most = max(choice.probability for _, blank, _ in charts for choice in blank.choices)
    shared = {"range": [0, min(1.0, most) * SPARE_FOR_NUMBERS], "nticks": 4, "tickangle": 0} | percent_axis()
    first_without = columns * (rows - 1) - -len(charts) % columns  # below it another chart, or its axis
    for cell in range(rows * columns):
        is_lowest = cell >= first_without
        layout[f"xaxis{cell + 1}"] |= shared | ({"title": {"text": "Probability"}} if is_lowest else {})
        layout[f"yaxis{cell + 1}"]["autorange"] = "reversed"
    traces = []
    for cell, (name, blank, which) in enumerate(charts, 1):
        layout["annotations"][cell - 1]["text"] = (
            f"{_wrapped(name)}<br><sup>entropy {blank.entropy_bits:.1f} bits: {_as_unsure(blank.entropy_bits)}</sup>"
        )
        layout[f"yaxis{cell}"] |= named_rows([axis_label(token_label(one.text, one.token)) for one in blank.choices])
        traces.append(
            {
                "type": "bar",
                "x": [choice.probability for choice in blank.choices],
                "y": list(range(len(blank.choices))),
                "text": [percent(choice.probability) for choice in blank.choices],
                "textposition": "outside",
                "cliponaxis": False,
                "orientation": "h",
                "marker": {"color": BLUE},
                "customdata": [escape(_filled(text, which, choice.text), quote=False) for choice in blank.choices],
                "hovertemplate": "%{customdata}<br>probability %{x:.6f}<extra></extra>",
                "showlegend": False,
                "xaxis": f"x{cell}",
                "yaxis": f"y{cell}",
            }
        )
    return go.Figure(traces, layout | {"template": STYLE})


@lru_cache(maxsize=64)
def _empty_grid(rows: int, columns: int, charts: int, vertical_spacing: float) -> dict[str, Any]:
    """The layout of so many charts, with all axes named by number; not to be changed. It takes plotly some time."""
    titles = ["title"] * charts
    layout = make_subplots(
        rows, columns, subplot_titles=titles, horizontal_spacing=0.14, vertical_spacing=vertical_spacing
    ).layout.to_plotly_json()
    del layout["template"]
    return {f"{name}1" if name in ("xaxis", "yaxis") else name: value for name, value in layout.items()}


def candidate_bars(ranking: CandidateRanking) -> go.Figure:
    """The visitor's candidates and the model's choices, on a scale of powers of ten, for a name of several pieces may
    be a million times less likely than a word; the visitor's are marked by a star. Points, for that scale has no 0 from
    which the length of a bar could say anything."""
    ranked = [(n, candidates) for n, candidates in enumerate(ranking.blanks, 1) if candidates]
    if not ranked:
        return _words_only("No candidates were given.")
    sizes = [max(len(candidates), 3) for _, candidates in ranked]
    height = FRAME_PIXELS * len(ranked) + ROW_PIXELS * sum(sizes)
    figure = make_subplots(
        len(ranked),
        1,
        subplot_titles=[f"Blank {n}" for n, _ in ranked],
        row_heights=sizes,
        vertical_spacing=FRAME_PIXELS / height,
    )
    powers = [[one.log_probability / math.log(10) for one in candidates] for _, candidates in ranked]
    least = math.floor(min(itertools.chain(*powers))) - LEAST_POINT
    for row, ((_, candidates), of_ten) in enumerate(zip(ranked, powers, strict=True), 1):
        figure.add_trace(
            go.Scatter(
                x=[power - least for power in of_ten],
                y=list(range(len(candidates))),
                mode="markers+text",
                text=[f"{PAST_POINT}{likelihood(candidate.log_probability)}" for candidate in candidates],
                textposition="middle right",
                cliponaxis=False,
                marker={
                    "color": [ORANGE if candidate.is_own else BLUE for candidate in candidates],
                    "symbol": ["star" if candidate.is_own else "circle" for candidate in candidates],
                    "size": [POINT_PIXELS + 3 * candidate.is_own for candidate in candidates],
                },
                customdata=[
                    [escape(" ".join(c.tokens)), c.log_probability, c.log_probability_per_token, len(c.tokens)]
                    for c in candidates
                ],
                hovertemplate="%{customdata[0]}<br>%{text}<br>%{customdata[1]:.4f} nats over %{customdata[3]} tokens"
                "<br>%{customdata[2]:.4f} nats per token<extra></extra>",
                showlegend=False,
            ),
            row=row,
            col=1,
        )
        _name_rows(figure, [axis_label(f"★ {c.text}" if c.is_own else c.text) for c in candidates], row, 1)
    ticks = range(0, math.ceil(least) - 1, -max(1, math.ceil(-least / MOST_POWERS)))
    figure.update_xaxes(
        range=[0, -least * SPARE_FOR_NUMBERS],
        tickvals=[power - least for power in ticks],
        ticktext=[f"{10.0 ** (power + 2):g} %" if power > -6 else f"10{raised(power + 2)} %" for power in ticks],
        tickangle=0,
    )
    figure.update_xaxes(title=POWERS_OF_TEN, row=len(ranked))
    for row, size in enumerate(sizes, 1):
        figure.update_yaxes(range=[size - 0.5, -0.5], showgrid=True, row=row, col=1)
    return figure.update_layout(template=STYLE, height=height)


def contrast_bars(contrast: TextContrast) -> go.Figure:
    """The words two texts disagree about most: the first text's probability to the left, the other's to the right."""
    if not contrast.words:
        return _words_only(NO_DIFFERENCE)
    words = [axis_label(word.text) for word in contrast.words]
    first = [word.probability for word in contrast.words]
    other = [word.other_probability for word in contrast.words]
    ratio = [word.log_odds_ratio for word in contrast.words]
    figure = go.Figure()
    sides = (("First", first, -1, BLUE, "left"), ("Second", other, 1, ORANGE, "right"))
    for name, values, side, colour, _ in sides:
        figure.add_trace(
            go.Bar(
                x=[side * value for value in values],
                y=list(range(len(words))),
                name=f"{name} sentence",
                orientation="h",
                marker_color=colour,
                customdata=list(zip(values, ratio, words, strict=True)),
                hovertemplate="%{customdata[2]}: probability %{customdata[0]:.6f}<br>"
                "log odds ratio first / second %{customdata[1]:+.3f}<extra>%{fullData.name}</extra>",
            )
        )
    for _, values, side, _, position in sides:  # not the bars' own: of one near 0 plotly loses the side it is on
        figure.add_trace(
            go.Scatter(
                x=[side * value for value in values],
                y=list(range(len(words))),
                mode="text",
                text=[f"{NARROW_SPACE}{percent(value)}{NARROW_SPACE}" for value in values],
                textposition=f"middle {position}",
                cliponaxis=False,
                hoverinfo="skip",
                showlegend=False,
            )
        )
    most = _round_top(max(first + other))
    ticks = [most * step for step in (-1, -0.5, 0, 0.5, 1)]
    figure.update_xaxes(
        title="Probability: first ← → second sentence",
        range=[-most * SPARE_FOR_NUMBERS, most * SPARE_FOR_NUMBERS],
        tickvals=ticks,
        ticktext=[f"{100 * abs(tick):.10g} %" if tick else "0" for tick in ticks],
        tickangle=0,
        zerolinecolor=GREY,
    )
    figure.update_yaxes(range=[len(words) - 0.5, -0.5], tickvals=list(range(len(words))), ticktext=words)
    return figure.update_layout(
        template=STYLE,
        barmode="relative",
        height=height_pixels(len(words)) + 24,
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0.5, "xanchor": "center"},
    )


def _round_top(most: float) -> float:
    """The least round probability that is not below the largest one."""
    decade = 10.0 ** math.floor(math.log10(max(most, 1e-9)))
    return next(share * decade for share in ROUND_SHARES if share * decade >= most * (1 - 1e-9))


def _words_only(words: str) -> go.Figure:
    """A figure where there is nothing to draw."""
    return go.Figure().update_layout(template=STYLE, title=words, height=height_pixels(3))


def _name_rows(figure: go.Figure, labels: Sequence[str], row: int, column: int) -> None:
    """Name bars by position: two tokens may read the same (with and without a space before), and stay two bars."""
    figure.update_yaxes(named_rows(labels), row=row, col=column)


def named_rows(labels: Sequence[str]) -> dict[str, list]:
    """What names the rows of an axis from 0 on, however alike they read."""
    return {"tickvals": list(range(len(labels))), "ticktext": list(labels)}


def axis_label(text: str) -> str:
    """Text for an axis: plotly reads tags, so they are escaped; it shows &quot; as it stands. Marks stand in quotes."""
    shown = text.strip()
    quoted = f"“{shown}”" if shown and not any(sign.isalnum() for sign in shown) else shown
    return escape(quoted, quote=False) or "␣"


def _wrapped(name: str) -> str:
    """A title for half of a small screen: a name breaks before a bracket or last word, a tuned one behind its base."""
    if len(name) <= MOST_TITLE_CHARACTERS:
        return escape(name, quote=False)
    if PART in name:
        head, tail = map(_cut, name.partition(" #")[0].split(PART, 1))
    else:
        at = name.find(" (") if " (" in name else name.rfind("/") + 1 or name.rfind(" ")
        head, tail = (name[:at], name[at:].lstrip()) if at > 0 else (name, "")
    return "<br>".join(escape(line, quote=False) for line in (head, tail) if line)


def _cut(line: str) -> str:
    return line if len(line) <= MOST_LINE_CHARACTERS else line[: MOST_LINE_CHARACTERS - 1] + "…"


def _filled(text: str, which: int, fill: str) -> str:
    """The text with one blank filled, for the hover; a fill that continues a word keeps its mark."""
    segments = split_at_any_blank(text)
    if which + 1 >= len(segments):  # the text marks its blanks by a mask of no known family
        return fill
    return BLANK.join(segments[: which + 1]) + f"[{fill}]" + BLANK.join(segments[which + 1 :])
