"""View: what the visitor has trained; choose one to look at it, tick several to compare them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Literal

import gradio as gr

from explorer.figures.job_list import job_list, when
from explorer.figures.notes import note
from explorer.figures.tuning_curves import Curve, has_course, loss_chart, score_chart
from explorer.figures.tuning_words import run_name
from explorer.settings import settings
from explorer.tabs.fine_tune.curves import score_of
from explorer.tabs.fine_tune.job import TO_JOB
from explorer.tabs.fine_tune.looking import BEST, Looked, Steps, telling_run
from explorer.tabs.fine_tune.parts import Part
from explorer.tabs.fine_tune.taking import figure_link, job_links
from explorer.tabs.kinds import told
from explorer.tabs.later import later_figure
from explorer.tabs.messages import QUIET
from explorer.training.jobs.results import JobStatus
from explorer.training.tuning.recipe import Recipe

VIEW = "history"
MOST_COMPARED = 6  # lines that can still be told apart
TELLS_APART = {  # field of a recipe -> how it reads behind a name that several runs have
    "epochs": "{:g} epochs",
    "peak": "learning rate {:g}",
    "batch_size": "batches of {}",
    "lora_rank": "rank {}",
    "similarity_loss": "loss {}",
    "length_tokens": "texts cut at {} tokens",
    "seed": "seed {}",
}
FEW_DRAWN = (
    "{0} of {1} runs are drawn, as many as can be told apart: the best of each row that is ticked, then the others. "
    "The files below hold all of them."
)
OTHER_SCORES = "Their scores are of different kinds, which stand on no common axis: they are left out."
OTHER_LOSSES = "Their losses are of different kinds: see where each falls and rises; which is lower says nothing."
BY_LINK = "The curves below are of the runs that a link names."
GONE = "Not all runs that were ticked are here: some were deleted, or never were."
HINT = "Tick two or more, and their curves stand on one axis below."
ON_LOAD = (
    f"const toJob = {TO_JOB};"
    + """
element.addEventListener('click', event => {
  const look = event.target.closest('button[data-act="look"]');
  if (!look) return;
  trigger('select', {act: 'look', job: look.dataset.job});
  toJob();
});
element.addEventListener('change', event => {
  if (!event.target.matches('[data-act="tick"]')) return;
  const boxes = [...element.querySelectorAll('[data-act="tick"]')];
  const jobs = boxes.filter(box => box.checked).map(box => box.dataset.job);
  trigger('select', {act: 'tick', jobs});
});
"""
)


@dataclass(frozen=True)
class Clicked:
    """A button or a box of the list.

    Attributes:
        act: Whether one job is to be looked at, or the ticked ones side by side.
        job: Id of the one.
        jobs: Ids of the ticked ones.
    """

    act: Literal["look", "tick"]
    job: str = ""
    jobs: tuple[str, ...] = ()


def build(job: gr.Textbox, run: gr.Dropdown) -> tuple[gr.Tab, list[Part], gr.Textbox]:
    """Lay out the view; returns what holds the ticked jobs, too: ids, parted by blanks.

    Args:
        job: Holds the id of the job in sight.
        run: Holds the index of its run looked at.
    """
    with gr.Tab("Your runs", id=VIEW) as tab:
        table = gr.HTML(js_on_load=ON_LOAD, padding=False, elem_id="tune-history")
        with gr.Row(elem_classes="chart-pair"):
            plots, pictures = [], []
            for name in ("loss", "score"):
                with gr.Column(min_width=300, elem_classes="with-figure"):
                    plots.append(later_figure(f"compared-{name}"))
                    pictures.append(gr.HTML(padding=False))
        foot = gr.HTML(padding=False)
        ticked = gr.Textbox("", visible="hidden")

    def choose(event: gr.EventData) -> tuple:
        clicked = told(event, Clicked)
        if clicked.act == "look":
            return clicked.job, BEST, gr.skip()
        return gr.skip(), gr.skip(), " ".join(clicked.jobs[: settings().most_jobs])

    table.select(choose, None, [job, run, ticked], trigger_mode="multiple", **QUIET)

    def key(looked: Looked, ticked: str) -> tuple:
        jobs = tuple((one.id, one.state, one.place, len(one.outcomes)) for one in looked.jobs)
        return jobs, looked.status.id, ticked, looked.age if looked.status.id in ticked else ""

    def listed_key(looked: Looked, ticked: str) -> tuple:
        return *key(looked, ticked), tuple(when(one.created_at, time.time()) for one in looked.jobs)

    listed = Part("listed", VIEW, [table], _listed, listed_key, [ticked])
    compared = Part(
        "compared", VIEW, [*plots, foot, *pictures], _compared, key, [ticked]
    )  # zoomed in while time passes
    return tab, [listed, compared], ticked


def _listed(looked: Looked, ticked: str) -> tuple[str]:
    ids, own, others = _ticked(looked, ticked)
    table = job_list(looked.jobs, looked.status.id, ids, time.time()) + (note(HINT) if len(looked.jobs) > 1 else "")
    is_gone = len(own) + len(others) < len(set(ids))
    return (table + (note(BY_LINK) if others else "") + (note(GONE) if is_gone else ""),)


def _ticked(looked: Looked, ticked: str) -> tuple[list[str], list[JobStatus], list[JobStatus]]:
    """The ids that are ticked, and of their jobs the visitor's and those of others that a link names."""
    ids = (ticked or "").split()[: settings().most_jobs]
    own = [status for status in looked.jobs if status.id in ids]
    linked = [id for id in dict.fromkeys(ids) if id not in [status.id for status in own]]
    return ids, own, [status for status in map(looked.find, linked) if status is not None]


