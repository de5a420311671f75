"""Which models can do what one at hand cannot, in so few words that a message fits into two lines of the page."""

from collections.abc import Callable

from explorer.models.card import ModelCard
from explorer.models.presence import is_here, is_offline

MOST_NAMED = 2


def suggest_models(suits: Callable[[ModelCard], bool]) -> str:
    """Names for a message, those first that need no network; offline none that is not on this machine.

    Of models of the same size that can do the same, such as two states of one training, only the first is named.

    Args:
        suits: Whether a model of the catalogue can do what is wanted.
    """
    from explorer.models.catalogue import CATALOGUE  # it is large, and only asked where something went wrong

    able = sorted((card for card in CATALOGUE if suits(card)), key=lambda card: card.needs_network)
    if is_offline():
        able = [card for card in able if is_here(card)]
    kinds = {(card.model_type, card.abilities, card.parameters or card.name): card for card in reversed(able)}
    named = " or ".join(card.name for card in [card for card in able if card in kinds.values()][:MOST_NAMED])
    return f"Choose {named}." if named else "No model on this machine can."
