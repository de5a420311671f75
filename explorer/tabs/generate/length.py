"""How many tokens the prompt has, of how many the model reads, told while it is typed."""

from collections.abc import Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True)
class LengthCount:
    """The count of a prompt.

    Attributes:
        registry: The models on offer.
        prompt: What is counted.
        shown: Where the count is; empty while the model is not in memory.
    """

    registry: Registry
    prompt: Prompt
    shown: gr.HTML

    def follow(self, model_changed: gr.events.Dependency) -> list[gr.events.Dependency]:
        """Keep the count beside the prompt; returns the events after which it is that of the text and model chosen.

        Args:
            model_changed: Event after which the model, and with it the limit, is another one.
        """
        prompt = self.prompt
        inputs = {"inputs": [prompt.model, prompt.text], "outputs": self.shown}
        event = {"fn": self._measure, "trigger_mode": "always_last"} | inputs
        return [prompt.text.change(**event, **QUIET), model_changed.then(**event, **QUIET)]

    def catch_up(self, answered: Sequence[gr.events.Dependency]) -> None:
        """Count after a view has answered, where there is no count yet: the model was loaded for the view.

        Args:
            answered: As views.wire returns them.
        """
        inputs = [self.prompt.model, self.prompt.text, self.shown]
        for event in answered:
            event.then(self._measure_missing, inputs, self.shown, **QUIET)

    def _measure(self, model: str, text: str) -> str:
        try:
            models, name = find_model(self.registry, model, Ability.GENERATE)
            is_ready = any(status.name == name and status.state == "ready" for status in models.status())
            if not is_ready:  # nobody asked for it yet: typing is no reason to download it
                return ""
            return length_note(models.run(name, partial(analysis.measure_prompt, text=text)))
        except ExplorerError as error:
            return explain(error)

    def _measure_missing(self, model: str, text: str, shown: str) -> object:
        return gr.skip() if shown else self._measure(model, text)