def _compared(looked: Looked, ticked: str) -> tuple:
    _, own, others = _ticked(looked, ticked)
    chosen = [*own, *others]
    if not chosen:
        return gr.Plot(visible=False), gr.Plot(visible=False), "", "", ""
    told = [(status, looked.read_steps(status.id)) for status in chosen]
    runs, ran = _drawn(told)
    curves = [
        Curve(name, tuple(logged.step for logged in steps if logged.run == index), mark)
        for mark, (name, (_, index, steps)) in enumerate(zip(_names(runs), runs, strict=True))
    ]
    measured = [score_of(status, 0, steps) for status, steps in told]
    recipes = [status.spec.runs[0].recipe for status in chosen]
    kinds = {(recipe.task, score) for recipe, (score, _) in zip(recipes, measured, strict=True)}
    same = len(kinds) == 1
    score, baselines = measured[0]
    shared = baselines if all(others == baselines for _, others in measured) else {}  # else of other examples
    scores = score_chart(curves, score, shared) if same else None
    by_others = score == "recall_at_1" and len({recipe.similarity_loss for recipe in recipes}) > 1
    apart = note(FEW_DRAWN.format(len(runs), ran)) if ran > len(runs) else ""
    apart += ("" if same else note(OTHER_SCORES)) + (note(OTHER_LOSSES) if by_others or not same else "")
    return (
        gr.Plot(loss_chart(curves), visible=has_course(curves)),
        gr.Plot(scores, visible=scores is not None and bool(curves)),
        apart + job_links(told, "compared"),
        figure_link(chosen, None, "compared-loss", "Loss"),
        figure_link(chosen, None, "compared-score", "Score") if same else "",
    )


def _drawn(told: Sequence[tuple[JobStatus, Steps]]) -> tuple[list[tuple[JobStatus, int, Steps]], int]:
    """The runs whose curves are drawn, at most MOST_COMPARED, and how many there are.

    Where there are more, each job gives the run that says most first, then its others, those of more examples first.
    """
    of_jobs = []
    for status, steps in told:
        first = telling_run(status)
        indices = sorted({logged.run for logged in steps}, key=lambda run: (run != first, -_examples(status, run), run))
        of_jobs.append([(status, index, steps) for index in indices])
    in_turn = [run for turn in zip_longest(*of_jobs) for run in turn if run is not None]
    kept = sorted(in_turn[:MOST_COMPARED], key=lambda run: ([status.id for status, _ in told].index(run[0].id), run[1]))
    return kept, len(in_turn)


def _examples(status: JobStatus, run: int) -> float:
    return status.spec.runs[run].examples or float("inf")


def _names(runs: Sequence[tuple[JobStatus, int, Steps]]) -> list[str]:
    """What tells the runs apart: where model, method and title are alike what differs in their recipes, or a number."""
    full = [
        f"{status.spec.runs[index].model}, {run_name(status.spec, index)} ({status.spec.title})"
        for status, index, _ in runs
    ]
    recipes = [_as_made(status, index) for status, index, _ in runs]
    said = []
    for place, name in enumerate(full):
        like = [other for other, one in enumerate(full) if one == name]
        differing = [field for field in TELLS_APART if len({getattr(recipes[other], field) for other in like}) > 1]
        parts = [TELLS_APART[field].format(getattr(recipes[place], field)) for field in differing]
        said.append(", ".join([name, *parts]))
    return [
        f"{name}, run {said[:place].count(name) + 1}" if said.count(name) > 1 else name
        for place, name in enumerate(said)
    ]


def _as_made(status: JobStatus, index: int) -> Recipe:
    """The recipe of a run with the epochs that it made, once it is done: few steps are made more, patience stops it."""
    recipe, outcome = status.spec.runs[index].recipe, status.outcomes.get(index)
    return replace(recipe, epochs=round(outcome.epochs, 1)) if outcome and outcome.epochs else recipe
