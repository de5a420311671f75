"""Models that jobs made, by the name that tells them from all others: it ends in "#<12 hexadecimal digits>-<run>"."""

from __future__ import annotations

import re
from dataclasses import replace

from explorer.errors import UnknownJob
from explorer.models.card import ModelCard
from explorer.models.registry import Registry
from explorer.training.jobs.places import ID
from explorer.training.jobs.results import JobSpec
from explorer.training.jobs.shelf import Shelf

ENDING = re.compile(rf"#({ID.pattern})-([0-9]{{1,3}})$")
LONGEST_TITLE = 60  # characters
HOW = {  # key of METHODS -> its words in short
    "frozen": "frozen features", "layers": "mix of layers", "lora": "LoRA", "full": "everything",
    "scratch": "from random weights",
}  # fmt: skip


def tuned_name(id: str, spec: JobSpec, run: int) -> str:
    """The name of the model that a run of a job makes.

    Args:
        id: Of the job.
        spec: What it does.
        run: Index of the run; the name counts from 0 as well.
    """
    title = spec.title if len(spec.title) <= LONGEST_TITLE else spec.title[: LONGEST_TITLE - 1] + "…"
    asked = spec.runs[run]
    learned = f", {asked.examples} examples" if asked.examples else ""
    base = asked.model.partition(" #")[0]  # which may be a tuned model itself
    return f"{base} · {HOW[asked.recipe.method]}{learned} · {title} #{id}-{run}"


def split_name(name: str) -> tuple[str, int] | None:
    """Job and run of a tuned model's name; None = it is no such name."""
    found = ENDING.search(name)
    return (found[1], int(found[2])) if found else None


def find_tuned(registry: Registry, shelf: Shelf, name: str) -> tuple[Registry, str] | None:
    """The registry with a tuned model, and its whole name there; None = the name is not that of one.

    Args:
        registry: The models on offer.
        shelf: The jobs.
        name: Of the model; only its ending counts.

    Raises:
        UnknownJob: Its job was deleted, or is not done; the message says which.
    """
    ending = split_name(name)
    if ending is None:
        return None
    card = tuned_card(shelf, *ending)
    return registry.with_card(card), card.name


def tuned_card(shelf: Shelf, id: str, run: int) -> ModelCard:
    """The facts about the model that a run made, under its whole name. Raises as Shelf.model_folder does."""
    from explorer.training.tuning.tuned_card import read_tuned_card

    folder, job = shelf.model_folder(id, run), shelf.find(id)
    if job is None:  # deleted since
        raise UnknownJob("The job that made this model was deleted.")
    return replace(read_tuned_card(folder), name=tuned_name(id, job.asked.spec, run))


def find_start(registry: Registry, shelf: Shelf, name: str) -> tuple[Registry, str]:
    """Where the model that a run starts from is, and its name there: on offer, tuned, or a Hub id.

    Raises:
        ExplorerError: There is no such model, or it may not be had here.
    """
    if found := find_tuned(registry, shelf, name):
        return found
    if "/" not in name and "\\" not in name:
        return registry, registry.card(name).name
    from explorer.models.visitor_card import visitor_card

    card = visitor_card(name, is_named=True)
    return registry.with_card(card), card.name
