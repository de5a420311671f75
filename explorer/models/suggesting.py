"""Which models can do what one at hand cannot, in so few words that a message fits into two lines of the page."""

from collections.abc import Callable

from explorer.models.card import ModelCard
from explorer.models.presence import is_here, is_offline

MOST_NAMED = 2


def suggest_models(suits: Callable[[ModelCard], bool]) -> str:
    """Names for a message, those first that need no network; offline none that is not on this machine.

    Args:
        suits: Whether a model of the catalogue can do what is wanted.
    """
    from explorer.models.catalogue import CATALOGUE  # it is large, and only asked where something went wrong

    able = sorted((card for card in CATALOGUE if suits(card)), key=lambda card: card.needs_network)
    if is_offline():
        able = [card for card in able if is_here(card)]
    named = " or ".join(card.name for card in able[:MOST_NAMED])
    return f"Choose {named}." if named else "No model on this machine can."
