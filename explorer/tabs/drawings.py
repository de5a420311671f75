"""Charts that several ask for: a class that presses the same example has it drawn once."""

import sys
from collections.abc import Callable, Hashable
from typing import TypeVar

import plotly.graph_objects as go
from gradio.components.plot import PlotData

from explorer.tabs.kept import Kept

ROOM_MIB = 16

Result = TypeVar("Result", bound=Hashable)

_drawn: Kept[tuple[Callable, Hashable], PlotData] = Kept(ROOM_MIB, lambda chart: sys.getsizeof(chart.plot))


def draw_once(draw: Callable[[Result], go.Figure], result: Result) -> PlotData:
    """What draws a result, or has drawn an equal one, as gr.Plot sends it; its `plot` is plotly's JSON.

    Args:
        draw: One of explorer.figures.
        result: Of nothing but values that have a hash.
    """
    return _drawn.get((draw, result), lambda: PlotData(type="plotly", plot=draw(result).to_json()))
