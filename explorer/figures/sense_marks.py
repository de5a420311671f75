"""One colour and one shape for each sense of a word, the same in every figure, table and legend."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

from explorer.figures.style import GREY

# Near Okabe and Ito's blue, orange and green, and seven more, each at a contrast of 3 or more on the light page and on
# the dark one, which leaves a narrow band of lightness. Within it they were searched for the largest distances: in
# CIELAB 42 or more for normal vision, 17 for protan and deutan, 11 for tritan. As that is little for small dots, the
# shape differs, too.
COLOURS = (
    "#1E87D2", "#D27800", "#009678", "#D21E1E", "#C378B4", "#9600FF", "#96964B", "#C300A5", "#695AE1", "#FF1E78",
)  # fmt: skip
SHAPES = {"circle": "●", "diamond": "◆", "square": "■", "cross": "✚", "x": "✖"}  # plotly has these in 2-D and 3-D
UNLABELLED = "no label"


@dataclass(frozen=True)
class SenseMark:
    """How a sense is drawn.

    Attributes:
        colour: As "#rrggbb".
        shape: As plotly names it, in 2-D and 3-D.
    """

    colour: str
    shape: str

    @property
    def glyph(self) -> str:
        """The shape as a character."""
        return SHAPES[self.shape]


def mark_senses(senses: Iterable[str]) -> dict[str, SenseMark]:
    """The mark of each sense, in the order of first appearance; grey for "", which is no sense.

    Args:
        senses: Of all uses, in their order, so that every view marks a sense alike. With more than ten senses colours
            come again in another shape.
    """
    names = [sense for sense in dict.fromkeys(senses) if sense]
    marks = {name: _mark(index) for index, name in enumerate(names)}
    return marks | {"": SenseMark(GREY, "circle")}


def sense_label(sense: str, marks: dict[str, SenseMark]) -> str:
    """A sense in a sentence or a table: its mark and its name, as escaped HTML.

    Args:
        sense: "" = none.
        marks: Of mark_senses; a sense that it does not have is drawn as none.
    """
    mark = marks.get(sense, marks[""])
    return (
        f"<span class='sense'><i style='color:{mark.colour}' aria-hidden='true'>{mark.glyph}</i> "
        f"<bdi>{escape(sense or UNLABELLED)}</bdi></span>"
    )


def _mark(index: int) -> SenseMark:
    shapes = tuple(SHAPES)
    turn, colour = divmod(index, len(COLOURS))
    return SenseMark(COLOURS[colour], shapes[(index + turn) % len(shapes)])
