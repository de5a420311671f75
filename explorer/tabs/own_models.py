"""The models that jobs of fine-tuning made, by name and by what they can do; a visitor's own stand in every picker."""

from __future__ import annotations

from explorer.errors import ExplorerError
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


def own_models(store: JobStore, owner: str) -> list[ModelCard]:
    """The models that a visitor's jobs made, newest first.

    Args:
        store: Of all jobs.
        owner: The visitor's token; who has none, has no models.
    """
    try:
        jobs = store.jobs(owner)
    except ExplorerError:
        return []
    cards = [card_of(store, status, run) for status in jobs for run in sorted(status.outcomes)]
    return [card for card in cards if card]
