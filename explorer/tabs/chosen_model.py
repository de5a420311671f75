"""The model that a visitor chose in one tab is the one of the tab that he presses next, where that tab offers it."""

import json

from huggingface_hub import constants

from explorer.models.presence import is_here
from explorer.models.registry import Registry
from explorer.tabs.links import LinkedTab
from explorer.tabs.messages import QUIET


def wire_chosen_model(registry: Registry, linked: list[LinkedTab]) -> None:
    """Carry the choice from tab to tab without asking the server, so that no answer to it overtakes the next choice.

    A model is carried that a tab offers everybody and that can be had: offline no tab is led to one that is not here.

    Args:
        registry: The models on offer.
        linked: The tabs; those without a field "model" have no picker.
    """
    is_offline = constants.is_offline_mode()
    absent = {card.name for card in registry.cards() if is_offline and not is_here(card)}
    for entry in linked:
        if picker := entry.fields.get("model"):
            tab, offered = json.dumps(entry.tab.id), [value for _, value in picker.choices if value not in absent]
            picker.focus(None, picker, None, js="name => { explorer.choosing(name); }", **QUIET)
            picker.input(None, picker, None, js=f"name => {{ explorer.chose({tab}, name); }}", **QUIET)
            carried = f"name => explorer.carried({tab}, {json.dumps(offered)}, name)"
            entry.tab.select(None, picker, picker, js=carried, **QUIET)
