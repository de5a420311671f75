"""How many tokens the prompt has, of how many the model reads, told while it is typed."""

from functools import partial

import gradio as gr

from explorer import analysis
from explorer.errors import ExplorerError
from explorer.figures.notes import length_note
from explorer.models.card import Ability
from explorer.models.registry import Registry
from explorer.tabs.generate.view import Prompt
from explorer.tabs.messages import QUIET, explain
from explorer.tabs.visitors import find_model


def follow(
    registry: Registry, prompt: Prompt, count: gr.HTML, model_changed: gr.events.Dependency
) -> list[gr.events.Dependency]:
    """Keep the count beside the prompt; returns the events after which it is that of the text and the model chosen.

    Args:
        registry: The models on offer.
        prompt: What is counted.
        count: Where it is shown.
        model_changed: Event after which the model, and with it the limit, is another one.
    """

    def measure(model: str, text: str) -> str:
        try:
            models, name = find_model(registry, model, Ability.GENERATE)
            is_ready = any(status.name == name and status.state == "ready" for status in models.status())
            if not is_ready:  # nobody asked for it yet: typing is no reason to download it
                return ""
            return length_note(models.run(name, partial(analysis.measure_prompt, text=text)), is_empty=not text)
        except ExplorerError as error:
            return explain(error)

    event = {"fn": measure, "inputs": [prompt.model, prompt.text], "outputs": count, "trigger_mode": "always_last"}
    return [prompt.text.change(**event, **QUIET), model_changed.then(**event, **QUIET)]
