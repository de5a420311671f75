"""The few models that a message names instead of one that cannot do what is asked."""

from explorer.models.card import Ability
from explorer.models.catalogue import CATALOGUE
from explorer.models.suggesting import MOST_NAMED, WHERE_MODELS_ARE_LISTED, suggest_models


def test_models_that_need_no_network_are_named_first_and_few():
    said = suggest_models(lambda card: Ability.FILL_BLANKS in card.abilities)
    able = [card for card in CATALOGUE if Ability.FILL_BLANKS in card.abilities]
    here = [card.name for card in able if not card.needs_network]
    assert said.startswith(", ".join(here[:MOST_NAMED])) and said.endswith(WHERE_MODELS_ARE_LISTED)
    assert f" and {len(able) - MOST_NAMED} more. " in said
    assert sum(card.name in said.split(", ") for card in CATALOGUE) <= MOST_NAMED


def test_the_only_ones_are_named_and_that_there_is_none():
    assert suggest_models(lambda card: card.name == "GPT-2") == "GPT-2."
    assert suggest_models(lambda card: False) == "none in the catalogue yet."
