"""Tab: the models on offer, what each can do, and what is in memory."""

import json
from dataclasses import dataclass
from typing import Literal

import gradio as gr
from huggingface_hub import constants

from explorer.errors import ExplorerError, TooBusy
from explorer.figures.catalogue import ABILITY_WORDS, Refusal, budget_bar, model_table, reach_note
from explorer.figures.own_models import own_table
from explorer.models.card import ModelCard
from explorer.models.catalogue import DEFAULT_MODEL
from explorer.models.catalogue.families import FAMILIES, family_of
from explorer.models.presence import is_here
from explorer.models.registry import Registry
from explorer.tabs.gallery import build_look
from explorer.tabs.kinds import told
from explorer.tabs.learning import build_learning
from explorer.tabs.links import LinkedTab
from explorer.tabs.messages import QUIET, add_stop, error_box, loading_words, progress_box
from explorer.tabs.own_models import find_own
from explorer.tabs.owner import build_owner, with_owner
from explorer.tabs.taking_away import table_links
from explorer.training.jobs.supervising import open_jobs

ANYTHING = "any"
WANTED = [("anything", ANYTHING), *((words, ability.value) for ability, words in ABILITY_WORDS.items())]
KINDS = [("any", ANYTHING), *((family.title, family.key) for family in FAMILIES)]
QUESTION = "Which models are on offer, what can each do, and which are in memory?"
REFRESH_SECONDS = 2.0
ON_LOAD = """
const wanted = event => {
  const button = event.target.closest('button[data-act]');
  return button ? {act: button.dataset.act, name: button.dataset.name} : {};
};
// The table is drawn anew while it is pressed, perhaps with other heights: what counts is the button under the press,
// released in the same place, whatever is there by then.
const NEAR_PIXELS = 10;
let pressed = {};
element.addEventListener('pointerdown', event => {
  pressed = {...wanted(event), isMain: event.button === 0, x: event.clientX, y: event.clientY};
});
element.ownerDocument.addEventListener('pointerup', event => {
  const {act, name, isMain, x, y} = pressed;
  pressed = {};
  if (act && isMain && Math.hypot(event.clientX - x, event.clientY - y) < NEAR_PIXELS) trigger('select', {act, name});
});
element.ownerDocument.addEventListener('pointercancel', () => (pressed = {}));
element.addEventListener('click', event => {
  const {act, name} = wanted(event);
  if (act && event.detail === 0) trigger('select', {act, name});  // by keyboard
});
// A row that is loading has no button, and the focus would be lost with it: it comes back with the next one.
let held = null;
const page = element.ownerDocument;
page.addEventListener('focusin', event => (held = element.contains(event.target) ? wanted(event).name : null));
page.addEventListener('pointerdown', event => element.contains(event.target) || (held = null));
new MutationObserver(() => {
  if (!held || page.activeElement !== page.body) return;
  const buttons = [...element.querySelectorAll('button[data-act]')];
  buttons.find(button => button.dataset.name === held)?.focus({preventScroll: true});
}).observe(element, {childList: true, subtree: true});
"""


@dataclass(frozen=True)
class Pressed:
    """A button of the table.

    Attributes:
        act: What is wanted of the model.
        name: Of the model.
    """

    act: Literal["load", "unload"]
    name: str


