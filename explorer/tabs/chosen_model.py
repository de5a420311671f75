"""The model that a visitor chose in one tab is the one of the tab that he presses next, where that tab offers it."""

import json

from explorer.tabs.links import LinkedTab
from explorer.tabs.messages import QUIET


def wire_chosen_model(linked: list[LinkedTab]) -> None:
    """Carry the choice from tab to tab without asking the server, so that no answer to it overtakes the next choice.

    A model is carried that a tab offers everybody: offline no tab is led to one that is not here.

    Args:
        linked: The tabs; those without a field "model" have no picker.
    """
    for entry in linked:
        if picker := entry.fields.get("model"):
            tab, offered = json.dumps(entry.tab.id), [value for _, value in picker.choices]
            picker.focus(None, picker, None, js="name => { explorer.entered('model', name); }", **QUIET)
            picker.input(None, picker, None, js=f"name => {{ explorer.chose({tab}, name); }}", **QUIET)
            carried = f"name => explorer.carried({tab}, {json.dumps(offered)}, name)"
            entry.tab.select(None, picker, picker, js=carried, **QUIET)
