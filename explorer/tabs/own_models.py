"""The models that jobs of fine-tuning made, by name and by what they can do; a visitor's own stand in every picker."""

from __future__ import annotations

from explorer.errors import ExplorerError
from explorer.figures.own_models import OwnModel
from explorer.models.card import ModelCard
from explorer.training.jobs.naming import tuned_card
from explorer.training.jobs.results import JobStatus
from explorer.training.jobs.store import JobStore


def card_of(store: JobStore, status: JobStatus, run: int) -> ModelCard | None:
    """The facts about the model that a run made; None = there is none, or it has left."""
    if run not in status.outcomes:
        return None
    try:
        return tuned_card(store.shelf, status.id, run)
    except ExplorerError:
        return None


def find_own(store: JobStore, owner: str) -> list[OwnModel]:
    """The models that a visitor's jobs made, those of the newest job first.

    Args:
        store: Of all jobs.
        owner: The visitor's token; who has none, has no models.
    """
    try:
        jobs = store.jobs(owner)
    except ExplorerError:
        return []
    made = [(card_of(store, status, run), status, run) for status in jobs for run in sorted(status.outcomes)]
    return [OwnModel(card, status, run) for card, status, run in made if card]


def own_models(store: JobStore, owner: str) -> list[ModelCard]:
    """Their cards, the oldest first, so that each keeps its place in a list; arguments as of find_own."""
    found = find_own(store, owner)
    oldest = list(dict.fromkeys(model.status.id for model in found))[::-1]
    return [model.card for model in sorted(found, key=lambda model: oldest.index(model.status.id))]
