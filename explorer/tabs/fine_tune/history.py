"""View: what the visitor has trained; choose one to look at it, tick several to compare them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal

import gradio as gr

from explorer.figures.job_list import job_list
from explorer.figures.notes import note
from explorer.figures.tuning_curves import Curve, has_course, loss_chart, score_chart
from explorer.figures.tuning_words import run_name
from explorer.tabs.fine_tune.curves import score_of
from explorer.tabs.fine_tune.job import TO_JOB
from explorer.tabs.fine_tune.looking import BEST, Looked
from explorer.tabs.fine_tune.parts import Part
from explorer.tabs.fine_tune.taking import figure_link, job_links
from explorer.tabs.kinds import told
from explorer.tabs.later import later_figure
from explorer.tabs.messages import QUIET

VIEW = "history"
MOST_COMPARED = 6  # lines that can still be told apart
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


def build(job: gr.Textbox, run: gr.Dropdown) -> tuple[gr.Tab, Part, gr.Textbox]:
    """Lay out the view; returns what holds the ticked jobs, too: ids, parted by blanks.

    Args:
        job: Holds the id of the job in sight.
        run: Holds the index of its run looked at.
    """
    with gr.Tab("Your runs", id=VIEW) as tab:
        table = gr.HTML(job_list((), "", (), 0), js_on_load=ON_LOAD, padding=False, elem_id="tune-history")
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
        return gr.skip(), gr.skip(), " ".join(clicked.jobs[:MOST_COMPARED])

    table.select(choose, None, [job, run, ticked], trigger_mode="multiple", **QUIET)

    def key(looked: Looked, ticked: str) -> tuple:
        jobs = tuple((one.id, one.state, one.place, len(one.outcomes)) for one in looked.jobs)
        return jobs, looked.status.id, ticked, looked.age if looked.status.id in ticked else ""

    return tab, Part(VIEW, VIEW, [table, *plots, foot, *pictures], _update, key, [ticked]), ticked


def _update(looked: Looked, ticked: str) -> tuple:
    ids = (ticked or "").split()
    table = job_list(looked.jobs, looked.status.id, ids, time.time()) + (note(HINT) if len(looked.jobs) > 1 else "")
    chosen = [status for status in looked.jobs if status.id in ids]
    if not chosen:
        return table, gr.Plot(visible=False), gr.Plot(visible=False), "", "", ""
    told = [(status, looked.read_steps(status.id)) for status in chosen]
    curves = []
    for status, steps in told:
        for index in sorted({logged.run for logged in steps}):
            name = f"{status.spec.runs[index].model}, {run_name(status.spec, index)} ({status.spec.title})"
            of_run = tuple(logged.step for logged in steps if logged.run == index)
            curves.append(Curve(name, of_run, len(curves)))
    curves = curves[:MOST_COMPARED]
    same = len({status.spec.runs[0].recipe.task for status in chosen}) == 1
    score, baselines = score_of(chosen[0], 0, told[0][1])
    scores = score_chart(curves, score, baselines) if same else None
    apart = "" if same else note("These are of different tasks, so that their scores stand on no common axis.")
    return (
        table,
        gr.Plot(loss_chart(curves), visible=has_course(curves)),
        gr.Plot(scores, visible=scores is not None and bool(curves)),
        apart + job_links(told, "compared"),
        figure_link(chosen, None, "compared-loss", "Loss"),
        figure_link(chosen, None, "compared-score", "Score") if same else "",
    )
