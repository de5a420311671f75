"""Which models go along from tab to tab; that they do is seen in a browser (tests/browser/test_opening.py)."""

import gradio as gr
import pytest
from huggingface_hub import constants

from explorer.models.catalogue import CATALOGUE, DEFAULT_MODEL
from explorer.models.registry import Registry
from explorer.tabs import chosen_model
from explorer.tabs.chosen_model import wire_chosen_model
from explorer.tabs.links import LinkedTab

ABSENT = next(card.name for card in CATALOGUE if card.needs_network)


@pytest.fixture
def registry():
    return Registry(CATALOGUE, lambda: pytest.fail("nothing is loaded"))


def scripts(registry) -> dict[tuple[str, str], str]:
    """The script of each event: (tab, event) -> script."""
    with gr.Blocks() as page:
        tabs = {}
        with gr.Tabs():
            for id in ("fill", "generate", "models"):
                with gr.Tab(id, id=id) as tab:
                    picker = gr.Dropdown([("M", DEFAULT_MODEL), ("A", ABSENT)], value=DEFAULT_MODEL)
                tabs[id] = LinkedTab(tab, {} if id == "models" else {"model": picker})
        wire_chosen_model(registry, list(tabs.values()))
    names = {entry.tab._id: id for id, entry in tabs.items()}
    names |= {entry.fields["model"]._id: id for id, entry in tabs.items() if entry.fields}
    return {(names[id], event): handler.js for handler in page.fns.values() for id, event in handler.targets}


def test_a_tab_without_models_takes_no_part(registry):
    found = scripts(registry)
    assert {tab for tab, _ in found} == {"fill", "generate"}
    assert {event for _, event in found} == {"focus", "input", "select"}
    assert 'explorer.carried("fill"' in found["fill", "select"]
    assert 'explorer.chose("generate"' in found["generate", "input"]


@pytest.mark.parametrize(("offline", "goes"), [(False, True), (True, False)])
def test_offline_no_tab_is_led_to_a_model_that_is_not_here(registry, monkeypatch, offline, goes):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", offline)
    monkeypatch.setattr(chosen_model, "is_here", lambda card: card.name != ABSENT)
    script = scripts(registry)["fill", "select"]
    assert (ABSENT in script) is goes and DEFAULT_MODEL in script
