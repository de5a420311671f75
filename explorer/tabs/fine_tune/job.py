"""The job in sight, above the views: how it stands, what can be done with it, and where its model can be explored."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import gradio as gr

from explorer.figures.explore_links import explore_links
from explorer.figures.job_state import job_box
from explorer.figures.notes import note
from explorer.figures.tuning_words import best_runs, main_score, run_name, score_label, score_words
from explorer.settings import settings
from explorer.tabs import lenient
from explorer.tabs.fine_tune.download import download_address
from explorer.tabs.fine_tune.looking import BEST, Looked, telling_run
from explorer.tabs.fine_tune.parts import Part
from explorer.tabs.messages import error_box
from explorer.tabs.own_models import card_of
from explorer.training.jobs.results import JobStatus
from explorer.training.jobs.store import JobStore
from explorer.training.tuning.suits import LEARNS_ITSELF

TO_JOB = """() => {  // on a phone the form is long, and the job below it
  const behavior = matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth';
  const box = document.querySelector('#tune-job');
  if (innerWidth < 768) box.closest('.result-side').scrollIntoView({behavior, block: 'start'});
  else box.scrollIntoView({behavior, block: 'nearest'});
}"""
NOT_OURS = "You see this job by its link. Whoever started it can {act} it."


@dataclass(frozen=True)
class JobPanel:
    """The panel on the page.

    Attributes:
        parts: What follows the job in sight.
        run: Holds the index of the run looked at, or BEST.
        stop: Ends the job where it is.
        resume: Lets it go on.
        delete: Takes it away with its model.
        message: What went wrong with one of these.
        otherwise: What stands in the form and is not this job.
        behind: Which views show another job or run, as behind_mark says it; fine_tune.css keeps these empty.
    """

    parts: list[Part]
    run: gr.Dropdown
    stop: gr.Button
    resume: gr.Button
    delete: gr.Button
    message: gr.HTML
    otherwise: gr.HTML
    behind: gr.HTML


def build_panel(store: JobStore, first: Looked) -> JobPanel:
    """Lay out the panel, filled with the example.

    Args:
        store: Of all jobs.
        first: What the tab opens on.
    """
    otherwise = gr.HTML(padding=False, elem_id="tune-otherwise")
    behind = gr.HTML(behind_mark((), BEST), visible="hidden", elem_id="tune-behind")
    box = gr.HTML(_box(first), padding=False, elem_id="tune-job")
    message = gr.HTML(padding=False, elem_classes="message-place")
    with gr.Row(elem_classes="job-buttons"):
        run = lenient.Dropdown(  # with all that a link may name
            [("", index) for index in range(BEST, settings().most_runs)], value=BEST, visible=False, scale=3,
            label="Run looked at", filterable=False, elem_id="tune-run",
        )  # fmt: skip
        stop, resume, delete = (
            gr.Button(words, size="sm", visible=False, elem_id=f"tune-{words.lower()}")
            for words in ("Stop", "Resume", "Delete")
        )
    links = gr.HTML(padding=False, elem_id="tune-explore")

    def update_run(looked: Looked) -> tuple:
        value = looked.run if looked.is_chosen else BEST
        return (gr.Dropdown(run_choices(looked.status), value=value, visible=len(looked.status.spec.runs) > 1),)

    def update_buttons(looked: Looked) -> tuple:
        state, own = looked.status.state, looked.is_own
        shown = (state in ("waiting", "running"), looked.status.can_resume, True)
        return tuple(gr.Button(visible=own and flag) for flag in shown)

    def key_of_buttons(looked: Looked) -> tuple:
        return looked.status.id, looked.status.state, looked.status.can_resume, looked.is_own

    parts = [
        Part("box", "", [box], lambda looked: (_box(looked),), lambda looked: (looked.age, looked.is_own)),
        Part("run", "", [run], update_run, _key_of_runs),
        Part("buttons", "", [stop, resume, delete], update_buttons, key_of_buttons),
        Part("links", "", [links], lambda looked: (_links(store, looked),), _key_of_links),
    ]
    return JobPanel(parts, run, stop, resume, delete, message, otherwise, behind)


def behind_mark(views: Iterable[str], run: int | None) -> str:
    """HTML that nobody sees, for styles and scripts.

    Args:
        views: Ids of the views that show another job or run than the one in sight.
        run: Which run of it was asked for; None = other ones than before.
    """
    return f"<i class='{' '.join(views)}' data-run='{'' if run is None else run}'></i>"


def run_choices(status: JobStatus) -> list[tuple[str, int]]:
    """Which runs of a job can be looked at: (words, index), the one that says most as BEST."""
    words = []
    for index in range(len(status.spec.runs)):
        main = main_score(status.outcomes[index]) if index in status.outcomes else None
        score = f" · {score_label(main[0])} {score_words(*main)}" if main else ""
        words.append(run_name(status.spec, index) + score)
    telling = telling_run(status)
    best = "One of the best" if len(best_runs(status)) > 1 else "The best"
    begun = "At work" if status.state in ("running", "stopping") else "Begun"
    state = best if telling in status.outcomes else begun if telling in status.last else "The first"
    return [(f"{state}: {words[telling]}", BEST), *((one, index) for index, one in enumerate(words))]


def _key_of_runs(looked: Looked) -> tuple:
    return looked.status.id, looked.run, looked.is_chosen, len(looked.status.outcomes), looked.status.state


def _box(looked: Looked) -> str:
    if looked.problem:
        return error_box(looked.problem) + job_box(looked.status, is_example=True)
    status = looked.status
    done = "resume or delete" if status.can_resume else "delete"
    act = "stop or delete" if status.state in ("waiting", "running", "stopping") else done
    foreign = "" if looked.is_own or looked.is_example else note(NOT_OURS.format(act=act))
    is_told = len(status.spec.runs) == 1 and status.state == "done"  # only then the course of the run counts
    steps = tuple(logged.step for logged in looked.read_steps(status.id)) if is_told else ()
    return job_box(status, steps, is_example=looked.is_example) + foreign


def _key_of_links(looked: Looked) -> tuple:
    return looked.status.id, looked.run, looked.outcome is not None


def _links(store: JobStore, looked: Looked) -> str:
    if looked.is_example or looked.outcome is None:
        return ""
    card = card_of(store, looked.status, looked.run)
    if card is None:
        return ""
    address = download_address(looked.status.id, looked.run)
    has_moved = looked.the_run.recipe.method in LEARNS_ITSELF
    return explore_links(card, looked.the_run.model, address, has_moved=has_moved)
