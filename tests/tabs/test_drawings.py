"""A chart that several ask for is drawn once, and what is kept of charts is bounded."""

import json
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import gradio as gr
import plotly.graph_objects as go

from explorer.analysis.results import Blank, BlankFills, Choice
from explorer.figures.bars import blank_bars
from explorer.tabs import drawings
from explorer.tabs.drawings import draw_once

MOST_SECONDS = 30


def fills(blanks: int = 1, choices: int = 2) -> BlankFills:
    options = tuple(Choice(f" word {n}", f"word{n}", n, 0.5 / (n + 1)) for n in range(choices))
    return BlankFills("A model", "___ " * blanks, ("___",), "joint", "", (Blank(0, options, 1.0),) * blanks, ())


def test_equal_results_are_drawn_once_though_all_ask_at_the_same_time():
    drawn, begun, barrier = [], Event(), Barrier(8)

    def draw(result):
        drawn.append(result)
        begun.wait(MOST_SECONDS)
        return go.Figure()

    def ask(number):
        barrier.wait(MOST_SECONDS)
        return draw_once(draw, fills())

    with ThreadPoolExecutor(9) as pool:
        asked = pool.map(ask, range(8))
        pool.submit(begun.set)
        assert len({id(chart) for chart in asked}) == 1
    assert len(drawn) == 1 and draw_once(draw, fills()) is draw_once(draw, fills()) and len(drawn) == 1
    draw_once(draw, fills(choices=3))
    assert len(drawn) == 2


def test_it_is_the_chart_that_would_be_drawn():
    drawn = draw_once(blank_bars, fills(3))
    assert gr.Plot().postprocess(blank_bars(fills(3))) == drawn
    assert json.loads(drawn.plot) == blank_bars(fills(3)).to_plotly_json()


def test_what_is_kept_is_bounded():
    long = "word " * 200_000
    for number in range(30):
        draw_once(lambda result: go.Figure(layout={"title": result}), f"{number} {long}")
    assert 0 < drawings._drawn.size_bytes <= drawings.ROOM_MIB * 2**20
