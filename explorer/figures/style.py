"""Colours and spacing shared by every figure, in light and dark.

Backgrounds are transparent and text takes the colour of the page (assets/style.css), so that one figure serves both.
"""

import math
from collections.abc import Iterable

import plotly.graph_objects as go

from explorer.rounding import half_up

# Okabe and Ito 2008, https://jfly.uni-koeln.de/color/: told apart with any kind of colour vision
BLUE, ORANGE, GREEN, SKY, VERMILION, PURPLE = "#0072B2", "#E69F00", "#009E73", "#56B4E9", "#D55E00", "#CC79A7"
GREY = "#8A8F98"
GRID = "rgba(128, 134, 145, 0.22)"
SHARE = "%{text}"  # in a hovertemplate of a trace whose `text` is of percents(): plotly's own format writes 5%

NATS_PER_BIT = math.log(2)
LEAST_PERCENT = math.log(5e-5)  # as a percentage, 0.01
LARGE_NUMBERS = ((1e12, "trillion"), (1e9, "billion"), (1e6, "million"))
MOST_WORDED = 9.4e14  # hundreds of trillions; a larger number is a power of ten
MOST_LOG_RATIO = math.log(1_000_000)
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

STYLE = go.layout.Template(
    layout={
        "font": {"family": "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif", "size": 13, "color": GREY},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "colorway": [BLUE, ORANGE, GREEN, VERMILION, SKY, PURPLE],
        "margin": {"l": 8, "r": 16, "t": 52, "b": 44},
        "xaxis": {
            "gridcolor": GRID,
            "zerolinecolor": GRID,
            "automargin": True,
            "fixedrange": True,
            "title": {"font": {"size": 13}},
        },
        "yaxis": {
            "gridcolor": GRID,
            "zerolinecolor": GRID,
            "automargin": True,
            "fixedrange": True,
            "title": {"font": {"size": 13}},
        },
        "hoverlabel": {"font": {"size": 13}},
        "annotationdefaults": {"font": {"size": 15}},
        "bargap": 0.28,
        "dragmode": False,
    }
)
ROW_PIXELS = 30  # of one bar
STANDOFF_PIXELS = 8  # of an axis title from the longest label: without it they overlap
FRAME_PIXELS = 108  # titles and axis around the bars


def height_pixels(rows: int) -> int:
    """Height of a bar chart with that many rows, so that bars are equally thick everywhere."""
    return FRAME_PIXELS + ROW_PIXELS * max(rows, 3)


def two_decimals(number: float) -> str:
    """A number with a real minus sign, and none before a zero: −4.98."""
    return decimals(number, 2)


def decimals(number: float, count: int) -> str:
    """As two_decimals, with as many decimals as are wanted."""
    return f"{number:z.{count}f}".replace("-", "−")


def nats(log_probability: float) -> str:
    """A log-probability, in nats, as two_decimals writes it."""
    return two_decimals(log_probability)


