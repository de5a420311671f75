"""Jobs as tables for a spreadsheet: every row says of which job, run, model and method it is."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.analysis.exporting import Table
from explorer.training.jobs.results import JobSpec, JobStatus, LoggedStep

ABOUT = ["job", "run", "model", "task", "method", "examples", "seed"]


def job_tables(jobs: Sequence[tuple[JobStatus, Sequence[LoggedStep]]]) -> dict[str, Table]:
    """Curves and scores of jobs.

    Args:
        jobs: Each with its log.

    Returns:
        "curves": a row for each step that was logged, once, but for earlier weights that were put back at the end;
        "scores": one for each score of a run that is done.
    """
    curves: Table = [[*ABOUT, "step", "epoch", "seconds", "loss_nats", "held_out_loss_nats", "score"]]
    curves[0].append("examples_per_second")
    scores: Table = [[*ABOUT, "seconds", "trained_parameters", "score", "value", "baseline_of"]]
    for status, steps in jobs:
        for logged in steps:
            step = logged.step
            row = [*_about(status.id, status.spec, logged.run), step.step, step.epoch, step.seconds]
            row += [step.loss, step.held_out_loss, step.score, step.examples_per_second]
            if step.kept_epoch is None and row != curves[-1]:  # the last step is told again when all is measured
                curves.append(row)
        for index, outcome in sorted(status.outcomes.items()):
            start = [*_about(status.id, status.spec, index), outcome.seconds, outcome.trained_parameters]
            scores += [[*start, name, value, None] for name, value in outcome.scores.items()]
            main = next(iter(outcome.scores), None)
            scores += [[*start, main, value, name] for name, value in outcome.baselines.items()]
    return {"curves": curves, "scores": scores}


def run_tables(status: JobStatus, index: int) -> dict[str, Table]:
    """What one run of a job gave.

    Args:
        status: Of the job.
        index: Of the run, which is done.

    Returns:
        "confusion" (right answer in rows), "judged", "movements", "mix" and "samples"; only what the run has.
    """
    outcome, about = status.outcomes[index], _about(status.id, status.spec, index)
    tables: dict[str, Table] = {}
    if outcome.confusion:
        rows = zip(outcome.labels, outcome.confusion, strict=True)
        tables["confusion"] = [
            [*ABOUT, "right_answer", *outcome.labels],
            *([*about, label, *row] for label, row in rows),
        ]
    if outcome.judged:
        tables["judged"] = [[*ABOUT, "text", "right_answer", "model_says", "probability", "is_right"]]
        tables["judged"] += [
            [*about, one.text, one.gold, one.predicted, one.probability, one.is_right] for one in outcome.judged
        ]  # fmt: skip
    if outcome.movements:
        tables["movements"] = [[*ABOUT, "part", "relative_change", "parameters"]]
        tables["movements"] += [[*about, one.part, one.relative, one.parameters] for one in outcome.movements]
    if outcome.mix:
        tables["mix"] = [[*ABOUT, "layer", "weight"]]
        tables["mix"] += [[*about, layer, weight] for layer, weight in enumerate(outcome.mix)]
    if outcome.before_and_after:
        tables["samples"] = [[*ABOUT, "text", "before", "after"]]
        tables["samples"] += [[*about, one.text, one.before, one.after] for one in outcome.before_and_after]
    return tables


def _about(job: str, spec: JobSpec, index: int) -> list:
    run = spec.runs[index]
    recipe = run.recipe
    return [job, index, run.model, recipe.task, recipe.method, run.examples or "all", recipe.seed]
