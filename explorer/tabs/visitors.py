"""Models that a visitor names: a card of its own for the call, listed for nobody else."""

from functools import lru_cache

from explorer.models.card import ModelCard
from explorer.models.registry import Registry


def registry_for(registry: Registry, name: str) -> Registry:
    """The registry, with one more card if the name is a Hub id or a local folder rather than a model on offer.

    Raises:
        ExplorerError: The name is neither, or the model may not be loaded here.
    """
    if name in registry.names():
        return registry
    if "/" not in name and "\\" not in name:
        registry.card(name)  # raises UnknownModel with the names that exist
    return registry.with_card(_card(name))


@lru_cache(maxsize=64)
def _card(name: str) -> ModelCard:
    from explorer.models.visitor_card import visitor_card

    return visitor_card(name)
