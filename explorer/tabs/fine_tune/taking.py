"""What can be taken away of jobs and runs: CSV of their tables, JSON of all, a picture, the link."""

import json
from collections.abc import Sequence

from explorer.analysis.exporting import to_json
from explorer.figures.tuning_words import run_name
from explorer.tabs.fine_tune.looking import Looked, Steps
from explorer.tabs.taking_away import table_links
from explorer.training.jobs.results import JobStatus
from explorer.training.jobs.tables import job_tables, run_tables


def job_links(jobs: Sequence[tuple[JobStatus, Steps]], name: str, picture: Sequence[str] = ()) -> str:
    """Of whole jobs: curves and scores as CSV, everything but single examples as JSON.

    Args:
        jobs: Each with its log.
        name: Of the files.
        picture: As of download_links.
    """
    if not any(steps for _, steps in jobs):
        return ""
    told = [
        {"spec": to_json(status.spec), "state": status.state, "steps": to_json([logged for logged in steps]),
         "scores": {str(run): outcome.scores for run, outcome in status.outcomes.items()}}
        for status, steps in jobs
    ]  # fmt: skip
    text = json.dumps(told, ensure_ascii=False)
    return table_links(job_tables(jobs), name, picture, more=(("JSON", f"{name}.json", text),))


def run_links(looked: Looked, tables: Sequence[str], name: str, picture: str) -> str:
    """Of the run looked at.

    Args:
        looked: It is done.
        tables: Names of those of run_tables; what the run lacks is left out.
        name: Of the files.
        picture: What the figure beside is of; "" = there is none.
    """
    found = {key: table for key, table in run_tables(looked.status, looked.run).items() if key in tables}
    of = f"{looked.the_run.model}, {run_name(looked.status.spec, looked.run)}, {looked.status.spec.examples_name}"
    return table_links(found, name, (f"{picture}: {of}",) if picture else ())
