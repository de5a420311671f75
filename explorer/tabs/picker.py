"""The model picker: in the same place on every tab, with size and whether the model is ready."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import gradio as gr
from huggingface_hub import constants

from explorer.errors import ExplorerError
from explorer.figures.catalogue import card_note, picker_options, state_words
from explorer.models.card import Ability, ModelCard
from explorer.models.presence import is_here
from explorer.models.registry import Registry
from explorer.settings import settings
from explorer.tabs.messages import QUIET
from explorer.tabs.own_models import own_models
from explorer.tabs.owner import with_owner, with_owner_listed
from explorer.tabs.visitors import find_card
from explorer.training.jobs.supervising import open_jobs


@dataclass(frozen=True)
class ModelPicker:
    """A picker on the page.

    Attributes:
        name: Component that holds the chosen model's name.
        changed: Event after which the model is another one.
    """

    name: gr.Dropdown
    changed: gr.events.Dependency


def can_embed(card: ModelCard) -> bool:
    """Whether a model has contextual vectors of tokens."""
    return Ability.EMBED in card.abilities


def model_options(registry: Registry, ability: Ability) -> list[tuple[str, str]]:
    """What the picker offers: (words, name) in catalogue order."""
    return options_of(registry, registry.names(ability))


def can_be_had(registry: Registry, names: Sequence[str]) -> list[str]:
    """Those of some models that can be asked for: offline, what is on this machine; the tab Models lists all."""
    return [name for name in names if not constants.is_offline_mode() or is_here(registry.card(name))]


def options_of(registry: Registry, names: Sequence[str]) -> list[tuple[str, str]]:
    """(words, name) of some models that can be had: what is on this machine, what is ready, how large each is."""
    statuses = {status.name: status for status in registry.status()}
    cards = [registry.card(name) for name in can_be_had(registry, names)]
    words = {card.name: state_words(statuses[card.name], is_here(card), is_brief=True) for card in cards}
    return picker_options(cards, words)


def build_picker(registry: Registry, ability: Ability, value: str) -> ModelPicker:
    """Lay out a picker of the models with an ability, and wire its note and its fresh states."""
    return build_picker_of(registry, registry.names(ability), value, suits=lambda card: ability in card.abilities)


def build_picker_of(
    registry: Registry, names: Sequence[str], value: str, *, suits: Callable[[ModelCard], bool] = can_embed
) -> ModelPicker:
    """The same for some models.

    Args:
        registry: The models on offer.
        names: Of those that the picker offers.
        value: The first one.
        suits: Whether a model that the visitor made by fine-tuning is offered, too.
    """
    others = [words for allowed, words in (
        (settings().hub_models and not constants.is_offline_mode(), "the id of any model on the Hugging Face Hub"),
        (settings().local_models, f"the path of a model folder in {settings().local_models}"),
    ) if allowed]  # fmt: skip
    is_cut = len(can_be_had(registry, names)) < len(names)
    told = "Offline: only what is on this machine." if is_cut else ""
    info = " ".join([told, *([f"Or type {', or '.join(others)}."] if others else [])]).strip() or None
    name = gr.Dropdown(
        options_of(registry, names), value=value, label="Model", info=info,
        allow_custom_value=True,  # offline, the message says why not; a link may name a model that somebody tuned
        elem_classes="model-picker",
    )  # fmt: skip
    note = gr.HTML(card_note(registry.card(value)), padding=False, elem_classes="model-note")

    def describe(chosen: str) -> str:
        try:
            return card_note(find_card(registry, chosen))
        except ExplorerError:
            return ""  # the view in sight, which asks the model next, says what is wrong

    changed = name.change(describe, name, note, **QUIET)

    offer_own(name, lambda: options_of(registry, names), suits)
    return ModelPicker(name, changed)


def offer_own(
    field: gr.Dropdown, offered: Callable[[], Sequence[tuple[str, str]]], suits: Callable[[ModelCard], bool] = can_embed
) -> None:
    """Offer the models that a visitor made, too, below the others, from when he comes to a field.

    A list that is open goes on ticking the place, and Enter takes it: so none of the others may move.

    Args:
        field: Of one model or several; it takes names that are not among its choices (allow_custom_value), for the
            server and links know no visitor's own.
        offered: What everybody is offered, (words, value), as it stands at that moment.
        suits: Whether one that the visitor made is offered.
    """

    def offer(owner: str | list[str]) -> gr.Dropdown:
        token = owner if isinstance(owner, str) else "".join(owner[:1])  # as the field holds its values
        tuned = [card for card in own_models(open_jobs(), token) if suits(card)]
        own = picker_options(tuned, {card.name: "fine-tuned by you" for card in tuned})
        return gr.Dropdown(choices=[*offered(), *own])

    entered = field.focus(offer, field, field, js=with_owner_listed() if field.multiselect else with_owner(1), **QUIET)
    if not field.multiselect:  # which goes by what is typed
        entered.then(None, None, None, js="() => explorer.refreshed()")


def beside_options(registry: Registry, names: Sequence[str]) -> list[tuple[str, str]]:
    """(words, value) of models that stand beside another: those on this machine, then what can be downloaded."""
    absent = {name for name in names if not is_here(registry.card(name))}
    options = [(f"{name} · needs internet" if name in absent else name, name) for name in can_be_had(registry, names)]
    return sorted(options, key=lambda option: option[1] in absent)
