"""The few models that a message names instead of one that cannot do what is asked."""

import httpx2
import pytest
from huggingface_hub import constants

from explorer.errors import ModelUnavailable
from explorer.models import presence
from explorer.models.card import Ability
from explorer.models.catalogue import CATALOGUE
from explorer.models.hub_errors import explained
from explorer.models.presence import check_can_be_had
from explorer.models.suggesting import suggest_models


def test_models_that_need_no_network_are_named_first_and_few():
    able = [card for card in CATALOGUE if Ability.FILL_BLANKS in card.abilities]
    first, early, other = [card.name for card in able if not card.needs_network][:3]
    assert suggest_models(lambda card: card in able) == f"Choose {first} or {other}.", f"{early} is its earlier state"


def test_the_only_one_is_named_and_that_there_is_none(monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    assert suggest_models(lambda card: card.name == "GPT-2") == "Choose GPT-2."
    assert suggest_models(lambda card: False) == "No model on this machine can."


def test_offline_none_is_named_that_is_not_here(monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert suggest_models(lambda card: card.name in ("GPT-2", "GPT mini")) == "Choose GPT mini."
    assert suggest_models(lambda card: card.name == "GPT-2") == "No model on this machine can."


def test_what_is_not_here_is_refused_with_others_for_what_it_is_wanted_for(monkeypatch):
    away = next(card for card in CATALOGUE if card.name == "BERT base")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(presence, "is_here", lambda card: card != away)
    with pytest.raises(ModelUnavailable, match=r"Choose MiniLM \(masked\)"):
        check_can_be_had(away)
    with pytest.raises(ModelUnavailable, match=r"Choose MiniLM \(causal\)"):
        check_can_be_had(away, Ability.GENERATE)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    check_can_be_had(away, Ability.GENERATE)


def test_without_a_connection_those_are_named_that_do_what_the_missing_one_does():
    missing = next(card for card in CATALOGUE if card.name == "BART base")
    with pytest.raises(ModelUnavailable, match=r"Choose MiniLM \(span\)"), explained(missing.source.id):
        raise httpx2.ConnectError("no way")
