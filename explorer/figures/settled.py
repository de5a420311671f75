"""How sure a model becomes of blanks that are filled one after another."""

import plotly.graph_objects as go

from explorer.analysis.results import BlankReveal
from explorer.figures.bars import SPARE_FOR_NUMBERS, axis_label, named_rows
from explorer.figures.style import BLUE, GREY, STYLE, as_words, height_pixels


def settled_bars(reveal: BlankReveal) -> go.Figure:
    """How unsure the model was of each blank: before anything was filled, and when the blank's turn came."""
    first = reveal.steps[0].blanks
    turns = [(step.blanks[step.filled_blank], first[step.filled_blank], step) for step in reveal.steps]
    names = [axis_label(f"{step.choice.text} (blank {step.filled_blank + 1})") for _, _, step in turns]
    sides = (("before anything was filled", [one for _, one, _ in turns], GREY), ("when its turn came",
             [one for one, _, _ in turns], BLUE))  # fmt: skip
    figure = go.Figure(
        [
            go.Bar(
                x=[blank.entropy_bits for blank in blanks],
                y=list(range(len(blanks))),
                text=[as_words(blank.entropy_bits) for blank in blanks],
                textposition="outside",
                cliponaxis=False,
                orientation="h",
                name=name,
                marker_color=colour,
                hovertemplate="%{x:.3f} bits, as unsure as among %{text}<extra>%{fullData.name}</extra>",
            )
            for name, blanks, colour in sides
        ]
    )
    most = max(blank.entropy_bits for _, blanks, _ in sides for blank in blanks)
    figure.update_xaxes(title="Entropy, in bits", range=[0, most * SPARE_FOR_NUMBERS])
    figure.update_yaxes(named_rows(names), autorange="reversed")
    return figure.update_layout(
        template=STYLE,
        height=height_pixels(2 * len(names)) + 24,
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0, "xanchor": "left"},
    )
