"""The model picker: in the same place on every tab, with size and whether the model is ready."""

from dataclasses import dataclass

import gradio as gr

from explorer.errors import ExplorerError
from explorer.figures.catalogue import card_note, picker_options, state_words
from explorer.models.card import Ability
from explorer.models.presence import is_here
from explorer.models.registry import Registry
from explorer.settings import settings
from explorer.tabs.messages import QUIET
from explorer.tabs.visitors import find_model


@dataclass(frozen=True)
class ModelPicker:
    """A picker on the page.

    Attributes:
        name: Component that holds the chosen model's name.
        changed: Event after which the model is another one.
    """

    name: gr.Dropdown
    changed: gr.events.Dependency


def model_options(registry: Registry, ability: Ability) -> list[tuple[str, str]]:
    """What the picker offers: (words, name) in catalogue order."""
    statuses = {status.name: status for status in registry.status()}
    cards = [registry.card(name) for name in registry.names(ability)]
    words = {card.name: state_words(statuses[card.name], is_here(card)) for card in cards}
    return picker_options(cards, words)


def build_picker(registry: Registry, ability: Ability, value: str) -> ModelPicker:
    """Lay out a picker and wire its note and its fresh states."""
    others = [words for allowed, words in (
        (settings().hub_models, "the id of any model on the Hugging Face Hub"),
        (settings().local_models, f"the path of a model folder in {settings().local_models}"),
    ) if allowed]  # fmt: skip
    info = f"Or type {', or '.join(others)}." if others else None
    name = gr.Dropdown(
        model_options(registry, ability), value=value, label="Model", info=info, allow_custom_value=bool(others),
        elem_classes="model-picker",
    )  # fmt: skip
    note = gr.HTML(card_note(registry.card(value)), padding=False)

    def describe(chosen: str) -> str:
        try:
            models, name = find_model(registry, chosen)
            return card_note(models.card(name))
        except ExplorerError:
            return ""  # the view in sight, which asks the model next, says what is wrong

    changed = name.change(describe, name, note, **QUIET)
    name.focus(
        lambda: gr.Dropdown(choices=model_options(registry, ability)),
        None, name, **QUIET,
    )  # fmt: skip
    return ModelPicker(name, changed)
