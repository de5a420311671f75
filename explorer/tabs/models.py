"""Tab: the models on offer, what each can do, and what is in memory."""

import gradio as gr

from explorer.errors import ExplorerError
from explorer.figures.catalogue import budget_bar, model_table
from explorer.models.presence import is_here
from explorer.models.registry import Registry
from explorer.tabs.links import LinkedTab
from explorer.tabs.messages import QUIET, error_box, loading_words, progress_box

REFRESH_SECONDS = 2.0
ON_LOAD = """
element.addEventListener('click', event => {
  const button = event.target.closest('button[data-act]');
  if (button) trigger('select', {act: button.dataset.act, name: button.dataset.name});
});
"""


def build(registry: Registry) -> LinkedTab:
    """Lay out the tab and wire its buttons and its clock."""

    def models() -> str:
        cards = registry.cards()
        here = {card.name for card in cards if is_here(card)}
        return model_table(cards, {status.name: status for status in registry.status()}, here)

    with gr.Tab("Models", id="models") as tab:
        gr.HTML("<p class='question'>Which models are on offer, what can each do, and which are in memory?</p>",
                padding=False)  # fmt: skip
        budget = gr.HTML(budget_bar(registry.budget()), padding=False)
        message = gr.HTML(padding=False, elem_classes="message-place")
        table = gr.HTML(models(), js_on_load=ON_LOAD, padding=False, elem_classes="result")
        clock = gr.Timer(REFRESH_SECONDS, active=False)

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

    table.select(act, None, [message, budget, table], **QUIET)
    tab.select(lambda: (gr.Timer(active=True), *refresh()), None, [clock, budget, table], **QUIET)
    clock.tick(refresh, None, [budget, table], **QUIET)
    return LinkedTab(tab, {}, clock)