def build(registry: Registry) -> LinkedTab:
    """Lay out the tab and wire its buttons and its clock."""

    def offered(ability: str, family: str, *, only_here: bool) -> list[ModelCard]:
        kin = [card for card in registry.cards() if family in (ANYTHING, family_of(card).key)]
        suits = [card for card in kin if ability == ANYTHING or ability in card.abilities]
        return [card for card in suits if not only_here or is_here(card)]

    def models(ability: str, family: str, *, only_here: bool, refusal: Refusal | None = None) -> str:
        cards = registry.cards()
        here = {card.name for card in cards if is_here(card)}
        is_offline = constants.is_offline_mode()
        statuses = {status.name: status for status in registry.status()}
        note = reach_note(cards, here, is_offline=is_offline)
        shown = offered(ability, family, only_here=only_here)
        return note + model_table(shown, statuses, here, is_offline=is_offline, refusal=refusal)

    def taken() -> str:
        return budget_bar(registry.budget(), registry.status())

    with gr.Tab("Models", id="models") as tab:
        look = build_look("")
        with gr.Tabs(elem_classes="views") as views:
            with gr.Tab("On offer", id="offer") as offer:
                gr.HTML(f"<h2 class='question'>{QUESTION}</h2>", padding=False)
                budget = gr.HTML(taken(), padding=False)
                message = gr.HTML(padding=False, elem_classes="message-place")
                with gr.Row(elem_classes="models-filter"):
                    can = gr.Dropdown(WANTED, value=ANYTHING, label="What it can do", scale=0, min_width=260)
                    family = gr.Dropdown(
                        KINDS, value=ANYTHING, label="Family", scale=0, min_width=330, elem_classes="beside-model"
                    )
                    only_here = gr.Checkbox(value=False, label="On this machine only", scale=0, min_width=260)
                own = gr.HTML(padding=False, elem_id="own-models")
                first = models(ANYTHING, ANYTHING, only_here=False)
                table = gr.HTML(first, js_on_load=ON_LOAD, padding=False, elem_classes="result")
                gr.HTML(table_links({}, "models"), padding=False)
            with gr.Tab("What is learned when", id="learning") as learning:
                traced = build_learning(registry)
        shown = gr.Radio([offer.id, learning.id], value=offer.id, visible="hidden")
        clock, owner = gr.Timer(REFRESH_SECONDS, active=False), build_owner()
    for view in (offer, learning):
        view.select(None, None, shown, js=f"() => {json.dumps(view.id)}", **QUIET)

    refused = gr.State(None)
    filters = [can, family, only_here]

    def refresh(ability: str, family: str, only_here: bool, refusal: Refusal | None = None) -> tuple:
        return taken(), models(ability, family, only_here=only_here, refusal=refusal)

    def act(ability: str, family: str, only_here: bool, event: gr.EventData):
        pressed = told(event, Pressed)
        name = pressed.name
        try:
            if pressed.act == "unload" and name == DEFAULT_MODEL:
                raise TooBusy(f"{name} stays in memory: every visitor begins with it.")
            elif pressed.act == "unload":
                registry.unload(name)
            else:
                for words in loading_words(registry, name):
                    yield progress_box(words), None, *refresh(ability, family, only_here)
            yield "", None, *refresh(ability, family, only_here)
        except ExplorerError as error:
            is_in_sight = any(card.name == name for card in offered(ability, family, only_here=only_here))
            refusal = Refusal(name, str(error)) if is_in_sight else None  # in its row, if it has one
            said = "" if refusal else error_box(str(error))
            yield said, refusal, *refresh(ability, family, only_here, refusal)

    # Gradio's default drops a press while an earlier one is at work, without a word.
    acted = table.select(act, filters, [message, refused, budget, table], trigger_mode="multiple", **QUIET)
    with tab:
        add_stop(message, [acted])
    now = [*filters, refused]
    tab.select(lambda *held: (gr.Timer(active=True), *refresh(*held)), now, [clock, budget, table], **QUIET)
    tab.select(lambda token: own_table(find_own(open_jobs(), token)), owner, own, js=with_owner(1), **QUIET)
    clock.tick(refresh, now, [budget, table], **QUIET)
    gr.on([field.change for field in filters], refresh, now, [budget, table], **QUIET)
    fields = {"models_view": shown, "trained": traced, "can": can, "family": family, "here": only_here}
    return LinkedTab(tab, fields, tuple(fields), (views, "models_view"), clock=clock, look=(look, ()))