def count_of(number: int, noun: str) -> str:
    """A number of things: 1 token, 1,200 tokens."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def percent_axis(kind: str = ".0%") -> dict[str, object]:
    """An axis of shares whose numbers read like all others here, 5 %; plotly's own are 5%.

    Args:
        kind: The number format of d3: ".0%", ".1%", or "~p", whose ticks are powers of ten.
    """
    shown = {
        ".0%": [str(number) for number in range(101)],
        ".1%": [f"{number / 10:.1f}" for number in range(101)],
        "~p": ["100", "10", "1", *(f"0.{'0' * zeros}1" for zeros in range(9))],
    }[kind]
    return {"tickformat": kind, "labelalias": {f"{number}%": f"{number} %" for number in shown}}


def percents(shares: Iterable[float | None]) -> list[str | None]:
    """As the `text` of a trace, for SHARE; None, a gap in a line, stays one."""
    return [None if share is None else percent(share) for share in shares]


def percent(probability: float) -> str:
    """A probability as a reader wants it: 49 %, 3.1 %, 0.02 %, < 0.01 %; 0 % only of none at all, 100 % only of all.

    What five digits cannot tell from 1, as a sum of rounded numbers, is all. A half is rounded up, as readers and the
    page's scripts (assets/tokens.js) do: 92.5 is 93 %.
    """
    share = 100 * probability
    if 99.5 <= share < 99.9995:
        return f"{half_up(share, 1)} %" if share < 99.95 else "> 99.9 %"
    if share >= 9.95:
        return f"{half_up(share, 0)} %"
    if share >= 0.095:
        return f"{half_up(share, 1)} %"
    if not share:
        return "0 %"
    return f"{half_up(share, 2)} %" if share >= 0.005 else "< 0.01 %"


def likelihood(log_probability: float) -> str:
    """A probability that may be very small, from its natural logarithm: 12 %, 0.02 %, 1 in 28 million."""
    if log_probability >= LEAST_PERCENT:
        return percent(math.exp(log_probability))
    if log_probability == -math.inf:
        return "0 %"
    if log_probability < -math.log(MOST_WORDED):
        return f"1 in 10{raised(round(-log_probability / math.log(10)))}"
    one_in = float(f"{math.exp(-log_probability):.1e}")  # two digits are known
    size, name = next((one for one in LARGE_NUMBERS if one_in >= one[0]), (1, ""))
    return f"1 in {one_in / size:,.10g} {name}".rstrip()


def small_number(logarithm: float) -> str:
    """A score between 0 and 1 that is no probability, from its natural logarithm: 0.65, 0.044, 3 · 10⁻⁸."""
    if logarithm >= math.log(9.5e-5) or logarithm == -math.inf:
        return f"{math.exp(logarithm):.2g}"
    exponent = math.floor(logarithm / math.log(10))
    digit = round(math.exp(logarithm - exponent * math.log(10)))
    digit, exponent = (1, exponent + 1) if digit == 10 else (digit, exponent)
    return f"{digit} · 10{raised(exponent)}"


def raised(exponent: int) -> str:
    """A whole number as it stands behind a base: −4 in 10⁻⁴."""
    return str(exponent).translate(RAISED)


def as_words(entropy_bits: float) -> str:
    """An entropy in bits, told as so many equally likely words."""
    words = 2**entropy_bits
    return f"{f'{words:,.0f}' if words >= 9.95 else f'{words:.1f}'} words"


def times(log_ratio: float) -> str:
    """How many times as likely one thing is as another, from the natural logarithm of their ratio, at least 0."""
    ratio = math.exp(min(log_ratio, MOST_LOG_RATIO))
    if ratio < 1.05:
        return "about as likely as"
    if log_ratio >= MOST_LOG_RATIO:
        return "more than a million times as likely as"
    return f"{ratio:,.0f} times as likely as" if ratio >= 9.95 else f"{ratio:.1f} times as likely as"


def waiting_chart(words: str, height: int) -> go.Figure:
    """A place as high as a figure that is still to come, so that nothing jumps when it does."""
    figure = go.Figure().update_layout(template=STYLE, height=height, xaxis_visible=False, yaxis_visible=False)
    return figure.add_annotation(
        text=words, showarrow=False, x=0.5, y=0.5, xref="paper", yref="paper", font={"size": 13}
    )


def with_narrow(figure: go.Figure, narrow: go.Figure) -> go.Figure:
    """A figure that a phone lays out as another one of the same traces (assets/narrow.js)."""
    layout = narrow.layout.to_plotly_json()
    del layout["template"]  # the same
    return figure.update_layout(meta={"narrow": layout})


def with_title(figure: go.Figure, title: str) -> go.Figure:
    """A figure that says of itself in a PNG what the button beside it does not know (assets/taking_away.js)."""
    return figure.update_layout(meta={**(figure.layout.meta or {}), "title": title})
