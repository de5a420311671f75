"""Tab: the models on offer, what each can do, and what is in memory."""

import json

import gradio as gr
from huggingface_hub import constants

from explorer.errors import ExplorerError
from explorer.figures.catalogue import budget_bar, model_table, reach_note
from explorer.models.card import Ability
from explorer.models.presence import is_here
from explorer.models.registry import Registry
from explorer.tabs.learning import build_learning
from explorer.tabs.links import LinkedTab
from explorer.tabs.messages import QUIET, add_stop, error_box, loading_words, progress_box

USED = (  # what the other tabs ask of models
    Ability.FILL_BLANKS,
    Ability.FILL_SPANS,
    Ability.GENERATE,
    Ability.DETECT_REPLACED,
    Ability.PREDICT_BOTH_WAYS,
    Ability.NEXT_SENTENCE,
)
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
"""


def build(registry: Registry) -> LinkedTab:
    """Lay out the tab and wire its buttons and its clock."""

    def models() -> str:
        cards = registry.cards()
        here = {card.name for card in cards if is_here(card)}
        is_offline = constants.is_offline_mode()
        statuses = {status.name: status for status in registry.status()}
        note = reach_note(cards, here, is_offline=is_offline)
        return note + model_table(cards, statuses, here, is_offline=is_offline, used=USED)

    with gr.Tab("Models", id="models") as tab:
        with gr.Tabs(elem_classes="views") as views:
            with gr.Tab("On offer", id="offer") as offer:
                gr.HTML(f"<p class='question'>{QUESTION}</p>", padding=False)
                budget = gr.HTML(budget_bar(registry.budget()), padding=False)
                message = gr.HTML(padding=False, elem_classes="message-place")
                table = gr.HTML(models(), js_on_load=ON_LOAD, padding=False, elem_classes="result")
            with gr.Tab("What is learned when", id="learning") as learning:
                traced = build_learning(registry)
        shown = gr.Radio([offer.id, learning.id], value=offer.id, visible="hidden")
        clock = gr.Timer(REFRESH_SECONDS, active=False)
    for view in (offer, learning):
        view.select(None, None, shown, js=f"() => {json.dumps(view.id)}", **QUIET)

    def refresh() -> tuple:
        return budget_bar(registry.budget()), models()

    def act(event: gr.EventData):
        name, wanted = str(event._data["name"]), event._data["act"]
        try:
            if wanted == "unload":
                registry.unload(name)
            else:
                for words in loading_words(registry, name):
                    yield progress_box(words), *refresh()
            yield "", *refresh()
        except ExplorerError as error:
            yield error_box(str(error)), *refresh()

    # Gradio's default drops a press while an earlier one is at work, without a word.
    acted = table.select(act, None, [message, budget, table], trigger_mode="multiple", **QUIET)
    with tab:
        add_stop(message, [acted])
    tab.select(lambda: (gr.Timer(active=True), *refresh()), None, [clock, budget, table], **QUIET)
    clock.tick(refresh, None, [budget, table], **QUIET)
    fields = {"models_view": shown, "trained": traced}
    return LinkedTab(tab, fields, tuple(fields), (views, "models_view"), clock=clock)
