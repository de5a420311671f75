"""Jobs and their runs as tables of HTML, everything escaped: the history of a visitor, and runs side by side."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from html import escape

from explorer.figures.notes import note
from explorer.figures.tuning_words import (
    STATES,
    best_run,
    best_runs,
    count_words,
    duration,
    examples_words,
    kind_of,
    main_score,
    place_words,
    run_name,
    score_label,
    score_term,
    score_words,
)
from explorer.training.jobs.results import JobStatus
from explorer.training.tuning.recipe import METHODS, TASKS

NO_JOBS = (
    "No run of yours is kept here. What you train is listed here, in this browser, for as long as this explorer keeps "
    "it; nobody else sees it, unless you give them its link."
)


def job_list(jobs: Sequence[JobStatus], in_sight: str, ticked: Collection[str], now: float) -> str:
    """The visitor's jobs, newest first; each can be looked at, and several ticked to be compared.

    Args:
        jobs: All of them.
        in_sight: Id of the one looked at.
        ticked: Ids of those that are compared.
        now: Unix time, in seconds.
    """
    if not jobs:
        return note(NO_JOBS)
    rows = "".join(_row(job, job.id == in_sight, job.id in ticked, now) for job in jobs)
    heads = ("Compare", "Job", "Model", "Method", "Score", "State", "When")
    return (
        "<div class='scores-scroll' tabindex='0' role='region' aria-label='Your runs'>"
        "<table class='answers jobs'><thead><tr>"
        f"{''.join(f'<th scope=col>{head}</th>' for head in heads)}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def run_table(status: JobStatus) -> str:
    """The runs of one job side by side: score, baseline, seconds, weights trained; "" for a single one."""
    if len(status.spec.runs) < 2:
        return ""
    is_curve = kind_of(status.spec) == "labels"
    is_whole = all(map(main_score, status.outcomes.values())) and len(status.outcomes) == len(status.spec.runs)
    best = best_runs(status) if is_whole else []
    rows = []
    for index, run in enumerate(status.spec.runs):
        outcome, step = status.outcomes.get(index), status.last.get(index)
        main = main_score(outcome) if outcome else None
        method = METHODS.get(run.recipe.method, run.recipe.method) if is_curve else run_name(status.spec, index)
        cells = [f"<th scope='row'>{escape(method)}</th>"]
        if is_curve:
            cells.append(f"<td data-label='examples'>{examples_words(run)}</td>")
        if outcome and main:
            words = f"<span title='{main[1]!r}'>{score_words(*main)}</span>"
            score = f"<b>{words}</b> best" if index in best and not is_curve else words
            cells.append(f"<td data-label='{score_label(main[0])}'>{score}</td>")
            cells.append(f"<td data-label='seconds'>{duration(outcome.seconds)}</td>")
            cells.append(f"<td data-label='weights trained'>{count_words(outcome.trained_parameters)}</td>")
        else:
            at = place_words(step) if step else "not begun"
            cells.append(f"<td data-label='so far' colspan='3' class='quiet'>{at}</td>")
        rows.append(f"<tr>{''.join(cells)}</tr>")
    first = next(iter(status.outcomes.values()), None)
    task = status.spec.runs[0].recipe.task
    name = score_term(next(iter(first.scores)), task) if first and first.scores else "score"
    heads = ["Method", *(["Examples"] if is_curve else []), f"Held-out {name}", "Time", "Weights trained"]
    return (
        f"<table class='answers'><thead><tr>{''.join(f'<th scope=col>{head}</th>' for head in heads)}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table>"
    )


def when(created_at: float, now: float) -> str:
    """How long ago, or on which day (UTC)."""
    seconds = max(0.0, now - created_at)
    if seconds < 90:
        return "now"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min ago"
    if seconds < 86_400:
        return f"{seconds / 3600:.0f} h ago"
    return datetime.fromtimestamp(created_at, UTC).strftime("%-d %b %Y")


def _row(job: JobStatus, is_in_sight: bool, is_ticked: bool, now: float) -> str:
    spec, runs = job.spec, job.spec.runs
    title = escape(spec.title)
    methods = ", ".join(dict.fromkeys(METHODS.get(run.recipe.method, run.recipe.method) for run in runs))
    models = ", ".join(dict.fromkeys(run.model for run in runs))
    kind = {"one": "", "race": "race", "labels": "fewer labels"}[kind_of(spec)]
    score, best, task = "–", best_run(job), runs[0].recipe.task
    if best is not None:
        name, value = main_score(job.outcomes[best])
        is_of_several = sum(main_score(outcome) is not None for outcome in job.outcomes.values()) > 1
        score = f"{score_words(name, value)} <small>{score_term(name, task)}{', best' if is_of_several else ''}</small>"
    state = STATES[job.state] + (f", place {job.place}" if job.state == "waiting" and job.place else "")
    return (
        f"<tr{' aria-current=true' if is_in_sight else ''}>"
        f"<td><input type='checkbox' data-act='tick' data-job='{job.id}'{' checked' if is_ticked else ''}"
        f" aria-label='Compare {title}'></td>"
        f"<td class='text'><button type='button' class='look' data-act='look' data-job='{job.id}'><bdi>{title}</bdi>"
        f"</button><small>{' · '.join(filter(None, (TASKS[task], kind)))}</small></td>"
        f"<td data-label='model'>{escape(models)}</td><td data-label='method'>{escape(methods)}</td>"
        f"<td data-label='score' class='number'>{score}</td><td data-label='state'>{state}</td>"
        f"<td data-label='when'>{when(job.created_at, now)}</td></tr>"
    )
