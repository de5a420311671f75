"""The models that a visitor made by fine-tuning, as a table of HTML, everything escaped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from urllib.parse import urlencode

from explorer.figures.catalogue import short_count
from explorer.figures.tuning_words import main_score, score_term, score_words
from explorer.models.card import ModelCard
from explorer.models.status import format_bytes
from explorer.training.jobs.results import JobStatus
from explorer.training.tuning.recipe import TASKS

COLUMNS = ("Model", "Made from", "Task", "Held-out score", "Weights")
MOST_UNFOLDED = 5


@dataclass(frozen=True)
class OwnModel:
    """A model that a run of a visitor's job made.

    Attributes:
        card: The facts about it.
        status: Of the job.
        run: Index of the run, which is done.
    """

    card: ModelCard
    status: JobStatus
    run: int


def own_table(models: Sequence[OwnModel]) -> str:
    """The models with what each was made from and for, and a link to its run; "" = there are none.

    Args:
        models: In the order to show; more than a few are folded away.
    """
    if not models:
        return ""
    heads = "".join(f"<th scope='col'>{head}</th>" for head in COLUMNS)
    return (
        f"<details class='own-models'{' open' if len(models) <= MOST_UNFOLDED else ''}>"
        f"<summary>Your models: {len(models)}, fine-tuned by you</summary>"
        f"<table class='models'><thead><tr>{heads}</tr></thead><tbody>{''.join(map(_row, models))}</tbody></table>"
        "</details>"
    )


def _row(model: OwnModel) -> str:
    card, run, outcome = model.card, model.status.spec.runs[model.run], model.status.outcomes[model.run]
    query = urlencode({"tab": "fine-tune", "job": model.status.id, "which": model.run})
    task, main = run.recipe.task, main_score(outcome)
    cells = (
        escape(run.model),
        TASKS[task],
        f"{score_words(*main)} {score_term(main[0], task)}" if main else "–",
        ", ".join(filter(None, (short_count(card.parameters), format_bytes(card.weights_bytes)))),
    )
    told = "".join(f"<td data-label='{head}'>{cell}</td>" for head, cell in zip(COLUMNS[1:], cells, strict=True))
    link = f"<a href='{escape('?' + query)}' title='its run, and links to it in every tab'>{escape(card.name)}</a>"
    return f"<tr><td>{link}</td>{told}</tr>"
