"""Which models the pickers offer: offline only those that can be had."""

import gradio as gr
import pytest
from huggingface_hub import constants

from explorer.models.card import Ability
from explorer.models.catalogue import CATALOGUE, DEFAULT_MODEL
from explorer.models.registry import Registry
from explorer.tabs import picker
from explorer.tabs.picker import beside_options, build_picker, model_options

ABSENT = next(card.name for card in CATALOGUE if card.needs_network and Ability.FILL_BLANKS in card.abilities)


@pytest.mark.parametrize("offline", [False, True])
def test_offline_what_is_not_here_is_not_offered(monkeypatch, offline):
    registry = Registry(CATALOGUE, lambda: pytest.fail("nothing is loaded"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", offline)
    monkeypatch.setattr(picker, "is_here", lambda card: card.name != ABSENT)
    with gr.Blocks():
        field = build_picker(registry, Ability.FILL_BLANKS, DEFAULT_MODEL).name
    beside = beside_options(registry, registry.names(Ability.FILL_BLANKS))
    for offered in (model_options(registry, Ability.FILL_BLANKS), beside, field.choices):
        names = [name for _, name in offered]
        assert DEFAULT_MODEL in names and (ABSENT in names) is not offline
    assert ("only what is on this machine" in (field.info or "")) is offline
