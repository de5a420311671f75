"""A link restores the view: the address holds the tab and what was typed in it."""

import json
from dataclasses import dataclass

import gradio as gr

from explorer.tabs.messages import QUIET


@dataclass(frozen=True)
class LinkedTab:
    """A tab and what a link to it restores.

    Attributes:
        tab: The tab.
        fields: Name in the address -> component that holds the value.
        clock: Runs while the tab is in sight, and is stopped when another is.
    """

    tab: gr.Tab
    fields: dict[str, gr.components.Component]
    clock: gr.Timer | None = None


def wire_links(page: gr.Blocks, tabs: gr.Tabs, linked: list[LinkedTab]) -> None:
    """Write the address when something changes, and read it when the page opens."""
    for entry in linked:
        names = json.dumps(["tab", *entry.fields])
        js = f"(...values) => {{ explorer.remember({names}, [{json.dumps(entry.tab.id)}, ...values]); }}"
        entry.tab.select(None, list(entry.fields.values()), None, js=js, **QUIET)
        for field in entry.fields.values():
            field.change(None, list(entry.fields.values()), None, js=js, **QUIET)
    for entry in linked:
        others = [other.clock for other in linked if other.clock and other is not entry]
        if others:
            entry.tab.select(lambda *clocks: [gr.Timer(active=False) for _ in clocks], others, others, **QUIET)
    ids = [entry.tab.id for entry in linked]

    def open_tab(request: gr.Request) -> object:
        wanted = request.query_params.get("tab")
        return gr.Tabs(selected=wanted) if wanted in ids else gr.skip()

    page.load(open_tab, None, tabs, **QUIET)
    for entry in linked:
        if entry.fields:

            def restore(request: gr.Request, entry: LinkedTab = entry) -> list:
                given = request.query_params if request.query_params.get("tab") == entry.tab.id else {}
                return [_value(given.get(name), field) for name, field in entry.fields.items()]

            restored = page.load(restore, None, list(entry.fields.values()), **QUIET)
            restored.then(None, None, None, js="() => { document.body.dataset.ready = 'true'; }")


def _value(given: str | None, field: gr.components.Component) -> object:
    """What an address puts into a field; a choice that there is not is left out."""
    is_free = getattr(field, "allow_custom_value", False) or not hasattr(field, "choices")
    if given is None or not (is_free or given in [value for _, value in field.choices]):
        return gr.skip()
    return given
