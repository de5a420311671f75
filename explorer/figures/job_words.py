"""How a job stands in a sentence, and how its runs compare; everything that a visitor named is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from explorer.figures.tuning_words import (
    best_runs,
    duration,
    kind_of,
    main_score,
    outcome_words,
    place_words,
    range_words,
    rival_of,
    run_name,
    score_term,
    score_words,
    step_words,
)
from explorer.training.jobs.results import JobStatus
from explorer.training.tuning.results import TrainingStep

MOST_NAMED = 3  # runs that are equally good


def run_at_work(status: JobStatus) -> int:
    """Index of the run that is trained: the one that spoke last, or the next where that is done."""
    at = max(status.last, default=0)
    return min(at + (at in status.outcomes), len(status.spec.runs) - 1)


def job_words(status: JobStatus, steps: Sequence[TrainingStep] = ()) -> str:
    """How a job stands, in a sentence of HTML, with what to do next.

    Args:
        status: Of the job.
        steps: The log of its run, where it has but one; () = not known.
    """
    runs = len(status.spec.runs)
    at = run_at_work(status)
    which = f"run {at + 1} of {runs}, {escape(run_name(status.spec, at))}: " if runs > 1 else ""
    said = escape(status.message)
    if status.state == "waiting":
        place = "it is next" if status.place == 1 else f"place {status.place} in line"
        done = f"; {len(status.outcomes)} of {runs} runs done" if status.outcomes else ""
        return f"<b>Waiting</b>: {place}{done}. One model is trained at a time; you may close this page. {said}"
    if status.state == "running":
        step = status.last.get(at)
        now = escape(step_words(step, is_one_of_several=runs > 1)) if step else "loading the model"
        return f"<b>Running</b>: {which}{now}. You may close this page: it goes on."
    if status.state == "stopping":
        return "<b>Stopping</b>: what it has learned so far is being saved."
    if status.state == "stopped":
        step = status.last.get(at)
        where = f" at {place_words(step)}" if step else ""
        where += f", in {which.removesuffix(': ')}" if which else ""
        return f"<b>Stopped</b>{where}. {said or ('Resume goes on from there.' if status.can_resume else '')}"
    if status.state == "failed":
        return f"<b>Failed</b>: {said}"
    if runs == 1 and status.outcomes:
        [outcome] = status.outcomes.values()
        return f"<b>Done</b>: {outcome_words(outcome, status.spec.runs[0].recipe, steps)}. {said}"
    seconds = sum(outcome.seconds for outcome in status.outcomes.values())
    return f"<b>Done</b>: {len(status.outcomes)} of {runs} runs in {duration(seconds)}. {_best_words(status)}{said}"


def _best_words(status: JobStatus) -> str:
    """Which of several runs have the best main score, and which; "" = they have none in common."""
    scores = [main_score(outcome) for outcome in status.outcomes.values()]
    best = best_runs(status)
    if not best or None in scores or len({score[0] for score in scores}) > 1:
        return ""
    name, value = main_score(outcome := status.outcomes[best[0]])
    term = score_term(name, status.spec.runs[best[0]].recipe.task)
    reached = f"<b>{term} {score_words(name, value)}</b>{range_words(name, value, len(outcome.judged))}"
    if len(best) == 1:
        said = f"Best: {escape(run_name(status.spec, best[0]))}, {reached}; one seed, so a small lead may be chance."
    else:
        named = " and ".join(escape(run_name(status.spec, index)) for index in best)
        of = named if len(best) <= MOST_NAMED else f"{len(best)} runs"
        said = f"Equally good, and best: {of}, {reached}; one seed: another may tell them apart."
    return f"{said}{_beaten_words(status, best[0], name)} "


def _beaten_words(status: JobStatus, best: int, name: str) -> str:
    """That the best run, or none, does better than a baseline; "" = the best one does."""
    rivals = {index: rival_of(outcome) for index, outcome in status.outcomes.items()}
    rival = rivals[best]
    if not rival:
        return ""
    value = f"{escape(rival)} ({score_words(name, status.outcomes[best].baselines[rival])})"
    if kind_of(status.spec) != "labels":
        return f" No run does better than {value}."
    better = sum(one is None for one in rivals.values())
    does = f"{better} of {len(rivals)} runs {'does' if better == 1 else 'do'}" if better else "no run does"
    return f" That is no better than {value}; {does} better than the best baseline on as many examples."
