"""How far each part of a network went from where it started, and which layers a learned mix listens to."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from explorer.figures.notes import note
from explorer.figures.style import BLUE, GREY, STYLE, height_pixels, percent, percent_axis
from explorer.figures.tuning_words import TRAINED, count_words, main_score, rival_of
from explorer.training.tuning.results import Movement, Outcome

CLOSE = 0.1  # of the length of the start: less is close to it
LABEL_HEIGHT = 0.13  # of the highest bar
HEAD, OWN_HEAD = "head", "the network's own head"


def movement_bars(movements: Sequence[Movement]) -> go.Figure | None:
    """One bar for each part that pre-training gave a start, the input embeddings at the bottom; None = none moved.

    What is new has none to be compared with: beside its bar, the others would not be seen.
    """
    shown = [one for one in movements if not is_new(one) and (one.relative or one.part != OWN_HEAD)]
    most = max((one.relative for one in shown), default=0.0)
    if not most:
        return None
    parts = [one.part for one in shown]
    figure = go.Figure(
        go.Bar(
            x=[one.relative for one in shown], y=parts, orientation="h", marker={"color": BLUE},
            text=[percent(one.relative) if one.relative else "0" for one in shown],
            textposition="outside", cliponaxis=False,
            customdata=[[f"{one.parameters:,}", one.relative] for one in shown],
            hovertemplate="%{y}: %{customdata[1]:.6f}<br>%{customdata[0]} weights<extra></extra>",
        )
    )  # fmt: skip
    figure.update_xaxes(
        title="norm of the change / of the start", nticks=6, range=[0, 1.18 * most],
        **percent_axis(".0%" if most >= 0.05 else ".1%"),
    )  # fmt: skip
    return figure.update_layout(
        template=STYLE, height=height_pixels(len(parts)) - 40, margin={"t": 10, "b": 46, "l": 8, "r": 12}
    )


def is_new(movement: Movement) -> bool:
    """Whether a part has no start that pre-training gave it."""
    return movement.part.startswith(HEAD)


def movement_words(outcome: Outcome, method: str) -> str:
    """What the bars show; that it stays close to the start is said only where it does.

    Args:
        outcome: Of the run.
        method: A key of METHODS.
    """
    body = [one for one in outcome.movements if not is_new(one)]
    moved = [one for one in body if one.relative > 0]
    if not body:
        return note("Nothing was measured of how the weights moved.")
    count = f"{count_words(outcome.trained_parameters)} weights could move"
    if not moved:
        where = "The pre-trained layers stand exactly where they stood"
        return note(f"{count}. {where}: only what is new on top of them learned.")
    most, least = max(moved, key=lambda one: one.relative), min(moved, key=lambda one: one.relative)
    whose = "their" if most.part.endswith("s") else "its"  # embeddings; a layer, a head
    said = f"{count}: {TRAINED[method]}. What moved most: {most.part}, by {percent(most.relative)} of {whose} length; "
    said += f"least: {least.part}, by {percent(least.relative)}. "
    if still := [one.part for one in body if not one.relative]:
        said += f"Not at all: {', '.join(still)}. "
    if len(body) < len(outcome.movements):
        said += "The new head, which began at random, is left out. "
    if method == "scratch":
        return note(said + "It began from random weights, so that this is the way from there.")
    if most.relative < CLOSE:
        said += "Every part stayed within a tenth of its length of where pre-training left it"
        learned = main_score(outcome) is not None and rival_of(outcome) is None
        said += ": here, small changes were enough for what it learned." if learned else "."
    return note(said)


def mix_bars(mix: Sequence[float]) -> go.Figure:
    """The learned weight of each layer, 0 = input embeddings; alike, each would have the dotted one."""
    even, layers = 1 / len(mix), list(range(len(mix)))
    height = LABEL_HEIGHT * max(mix)
    figure = go.Figure(
        [
            go.Bar(
                x=layers, y=list(mix), marker={"color": BLUE}, showlegend=False,
                hovertemplate="layer %{x}: %{y:.4f}<extra></extra>",
            ),
            go.Scatter(  # above its bar, or above the line that would cross it
                x=layers, y=[even if even - height < weight < even else weight for weight in mix], mode="text",
                text=[percent(weight) for weight in mix], textposition="top center", cliponaxis=False,
                hoverinfo="skip", showlegend=False,
            ),
        ]
    )  # fmt: skip
    figure.add_hline(y=even, line={"color": GREY, "width": 1.5, "dash": "dot"})
    figure.update_xaxes(title="layer, 0 = input embeddings", dtick=1)
    figure.update_yaxes(title="weight in the mix", rangemode="tozero")
    figure.update_yaxes(percent_axis())
    return figure.update_layout(template=STYLE, height=250, margin={"t": 22, "b": 46, "l": 8, "r": 12})


def mix_words(mix: Sequence[float]) -> str:
    """Which layer the mix listens to most."""
    best = max(range(len(mix)), key=lambda layer: mix[layer])
    most, even = percent(mix[best]), percent(1 / len(mix))
    if most == even:
        return note(f"The mix still listens to all layers alike: none has clearly more than {even} (the dotted line).")
    return note(
        f"The mix listens most to layer {best} ({most}); were all alike, each would have {even} (the dotted line)."
    )
