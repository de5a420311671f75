"""A link restores the view: the address holds the tab and what was typed in it."""

import json
from dataclasses import dataclass

import gradio as gr


@dataclass(frozen=True)
class LinkedTab:
    """A tab and what a link to it restores.

    Attributes:
        tab: The tab.
        fields: Name in the address -> component that holds the value.
    """

    tab: gr.Tab
    fields: dict[str, gr.components.Component]


def wire_links(page: gr.Blocks, tabs: gr.Tabs, linked: list[LinkedTab]) -> None:
    """Write the address when something changes, and read it when the page opens."""
    quiet = {"api_visibility": "private", "show_progress": "hidden"}
    for entry in linked:
        names = json.dumps(["tab", *entry.fields])
        js = f"(...values) => {{ explorer.remember({names}, [{json.dumps(entry.tab.id)}, ...values]); }}"
        entry.tab.select(None, list(entry.fields.values()), None, js=js, **quiet)
        for field in entry.fields.values():
            field.change(None, list(entry.fields.values()), None, js=js, **quiet)
    page.load(None, None, None, js="() => { document.body.dataset.ready = 'true'; }")  # tests wait for it
    ids = [entry.tab.id for entry in linked]

    def open_tab(request: gr.Request) -> object:
        wanted = request.query_params.get("tab")
        return gr.Tabs(selected=wanted) if wanted in ids else gr.skip()

    page.load(open_tab, None, tabs, **quiet)
    for entry in linked:
        if entry.fields:

            def restore(request: gr.Request, entry: LinkedTab = entry) -> list:
                given = request.query_params if request.query_params.get("tab") == entry.tab.id else {}
                return [given[name] if name in given else gr.skip() for name in entry.fields]

            page.load(restore, None, list(entry.fields.values()), **quiet)
