"""View: loss and score while the runs of a job go on, beside each other; of ever more examples, the label curve."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import gradio as gr

from explorer.figures.job_list import run_table
from explorer.figures.label_curve import LabelCurve, label_chart, label_words
from explorer.figures.notes import note
from explorer.figures.sentences import caption
from explorer.figures.style import waiting_chart
from explorer.figures.tuning_curves import (
    HEIGHT_PIXELS,
    Curve,
    curve_words,
    epochs_note,
    has_course,
    loss_chart,
    score_chart,
)
from explorer.figures.tuning_words import kind_of, main_score, run_name, score_label, score_meaning
from explorer.tabs.fine_tune.looking import Looked, Steps
from explorer.tabs.fine_tune.parts import Part
from explorer.tabs.fine_tune.taking import figure_link, job_links
from explorer.training.jobs.results import JobStatus
from explorer.training.tuning.recipe import METHODS
from explorer.training.tuning.results import AVERAGED_STEPS, auxiliary_remark, right_ones
from explorer.training.tuning.suits import MAIN_SCORES

VIEW = "curves"
NOTHING_YET = "The curves begin when the run does: the loss of the examples it learns from, and of those it never sees."
LOSS_TO_COME = "losses, once it has begun"
LOSS_NOTE = (
    f"training loss: mean of the latest {AVERAGED_STEPS} steps, drawn from the {AVERAGED_STEPS}th on or after a "
    "quarter of them all, and until then all of it; with dropout if the model has any; held-out loss: without"
)
BAG_OF_WORDS = "on words"  # in the name of a baseline that learns from the same examples


def build(first: Looked) -> tuple[gr.Tab, Part]:
    """Lay out the view, filled with what the tab opens on."""
    labels, loss, score, said, table, foot = draw(first)
    taken = _pictures(first)
    with gr.Tab("Curves", id=VIEW, elem_id=f"tune-view-{VIEW}") as tab:
        with gr.Column(elem_classes="with-figure", visible=labels is not None) as box:
            label_plot = gr.Plot(**_constructed(labels), show_label=False, elem_classes="figure", elem_id="tune-labels")
            pictures = [gr.HTML(taken[0], padding=False)]
        with gr.Row(elem_classes="chart-pair"):
            plots, halves = [], []
            for plot, name in ((loss, "loss"), (score, "score")):
                with gr.Column(min_width=300, elem_classes="with-figure", visible=plot is not None) as half:
                    halves.append(half)
                    plots.append(gr.Plot(**_constructed(plot), show_label=False, elem_classes="figure",
                                         elem_id=f"tune-{name}"))  # fmt: skip
                    pictures.append(gr.HTML(taken[len(pictures)], padding=False))
        words = gr.HTML(said, padding=False, elem_classes="result", elem_id="tune-curve-words")
        runs = gr.HTML(table, padding=False, elem_classes="result", elem_id="tune-runs")
        below = gr.HTML(foot, padding=False)
    return tab, Part(VIEW, VIEW, [box, label_plot, halves[0], *plots, words, runs, below, *pictures], _update, _key)


def _key(looked: Looked) -> tuple:
    return looked.age, looked.run


def draw(looked: Looked) -> tuple:
    """Label curve (None = it is no such job), losses (or None), scores, words, table, and what can be taken away."""
    status, steps = looked.status, looked.read_steps(looked.status.id)
    is_labels = kind_of(status.spec) == "labels"
    curves = curves_of(status, steps, only=looked.run if is_labels else None)
    named = {"is_named": is_labels}  # the charts are of one run of several
    score, baselines = score_of(status, looked.run, steps)
    has_loss, is_over = has_course(curves), status.state in ("done", "stopped", "failed")
    has_score = any(step.score is not None for curve in curves for step in curve.steps)
    lines, chance = label_curves(status) if is_labels else ((), {})
    drawn = [line for line in lines if line.points]
    said = label_words(drawn, score) if is_labels else ""
    said += curve_words(curves, score) or note(NOTHING_YET)
    said += _epochs_words(looked, steps, [looked.run] if is_labels else range(len(status.spec.runs)))
    whose = f"{run_name(status.spec, looked.run)}: " if len(status.spec.runs) > 1 else ""
    all_notes = [outcome.notes for outcome in status.outcomes.values()]
    for one in looked.outcome.notes if looked.outcome else ():
        is_of_all = len(all_notes) == len(status.spec.runs) and all(one in notes for notes in all_notes)
        said += note(one if is_of_all else whose + one)
    if has_score:
        label = score_label(score)
        said += note(f"{label[:1].upper()}{label[1:]}: {score_meaning(score, looked.the_run.recipe.task)}")
    if not looked.outcome and (weight := _auxiliary_weight(looked, steps)):
        said += note(whose + auxiliary_remark(weight))
    to_come = partial(waiting_chart, height=HEIGHT_PIXELS)
    losses = loss_chart(curves, **named) if has_loss else None if curves and is_over else to_come(LOSS_TO_COME)
    return (
        label_chart(drawn, score, chance) if drawn else None,
        losses,
        score_chart(curves, score, baselines, **named) if has_score else to_come("scores, once measured"),
        said,
        run_table(status),
        _foot(looked, has_course(curves_of(status, steps, only=looked.run)))
        + job_links([(status, steps)], "fine-tune"),
    )


def _auxiliary_weight(looked: Looked, steps: Steps) -> float:
    """λ of the loss of next words in the training loss of the run looked at, which its outcome has not told yet."""
    return next((logged.step.auxiliary_weight for logged in steps if logged.run == looked.run), 0.0)


def curves_of(status: JobStatus, steps: Steps, only: int | None = None) -> list[Curve]:
    """The logs of the runs that have begun.

    Args:
        status: Of their job.
        steps: Of all of them.
        only: Index of the only one wanted, with the mark that its method has over ever more examples; None = all.
    """
    begun, methods = sorted({logged.run for logged in steps}), _methods_of(status)
    marks = enumerate(begun) if only is None else [(methods.index(status.spec.runs[only].recipe.method), only)]
    return [
        Curve(run_name(status.spec, index), tuple(logged.step for logged in steps if logged.run == index), mark)
        for mark, index in marks
        if index in begun
    ]


def _epochs_words(looked: Looked, steps: Steps, runs: Iterable[int]) -> str:
    """Which of some runs take more epochs than were asked for, each by name where there are several."""
    spec = looked.status.spec
    return "".join(
        epochs_note(
            spec.runs[index].recipe,
            [logged.step for logged in steps if logged.run == index],
            run_name(spec, index) if len(spec.runs) > 1 else "",
        )
        for index in runs
    )


def _methods_of(status: JobStatus) -> list[str]:
    return list(dict.fromkeys(run.recipe.method for run in status.spec.runs))


def score_of(status: JobStatus, run: int, steps: Steps) -> tuple[str, dict[str, float]]:
    """Name of the main score and its baselines; before it is measured, what such tasks are mostly measured by."""
    done = status.outcomes.get(run) or next(iter(status.outcomes.values()), None)
    if done and (main := main_score(done)):
        return main[0], _all_baselines(status) if kind_of(status.spec) == "race" else done.baselines
    named = next((logged.step.score_name for logged in steps if logged.step.score_name), "")
    return named or MAIN_SCORES[status.spec.runs[run].recipe.task], {}


def _all_baselines(status: JobStatus) -> dict[str, float]:
    """Those of all runs of a race that are done, each with its model where they differ by it."""
    found: dict[str, dict[str, float]] = {}
    for index, outcome in sorted(status.outcomes.items()):
        for name, value in outcome.baselines.items():
            found.setdefault(name, {})[status.spec.runs[index].model] = value
    return {
        name if len({*values.values()}) == 1 else f"{name}, {model}": value
        for name, values in found.items()
        for model, value in values.items()
    }


def label_curves(status: JobStatus) -> tuple[tuple[LabelCurve, ...], dict[str, float]]:
    """Each method over the number of examples, baselines that learn likewise, and what needs no example."""
    lines: dict[tuple[str, bool], list[tuple[int, float]]] = {}
    right: dict[tuple[str, bool], list[tuple[int, tuple[bool, ...]]]] = {}
    chance: dict[str, float] = {}
    for index, run in enumerate(status.spec.runs):
        outcome = status.outcomes.get(index)
        main = main_score(outcome) if outcome else None
        if main is None:
            continue
        count = run.examples
        key = (METHODS[run.recipe.method], False)
        lines.setdefault(key, []).append((count, main[1]))
        right.setdefault(key, []).append((count, right_ones(outcome.judged)))
        for name, value in outcome.baselines.items():
            if BAG_OF_WORDS in name:
                points = lines.setdefault((name, True), [])
                points += [(count, value)] if count not in dict(points) else []
            else:
                chance[name] = value
    marks = {(METHODS[method], False): mark for mark, method in enumerate(_methods_of(status))}
    for key in sorted(lines, key=lambda key: key[1]):  # baselines last
        marks.setdefault(key, len(marks))
    drawn = sorted(lines, key=marks.__getitem__)
    curves = (
        LabelCurve(key[0], tuple(sorted(lines[key])), key[1], marks[key], tuple(sorted(right.get(key, []))))
        for key in drawn
    )
    return tuple(curves), chance


def _update(looked: Looked) -> tuple:
    labels, loss, score, *rest = draw(looked)
    plots = [gr.Plot(figure, visible=figure is not None) for figure in (labels, loss, score)]
    boxes = [gr.Column(visible=figure is not None) for figure in (labels, loss)]
    return boxes[0], plots[0], boxes[1], *plots[1:], *rest, *_pictures(looked)


def _pictures(looked: Looked) -> tuple[str, str, str]:
    """The PNG of each figure."""
    jobs, one = [looked.status], looked.run if kind_of(looked.status.spec) == "labels" else None
    return (
        figure_link(jobs, None, "fewer-labels", "Score over labelled examples"),
        figure_link(jobs, one, "fine-tune-loss", "Loss"),
        figure_link(jobs, one, "fine-tune-score", "Score"),
    )


def _constructed(figure: object) -> dict[str, object]:
    return {"value": figure, "visible": figure is not None}


def _foot(looked: Looked, has_steps: bool) -> str:
    recipe = looked.the_run.recipe
    which = f"{run_name(looked.status.spec, looked.run)}: " if len(looked.status.spec.runs) > 1 else ""
    return caption(
        [
            looked.the_run.model,
            looked.status.spec.examples_name,
            *([f"{which}batches of {recipe.batch_size}", f"learning rate {recipe.peak:g}"] if has_steps else []),
            f"{'' if has_steps else which}texts cut at {recipe.length_tokens} tokens",
            f"seed {recipe.seed}",
            LOSS_NOTE if has_steps else "",
        ]
    )
