"""Which models go along from tab to tab; that they do is seen in a browser (tests/browser/test_opening.py)."""

import gradio as gr

from explorer.tabs.chosen_model import wire_chosen_model
from explorer.tabs.links import LinkedTab


def scripts() -> dict[tuple[str, str], str]:
    """The script of each event: (tab, event) -> script."""
    with gr.Blocks() as page:
        tabs = {}
        with gr.Tabs():
            for id in ("fill", "generate", "models"):
                with gr.Tab(id, id=id) as tab:
                    picker = gr.Dropdown(["BERT mini", "GPT mini"], value="BERT mini")
                tabs[id] = LinkedTab(tab, {} if id == "models" else {"model": picker})
        wire_chosen_model(list(tabs.values()))
    names = {entry.tab._id: id for id, entry in tabs.items()}
    names |= {entry.fields["model"]._id: id for id, entry in tabs.items() if entry.fields}
    return {(names[id], event): handler.js for handler in page.fns.values() for id, event in handler.targets}


def test_a_tab_without_models_takes_no_part():
    found = scripts()
    assert {tab for tab, _ in found} == {"fill", "generate"}
    assert {event for _, event in found} == {"focus", "input", "select"}
    assert 'explorer.carried("fill"' in found["fill", "select"]
    assert 'explorer.chose("generate"' in found["generate", "input"]
