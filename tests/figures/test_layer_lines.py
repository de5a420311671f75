"""Lines over layers: told apart by more than colour, what is not there left out, levels within sight."""

import plotly.graph_objects as go
import pytest

from explorer.figures.layer_lines import (
    LABEL_ROW_PIXELS,
    MARK_PIXELS,
    MARKS,
    LayerLine,
    Level,
    add_levels,
    layer_chart,
    mark_of,
    spread,
)
from explorer.figures.style import GREY

EVIL = "</script><b>"


def line(name="A & B", mark=0, values=(0.2, 0.5, 0.4), **more):
    return LayerLine(name, mark, tuple(enumerate(values)), **more)


def test_every_line_has_a_colour_and_a_shape_of_its_own_and_is_named():
    lines = [line(f"{EVIL}{mark}", mark) for mark in range(len(MARKS))]
    figure = layer_chart(lines, "cosine", None)
    assert len({one.line.color for one in figure.data}) == len({one.marker.symbol for one in figure.data}) == len(MARKS)
    (names,) = [one.text for one in figure.layout.annotations]
    assert EVIL not in names and all(glyph in names for _, _, glyph in MARKS)
    assert mark_of(len(MARKS)) == mark_of(0)


def test_layers_without_a_value_are_left_out_and_one_line_needs_no_name():
    figure = layer_chart([line(values=(None, 0.5, 0.4))], "cosine", 1)
    (drawn,) = figure.data
    assert list(drawn.x) == [1, 2] and list(drawn.y) == [0.5, 0.4] and "A &amp; B" in drawn.hovertemplate
    assert not figure.layout.annotations
    assert [shape.x0 for shape in figure.layout.shapes] == [1]


def test_a_level_is_in_sight_though_all_lines_are_far_from_it():
    levels = [Level(-1.0, f"isotropic {EVIL}"), Level(2.0, "", mark=3)]
    figure = layer_chart([line()], "cosine", None, levels=levels)
    low, high = figure.layout.yaxis.range
    assert low < -1 and high > 2
    assert {shape.y0: shape.line.color for shape in figure.layout.shapes} == {-1: GREY, 2: MARKS[3][0]}
    (label,) = [one.text for one in figure.layout.annotations]
    assert label == "isotropic &lt;/script&gt;&lt;b&gt;", "an empty label is none"


def test_a_band_follows_its_line_there_and_back():
    figure = layer_chart([line(band=((0.1, 0.3), (0.4, 0.6), (0.3, 0.5)))], "cosine", None)
    band, drawn = figure.data
    assert list(band.x) == [0, 1, 2, 2, 1, 0] and list(band.y) == pytest.approx([0.3, 0.6, 0.5, 0.3, 0.4, 0.1])
    assert [tuple(one) for one in drawn.customdata] == [(0.1, 0.3), (0.4, 0.6), (0.3, 0.5)]


def test_a_chart_of_nothing_is_a_chart():
    figure = layer_chart([line(values=(None,))], "cosine", 3, levels=[Level(0.0, "isotropic 0")])
    assert list(figure.data[0].x) == [] and figure.layout.yaxis.range[0] < 0 < figure.layout.yaxis.range[1]


@pytest.mark.parametrize("values", [(0.3, 0.3), (0.3, 0.31, 0.32, 0.9), (0.99, 1.0, 1.0), (0.1, 0.5, 0.9), (0.0, 0.0)])
def test_labels_of_near_levels_stand_apart_within_the_chart(values):
    figure, height = go.Figure(), 200
    add_levels(figure, [Level(value, f"{value} {n}") for n, value in enumerate(values)], (0.0, 1.0), height)
    assert sorted(shape.y0 for shape in figure.layout.shapes) == sorted(values), "each line stays where it is"
    places = sorted(note.y * height + note.yshift for note in figure.layout.annotations)
    assert {note.yanchor for note in figure.layout.annotations} == {"bottom"}
    assert min(above - below for below, above in zip(places, places[1:], strict=False)) >= LABEL_ROW_PIXELS
    assert places[0] >= 0 and places[-1] + LABEL_ROW_PIXELS <= height


def test_a_label_of_a_value_at_the_foot_of_the_axis_stands_above_its_ticks():
    figure = layer_chart(
        [line(values=(0.9, 0.8, 0.9))], "share", None, levels=[Level(0.0, "words 0 %")], ends=(0, 1.02)
    )
    (label,) = figure.layout.annotations
    assert label.yanchor == "bottom" and label.yshift >= 0 and tuple(figure.layout.yaxis.range) == (0, 1.02)


def test_places_that_are_far_apart_stay():
    assert spread([0.0, 50.0, 180.0], 16, 184) == [0.0, 50.0, 180.0] and spread([], 16, 184) == []


def test_a_label_at_the_top_stands_below_its_line_and_the_marks_on_it():
    figure = go.Figure(go.Scatter(x=[0, 1, 2], y=[0.6, 1.0, 1.0]))
    add_levels(figure, [Level(1.0, "words 100 %"), Level(0.5, "chance")], (0.4, 1.02), 200)
    assert min(note.yshift for note in figure.layout.annotations) == -LABEL_ROW_PIXELS - MARK_PIXELS


def test_a_label_stands_where_the_lines_leave_room():
    levels = [Level(0.5, "chance")]
    for values, is_below in (((0.9, 0.9, 0.9), False), ((0.9, 0.55, 0.52), True), ((0.55, 0.9, 0.45), False)):
        figure = go.Figure(go.Scatter(x=[0, 1, 2], y=values))
        figure.add_scatter(x=[0, 0.1, 0.2], y=[0.47, 0.47, 0.53])  # which ends on the left
        add_levels(figure, levels, (0.0, 1.0), 200)
        (label,) = figure.layout.annotations
        assert label.yshift == (-LABEL_ROW_PIXELS if is_below else 0)
