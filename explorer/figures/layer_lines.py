"""Numbers layer by layer: lines told apart by colour and shape, with or without bands, beside what they would be else.

The names of several lines stand above the chart, as the page has no legend; of one line it stands above already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import plotly.graph_objects as go

from explorer.figures.sense_marks import COLOURS
from explorer.figures.style import GREY, SHARE, STYLE, percents

HEIGHT_PIXELS = 270
LINE_PIXELS = 18  # of the names above
TOP_PIXELS, BOTTOM_PIXELS = 14, 46
MARKS = tuple(  # colour, shape, the same as a character: of the first line, the second, …
    (colour, shape, glyph)
    for colour, (shape, glyph) in zip(
        COLOURS,
        (("circle", "●"), ("diamond", "◆"), ("square", "■"), ("triangle-up", "▲"), ("cross", "✚"), ("x", "✖")),
        strict=False,
    )
)
BAND_OPACITY = 0.3
LABEL_PIXELS, LABEL_ROW_PIXELS = 12, 16  # of letters, of a line of them
MARK_PIXELS = 4  # half of a mark
LABEL_SHARE = 0.65  # of the width of a narrow chart
ROOM = 0.16  # above and below what is drawn, of its height: labels of levels stand there


@dataclass(frozen=True)
class LayerLine:
    """One line of a chart.

    Attributes:
        name: What it shows.
        mark: Place in MARKS; beyond the last they come again.
        points: (layer, value); None is left out.
        band: (low, high) of each point; none = without a band.
        is_baseline: Whether it is what another line is compared with: dashed, and named by the caller.
    """

    name: str
    mark: int
    points: tuple[tuple[int, float | None], ...]
    band: tuple[tuple[float, float], ...] = ()
    is_baseline: bool = False


@dataclass(frozen=True)
class Level:
    """A value beside the lines, the same in all layers, e.g. what an isotropic space has.

    Attributes:
        value: On the axis of the lines.
        label: What it is.
        mark: Whose it is, as LayerLine has it; None = of all.
        at: Where on the axis of layers the label ends: "right" or "middle".
    """

    value: float
    label: str
    mark: int | None = None
    at: str = "right"


def mark_of(place: int) -> tuple[str, str, str]:
    """Colour, shape, and the shape as a character."""
    return MARKS[place % len(MARKS)]


def layer_chart(
    lines: Sequence[LayerLine],
    title: str,
    layer: int | None,
    *,
    number: str = "%{y:.2f}",
    levels: Sequence[Level] = (),
    ends: tuple[float, float] | None = None,
    dashed: str = "",
) -> go.Figure:
    """Draw lines over the layers.

    Args:
        lines: Each has at least no point.
        title: Of the axis of values.
        layer: Marked as the one looked at, or the last where there is no such layer; None = none.
        number: How plotly writes a value when it is pointed at; SHARE = as a percentage.
        levels: Values beside them, each a dotted line with its label.
        ends: Least and most of the axis of values, where there are levels; None = what holds all.
        dashed: What the dashed lines are, named above where several others are.
    """
    figure = go.Figure()
    for line in lines:
        _draw(figure, line, number)
    named = [line for line in lines if not line.is_baseline]
    if len(named) > 1:  # one needs no name: it stands above
        said = (f"<span style='color:{mark_of(one.mark)[0]}'>{mark_of(one.mark)[2]}</span> {escape(one.name)}"
                 for one in named)  # fmt: skip
        above = [*said, f"- - {escape(dashed)}"] if dashed else [*said]
        figure.add_annotation(
            x=0, y=1, xref="paper", yref="paper", yanchor="bottom", xanchor="left", align="left",
            text="<br>".join(above), showarrow=False, font={"size": 12.5}, yshift=6,
        )  # fmt: skip
    last = max((at for line in lines for at, _ in line.points), default=0)
    if layer is not None:
        figure.add_vline(x=min(layer, last), line={"color": GREY, "width": 1}, opacity=0.6)
    names = len(named) + bool(dashed) if len(named) > 1 else 0
    if levels:  # plotly fits the axis to lines alone
        height = HEIGHT_PIXELS - TOP_PIXELS - BOTTOM_PIXELS - LINE_PIXELS * min(names, 2)
        add_levels(figure, levels, ends or _fit(lines, levels), height)
    figure.update_xaxes(title="layer, 0 = input embeddings", dtick=max(1, round(last / 8)), range=[-0.3, last + 0.3])
    figure.update_yaxes(title=title)
    margins = {"t": TOP_PIXELS + LINE_PIXELS * names, "b": BOTTOM_PIXELS, "l": 8, "r": 12}
    height = HEIGHT_PIXELS + LINE_PIXELS * max(0, names - 2)  # more names take nothing of the chart
    return figure.update_layout(template=STYLE, height=height, showlegend=False, margin=margins)


def add_levels(figure: go.Figure, levels: Sequence[Level], ends: tuple[float, float], height_pixels: float) -> None:
    """Draw values across a chart, each with its label, and labels of near ones so far apart that each can be read.

    Args:
        figure: The chart.
        levels: Their labels stand above them, or below where the lines of the chart leave more room.
        ends: Least and most of the axis of values; this sets it.
        height_pixels: From the one end of the axis to the other.
    """
    low, high = ends
    for level in levels:
        if not level.label:
            add_level(figure, level)
    ordered = sorted((level for level in levels if level.label), key=lambda level: level.value)
    lines = [(level.value - low) / (high - low) * height_pixels for level in ordered]
    drawn = [(value - low) / (high - low) * height_pixels for value in _beside_labels(figure)]
    wanted = []
    for index, line in enumerate(lines):
        above, below = (
            sum(-MARK_PIXELS <= at - start <= LABEL_ROW_PIXELS + MARK_PIXELS for at in drawn)
            for start in (line, _under(line))
        )
        above += len(drawn) * (line + LABEL_ROW_PIXELS > height_pixels)  # there it would be moved down, onto its line
        gap = MARK_PIXELS * any(abs(at - line) < MARK_PIXELS for at in drawn)  # of marks that lie on it
        is_narrow = index == 0 and len(lines) > 1 and lines[1] - line < 2 * LABEL_ROW_PIXELS
        is_below = _under(line) >= 0 and (below < above or (is_narrow and below == above))
        wanted.append(max(0.0, _under(line) - gap) if is_below else line + gap)
    places = spread(wanted, LABEL_ROW_PIXELS, height_pixels - LABEL_ROW_PIXELS)
    for level, line, place in zip(ordered, lines, places, strict=True):
        add_level(figure, level, shift_pixels=place - line)
    figure.update_yaxes(range=ends)


def _under(line: float) -> float:
    return line - LABEL_ROW_PIXELS


def _beside_labels(figure: go.Figure) -> list[float]:
    """What a chart has where labels stand, in its right part."""
    points = [point for trace in figure.data for point in zip(trace.x, trace.y, strict=True)]
    ends = [at for at, _ in points] or [0]
    start = max(ends) - LABEL_SHARE * (max(ends) - min(ends))
    return [value for at, value in points if at >= start]


def spread(places: Sequence[float], least: float, most: float) -> list[float]:
    """Places so near to those given as they can be with as much between any two.

    Args:
        places: In rising order.
        least: Between two that follow on each other.
        most: The highest place, where there is room for all below it.
    """
    found: list[float] = []
    for place in places:
        found.append(max(place, found[-1] + least) if found else place)
    for index in reversed(range(len(found))):
        found[index] = min(found[index], most - least * (len(found) - 1 - index))
    return found


def add_level(figure: go.Figure, level: Level, *, shift_pixels: float = 0.0) -> None:
    """Draw one value across a chart, dotted, with its label, which may stand higher or lower by some pixels."""
    colour = GREY if level.mark is None else mark_of(level.mark)[0]
    sign = "" if level.mark is None else f"<span style='color:{colour}'>{mark_of(level.mark)[2]}</span> "
    figure.add_hline(y=level.value, line={"color": colour, "width": 1.5, "dash": "dot"})
    if level.label:
        is_right = level.at == "right"
        figure.add_annotation(
            x=1 if is_right else 0.5, xref="x domain", y=level.value, text=f"{sign}{escape(level.label)}",
            showarrow=False, xanchor="right" if is_right else "center", yanchor="bottom",
            font={"size": LABEL_PIXELS}, yshift=shift_pixels,
        )  # fmt: skip


def _fit(lines: Sequence[LayerLine], levels: Sequence[Level]) -> tuple[float, float]:
    values = [value for line in lines for _, value in line.points if value is not None]
    values += [end for line in lines for ends in line.band for end in ends] + [level.value for level in levels]
    low, high = min(values), max(values)
    room = ROOM * (high - low) or ROOM
    return low - room, high + room


def _draw(figure: go.Figure, line: LayerLine, number: str) -> None:
    colour, symbol, _ = mark_of(line.mark)
    known = [(at, value) for at, value in line.points if value is not None]
    layers = [at for at, _ in known]
    hover, ends = f"{escape(line.name)}<br>layer %{{x}}: {number}", None
    if line.band:
        red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
        figure.add_trace(
            go.Scatter(
                x=[*layers, *reversed(layers)],
                y=[*(high for _, high in line.band), *(low for low, _ in reversed(line.band))],
                fill="toself",
                fillcolor=f"rgba({red}, {green}, {blue}, {BAND_OPACITY})",
                line={"width": 0},
                mode="lines",
                hoverinfo="skip",
                name=f"{line.name}, 95 % interval",
            )
        )
        interval = "%{customdata[{}]}" if number == SHARE else number.replace("y:", "customdata[{}]:")
        hover += f" [{interval.replace('{}', '0')}, {interval.replace('{}', '1')}]"
        ends = [percents(one) if number == SHARE else list(one) for one in line.band]
    figure.add_trace(
        go.Scatter(
            x=layers,
            y=[value for _, value in known],
            text=percents(value for _, value in known) if number == SHARE else None,
            customdata=ends,
            name=line.name,
            mode="lines" if line.is_baseline else "lines+markers",
            line={"color": colour, "dash": "dash" if line.is_baseline else "solid", "width": 2},
            marker={"symbol": symbol, "size": 8},
            hovertemplate=f"{hover}<extra></extra>",
        )
    )
