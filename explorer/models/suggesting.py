"""Which models can do what one at hand cannot, in a few words."""

from collections.abc import Callable

from explorer.models.card import ModelCard

MOST_NAMED = 4
WHERE_MODELS_ARE_LISTED = "All models are listed in the Models tab."


def suggest_models(suits: Callable[[ModelCard], bool]) -> str:
    """Names for a message, those first that need no network, and where the others are listed.

    Args:
        suits: Whether a model of the catalogue can do what is wanted.
    """
    from explorer.models.catalogue import CATALOGUE  # it is large, and only asked where something went wrong

    able = sorted((card for card in CATALOGUE if suits(card)), key=lambda card: card.needs_network)
    if not able:
        return "none in the catalogue yet."
    names = ", ".join(card.name for card in able[:MOST_NAMED])
    more = len(able) - MOST_NAMED
    return f"{names} and {more} more. {WHERE_MODELS_ARE_LISTED}" if more > 0 else f"{names}."
