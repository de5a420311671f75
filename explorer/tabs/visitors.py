"""Models that a visitor names: a card of its own for the call, listed for nobody else."""

from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path

from explorer.errors import UnknownJob, UnknownModel
from explorer.models.backend import LoadedModel, Result
from explorer.models.callers import current_caller
from explorer.models.card import Ability, ModelCard
from explorer.models.registry import Registry
from explorer.settings import GIB, settings
from explorer.tabs.named import NamedModels
from explorer.training.jobs.naming import split_name, tuned_card
from explorer.training.jobs.supervising import open_jobs

MOST_NAME_CHARACTERS = 1_000  # of a folder; Hub ids have fewer


def find_model(registry: Registry, name: str, ability: Ability | None = None) -> tuple[Registry, str]:
    """The registry that has the model, and the name it has there.

    Args:
        registry: The models on offer.
        name: One of them, one that a job of fine-tuning made, a Hub id, or a folder beneath settings().local_models.
        ability: What it is wanted for, for the suggestions about an unknown name.

    Returns:
        The registry itself, or one with a further card. It may differ from the name given.

    Raises:
        ExplorerError: The name is none of these, the model may not be loaded here, or the visitor has named too many.
    """
    if not isinstance(name, str):
        raise UnknownModel("Name the model by a string.")
    if len(name) > MOST_NAME_CHARACTERS:  # the nearest names are not looked for: that takes long
        raise UnknownModel(f"No model has a name of {len(name):,} characters. Choose one from the list, or a Hub id.")
    name = name.strip()
    if ending := split_name(name):
        return _find_tuned(registry, *ending)
    known = registry.known(name)
    if known and (known.name == name or not _is_folder(name)):
        return registry, known.name
    if not ("/" in name or "\\" in name or settings().local_models):
        return registry, registry.card(name, ability).name  # or UnknownModel with the nearest names
    card = _named_models().card(current_caller(), name)
    return registry.with_card(card), card.name


def find_card(registry: Registry, name: str) -> ModelCard:
    """The facts about a model that a visitor names. Raises as find_model does."""
    models, found = find_model(registry, name)
    return models.card(found)


def ask_model(registry: Registry, name: str, analysis: Callable[[LoadedModel], Result]) -> Result:
    """What an analysis finds of a model that a visitor names. Raises as find_model and Registry.run do."""
    models, found = find_model(registry, name)
    return models.run(found, analysis)


def forget_job(registry: Registry, id: str) -> None:
    """Let the models of a job that was deleted go from memory; one that is just being asked goes when it is idle."""
    registry.let_go(lambda card: (split_name(card.name) or ("", 0))[0] == id)


def _find_tuned(registry: Registry, id: str, run: int) -> tuple[Registry, str]:
    try:
        card = tuned_card(open_jobs().shelf, id, run)
    except UnknownJob:
        forget_job(registry, id)
        raise
    return registry.with_card(card), card.name


def _is_folder(name: str) -> bool:
    """Whether a name without a path is that of a folder on offer, which comes before a repository of that name."""
    return bool(settings().local_models) and (Path(settings().local_models) / name).is_dir()


@lru_cache(maxsize=64)
def _card(name: str) -> ModelCard:
    from explorer.models.visitor_card import visitor_card

    return visitor_card(name, is_named=True)


@cache
def _named_models() -> NamedModels:
    most_bytes = int(settings().named_room_gib * GIB / 2)
    return NamedModels(lambda name: _card(name), settings().most_named, most_bytes)
