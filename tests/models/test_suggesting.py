"""The few models that a message names instead of one that cannot do what is asked."""

import pytest
from huggingface_hub import constants

from explorer.errors import ModelUnavailable
from explorer.models import presence
from explorer.models.card import Ability
from explorer.models.catalogue import CATALOGUE
from explorer.models.presence import check_can_be_had
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


def test_what_is_not_here_is_refused_with_others_for_what_it_is_wanted_for(monkeypatch):
    away = next(card for card in CATALOGUE if card.name == "BERT base")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(presence, "is_here", lambda card: False)
    with pytest.raises(ModelUnavailable, match=r"Choose one of: MiniLM \(masked\)"):
        check_can_be_had(away)
    with pytest.raises(ModelUnavailable, match=r"Choose one of: MiniLM \(causal\)"):
        check_can_be_had(away, Ability.GENERATE)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    check_can_be_had(away, Ability.GENERATE)
