"""Choices that change their offer refuse nothing themselves, and are drawn as Gradio's."""

import gradio as gr
import pytest

from explorer.tabs import lenient


@pytest.mark.parametrize("name", ["Dropdown", "Radio", "CheckboxGroup"])
def test_a_value_of_an_offer_before_is_taken_as_it_was_sent(name):
    sent = ["gone"] if name == "CheckboxGroup" else "gone"
    with gr.Blocks() as page:
        plain, ours = (getattr(module, name)(["here"]) for module in (gr, lenient))
    with pytest.raises(gr.Error, match="not in the list of choices"):
        plain.preprocess(sent)
    assert ours.preprocess(sent) == sent
    drawn = {one["id"]: one["type"] for one in page.get_config_file()["components"]}
    assert drawn[plain._id] == drawn[ours._id] == name.lower()
