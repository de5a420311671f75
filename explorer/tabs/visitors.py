"""Models that a visitor names: a card of its own for the call, listed for nobody else."""

from functools import lru_cache

from explorer.errors import UnknownModel
from explorer.models.card import ModelCard
from explorer.models.registry import Registry
from explorer.settings import settings


def find_model(registry: Registry, name: str) -> tuple[Registry, str]:
    """The registry that has the model, and the name it has there.

    Args:
        registry: The models on offer.
        name: One of them, a Hub id, or a folder beneath settings().local_models.

    Returns:
        The registry itself, or one with a further card. A Hub id may be spelled otherwise than its card's name.

    Raises:
        ExplorerError: The name is none of these, or the model may not be loaded here.
    """
    if not isinstance(name, str):
        raise UnknownModel("Name the model by a string.")
    name = name.strip()
    if name in registry.names():
        return registry, name
    if not ("/" in name or "\\" in name or settings().local_models):
        registry.card(name)  # raises UnknownModel with the names that exist
    card = _card(name)
    return registry.with_card(card), card.name


@lru_cache(maxsize=64)
def _card(name: str) -> ModelCard:
    from explorer.models.visitor_card import visitor_card

    return visitor_card(name)
