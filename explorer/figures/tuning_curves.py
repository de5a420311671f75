"""Loss and score while models are fine-tuned: the training loss as a line, what was held out as marks on another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from textwrap import wrap

import plotly.graph_objects as go

from explorer.figures.layer_lines import LINE_PIXELS, Level, add_levels, mark_of
from explorer.figures.notes import note
from explorer.figures.style import SHARE, STANDOFF_PIXELS, STYLE, percent_axis, percents, two_decimals
from explorer.figures.tuning_words import (
    course_of,
    epochs_beyond,
    has_turned,
    held_out_losses,
    is_better_lower,
    is_share,
    rises_again,
    score_label,
    score_words,
)
from explorer.training.tuning.recipe import Recipe
from explorer.training.tuning.results import AVERAGED_STEPS, TrainingStep

HEIGHT_PIXELS = 270
TOP_PIXELS, BOTTOM_PIXELS = 16, 46
NAME_CHARACTERS = 42  # in a line above a chart that shares its row with another
MOST_DECIMALS = 6
BY_COSINE = ("spearman", "recall_at_1")  # of distances, which nobody can be sure of
STILL_ROSE = {  # score -> why it may rise where the loss does, too
    "spearman": "it goes by the order of the pairs alone, the loss also by how near each is",
    "recall_at_1": "it goes by which sentence is nearest, the loss also by how near all the others are",
}
BY_ANSWERS = "it goes by the answers alone, the loss also by how sure the wrong ones are"
NARROW = 0.06  # of an axis of shares: its ticks would be less than 1 % apart, and read alike
PLOT_PIXELS = HEIGHT_PIXELS - TOP_PIXELS - 2 * LINE_PIXELS - BOTTOM_PIXELS  # at least, beside two lines of names


@dataclass(frozen=True)
class Curve:
    """A run as the charts need it.

    Attributes:
        name: What tells it from the others.
        steps: In order, without outcomes; those measured with weights put back at the end are not of its course.
        mark: Place in layer_lines.MARKS.
    """

    name: str
    steps: Sequence[TrainingStep]
    mark: int = 0

    @property
    def course(self) -> list[TrainingStep]:
        """The steps on its way."""
        return course_of(self.steps)

    @property
    def trained(self) -> list[tuple[float, float]]:
        """Epoch and training loss, once it is there from where it is a mean of enough batches: of one it is luck."""
        known = [step for step in self.course if step.loss is not None]
        settled = [step for step in known if step.step >= min(AVERAGED_STEPS, step.steps / 4)]
        return [(step.epoch, step.loss) for step in settled or known]


def loss_chart(curves: Sequence[Curve], *, is_named: bool = False) -> go.Figure:
    """Training loss (thin) and held-out loss (dashed, with marks) of each run over its epochs.

    Args:
        curves: Of each run.
        is_named: Whether a single one is told by its name, too.
    """
    figure, last = go.Figure(), _last_epoch(curves)
    for curve in curves:
        colour, symbol, _ = mark_of(curve.mark)
        measured = [(step.epoch, step.held_out_loss) for step in curve.course if step.held_out_loss is not None]
        _draw(figure, f"{curve.name}, training", curve.trained, {"color": colour, "width": 1.6}, None)
        line = {"color": colour, "width": 2, "dash": "dash"}
        _draw(figure, f"{curve.name}, held out", _level(curve, measured, last), line, symbol)
    names = _names(curves)
    if len(curves) == 1:
        _, _, glyph = mark_of(curves[0].mark)
        names = [*(_names(curves) if is_named else []), f"— training   {glyph} held out"]
    else:
        names.append("line: training; dashed, with marks: held out")
    return _finish(figure, curves, names, "mean loss")


def score_chart(
    curves: Sequence[Curve], score: str, baselines: Mapping[str, float], *, is_named: bool = False
) -> go.Figure:
    """The task's main score on the held-out examples, beside baselines; as high as the losses of the same runs.

    Args:
        curves: Of each run.
        score: Its name, as of tuning_words.SCORES.
        baselines: Name -> the same score without fine-tuning.
        is_named: As loss_chart takes it.
    """
    figure, last = go.Figure(), _last_epoch(curves)
    for curve in curves:
        colour, symbol, _ = mark_of(curve.mark)
        points = [(step.epoch, step.score) for step in curve.course if step.score is not None]
        line = {"color": colour, "width": 2, "dash": "dot" if _is_level(curve) else None}
        _draw(figure, curve.name, _level(curve, points, last), line, symbol, share=is_share(score))
    names = [*_names(curves), " "] if is_named or len(curves) > 1 else []
    figure = _finish(figure, curves, names, f"held-out {score_label(score)}")
    values = [step.score for curve in curves for step in curve.course if step.score is not None]
    if values or baselines:
        low, high = min([*values, *baselines.values()]), max([*values, *baselines.values()])
        room = 0.12 * (high - low) or 0.05
        levels = [Level(value, f"{name} {score_words(score, value)}") for name, value in baselines.items()]
        ends = (low - room, high + room)
        if is_share(score):  # just enough beyond 0 and 100 % for a mark
            ends = (max(ends[0], -0.06 * ends[1]), min(ends[1], 1 + 0.06 * (1 - ends[0])))
        add_levels(figure, levels, ends, PLOT_PIXELS)
        if is_share(score):
            figure.update_yaxes(**percent_axis(), **({"dtick": 0.01} if 0 < high - low < NARROW else {}))
    return figure


def has_course(curves: Sequence[Curve]) -> bool:
    """Whether there is a loss that goes on from step to step: of heads that are fitted at once there is none."""
    lost = [{step.epoch for step in curve.steps if (step.loss, step.held_out_loss) != (None, None)} for curve in curves]
    return any(len(epochs) > 1 for epochs in lost)


def curve_words(curves: Sequence[Curve], score: str) -> str:
    """What the two charts show, run by run: first and last losses, the best score; a hint where it overfits."""
    said = []
    for curve in curves:
        losses = [loss for _, loss in curve.trained]
        held = held_out_losses(curve.steps)
        scores = [step.score for step in curve.course if step.score is not None]
        parts = []
        if losses:
            parts.append(f"training loss {_way([two_decimals(loss) for loss in losses])}")
        if held:
            parts.append(f"held-out loss {_way([_told(loss, held) for loss in held])}")
        if scores:
            parts.append(f"held-out {score_label(score)} {_way([score_words(score, value) for value in scores])}")
            parts[-1] += _peak(scores, score)
        if not parts:
            continue
        at_once = " (fitted at once to features read once)" if not losses and len({*held}) == 1 else ""
        said.append(f"{curve.name}{at_once}: {', '.join(parts)}{_turn(held, scores, score) or _is_short(curve, held)}.")
    return "".join(map(note, said))


def epochs_note(recipe: Recipe, steps: Sequence[TrainingStep], name: str = "") -> str:
    """Why a run takes more epochs than were asked for; "" = it does not.

    Args:
        recipe: Of the run.
        steps: Its log.
        name: Of the run, where there are several; else "".
    """
    planned = epochs_beyond(recipe, steps)
    if not planned:
        return ""
    least = next(step.steps for step in reversed(steps) if step.step and step.epoch)
    which = f"{name}: " if name else ""
    unless = ", unless patience ends it" if recipe.patience else ""
    return note(f"{which}{planned:.3g} epochs, not {recipe.epochs:g}: so few examples make few steps, and a run goes "
                f"on until {least:,} are made{unless}. The curves show whether fewer would have done.")  # fmt: skip


def _turn(held: Sequence[float], scores: Sequence[float], score: str) -> str:
    """What to say of a held-out loss that rises again, though the score may not fall with it."""
    if not rises_again(held):
        return ""
    lowest, worse = held.index(min(held)), "others worse by that loss"
    turns = (
        f"; its held-out loss was lowest ({_told(min(held), held)}) before the end: from there on it fits its own "
        f"examples ever better, and {worse if score in BY_COSINE else 'is surer than it should be of others'}"
    )
    has_risen = len(scores) == len(held) and scores[-1] == max(scores) > max(scores[: lowest + 1])
    if (is_share(score) or score in BY_COSINE) and has_risen:
        turns += f". The score still rose: {STILL_ROSE.get(score, BY_ANSWERS)}"
    return turns


def _told(loss: float, held: Sequence[float]) -> str:
    """A held-out loss with so many decimals that one that rose again differs from its lowest."""
    if not rises_again(held):
        return two_decimals(loss)
    ends = (min(held), held[-1])
    enough = (count for count in range(2, MOST_DECIMALS) if len({f"{one:.{count}f}" for one in ends}) > 1)
    return f"{loss:.{next(enough, MOST_DECIMALS)}f}"


def _is_short(curve: Curve, held: Sequence[float]) -> str:
    """What to say of a run that went through all its epochs and has not yet learned its own examples."""
    losses = [loss for _, loss in curve.trained]
    if (
        curve.steps[-1].step < curve.steps[-1].steps
        or len(losses) < 8
        or losses[-1] < 0.5 * losses[0]
        or losses[-1] > 0.97 * losses[3 * len(losses) // 4]
    ):
        return ""
    if has_turned(held):
        lowest = _told(min(held), held)
        return (
            f"; its training loss was still falling, its held-out loss no longer: that was lowest ({lowest}) on the way"
        )
    return "; its training loss was still falling: more epochs would teach it more of its own examples"


def _last_epoch(curves: Sequence[Curve]) -> float:
    return max((step.epoch for curve in curves for step in curve.steps), default=0)


def _level(curve: Curve, points: Sequence[tuple[float, float]], last: float) -> Sequence[tuple[float, float]]:
    """What was fitted at once has no course: beside other runs it is a level over all their epochs."""
    is_level = points and _is_level(curve) and last > points[-1][0]
    return [(at, points[-1][1]) for at in (0.0, last)] if is_level else points


def _is_level(curve: Curve) -> bool:
    return len({step.epoch for step in curve.course}) == 1


def _way(numbers: Sequence[str]) -> str:
    return numbers[-1] if numbers[0] == numbers[-1] else f"from {numbers[0]} to {numbers[-1]}"


def _peak(scores: Sequence[float], score: str) -> str:
    """The best score on the way, where neither the first nor the last is as good."""
    best = min(scores) if is_better_lower(score) else max(scores)
    told, first, last = (score_words(score, value) for value in (best, scores[0], scores[-1]))
    return "" if told in (first, last) else f" (at best {told} on the way)"


def _draw(
    figure: go.Figure,
    name: str,
    points: Sequence[tuple[float, float]],
    line: dict,
    symbol: str | None,
    *,
    share: bool = False,
) -> None:
    number = SHARE if share else "%{y:.3f}"
    figure.add_trace(
        go.Scatter(
            x=[at for at, _ in points],
            y=[value for _, value in points],
            text=percents(value for _, value in points) if share else None,
            name=name,
            mode="lines+markers" if symbol else "lines",
            line=line,
            marker={"symbol": symbol or "circle", "size": 8},
            hovertemplate=f"{escape(name)}<br>epoch %{{x:.2f}}: {number}<extra></extra>",
        )
    )


def _names(curves: Sequence[Curve]) -> list[str]:
    """Their lines above a chart: a long name takes several."""
    lines = []
    for curve in curves:
        colour, _, glyph = mark_of(curve.mark)
        wrapped = wrap(curve.name, NAME_CHARACTERS, subsequent_indent="    ")
        first, *others = map(escape, wrapped or [""])
        lines += [f"<span style='color:{colour}'>{glyph}</span> {first}", *others]
    return lines


def _finish(figure: go.Figure, curves: Sequence[Curve], names: Sequence[str], title: str) -> go.Figure:
    if names:
        figure.add_annotation(
            x=0, y=1, xref="paper", yref="paper", yanchor="bottom", xanchor="left", align="left",
            text="<br>".join(names), showarrow=False, font={"size": 12.5}, yshift=6,
        )  # fmt: skip
    if last := _last_epoch(curves):
        figure.update_xaxes(title="epochs: passes over the examples", range=[-0.02 * last, 1.04 * last])
    else:
        figure.update_xaxes(title="fitted at once to features read once: no steps", range=[-1, 1], tickvals=[])
    figure.update_yaxes(title={"text": title, "standoff": STANDOFF_PIXELS})
    margins = {"t": TOP_PIXELS + LINE_PIXELS * len(names), "b": BOTTOM_PIXELS, "l": 8, "r": 12}
    height = HEIGHT_PIXELS + LINE_PIXELS * max(0, len(names) - 2)
    return figure.update_layout(template=STYLE, height=height, showlegend=False, margin=margins)
