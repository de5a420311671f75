"""Tab: the models on offer, what each can do, and what is in memory."""

import gradio as gr

from explorer.errors import ExplorerError
from explorer.figures.catalogue import budget_bar, model_rows
from explorer.models.presence import is_here
from explorer.models.registry import Registry
from explorer.tabs.links import LinkedTab
from explorer.tabs.messages import error_box, loading_words, progress_box

REFRESH_SECONDS = 2.0
TEMPLATE = """<table class="models"><thead><tr><th>Model</th><th>Can do</th><th>Weights</th><th>Licence</th>
<th>Where it is</th><th><span class="hidden-words">Load or unload</span></th></tr></thead><tbody>{{#each value}}<tr>
<td><b>{{name}}</b><p>{{special}}{{#if training}} {{training}}{{/if}}
{{#if paper_url}} <a href="{{paper_url}}" target="_blank" rel="noopener">{{paper}}</a>{{/if}}
{{#if unconfirmed}}<br><i>Unconfirmed until the first download: {{unconfirmed}}.</i>{{/if}}</p></td>
<td data-label="Can do">{{abilities}}</td>
<td data-label="Weights">{{parameters}}<br>{{size}}</td><td data-label="Licence">{{licence}}</td>
<td data-label="Where it is" class="{{#if is_loaded}}ready{{/if}}">{{state}}</td>
<td>{{#if is_loaded}}<button type="button" data-act="unload" data-name="{{name}}">Unload</button>{{else}}{{#if is_busy}}
{{else}}<button type="button" data-act="load" data-name="{{name}}">Load</button>{{/if}}{{/if}}</td>
</tr>{{/each}}</tbody></table>"""
ON_LOAD = """
element.addEventListener('click', event => {
  const button = event.target.closest('button[data-act]');
  if (button) trigger('select', {act: button.dataset.act, name: button.dataset.name});
});
"""


def build(registry: Registry) -> LinkedTab:
    """Lay out the tab and wire its buttons and its clock."""

    def rows() -> list[dict]:
        cards = registry.cards()
        here = {card.name for card in cards if is_here(card)}
        return model_rows(cards, {status.name: status for status in registry.status()}, here)

    with gr.Tab("Models", id="models") as tab:
        gr.HTML("<p class='question'>Which models are on offer, what can each do, and which are in memory?</p>",
                padding=False)  # fmt: skip
        budget = gr.HTML(budget_bar(registry.budget()), padding=False)
        message = gr.HTML(padding=False, elem_classes="message-place")
        table = gr.HTML(rows(), html_template=TEMPLATE, js_on_load=ON_LOAD, padding=False, elem_classes="result")
        clock = gr.Timer(REFRESH_SECONDS, active=False)

    def refresh() -> tuple:
        return budget_bar(registry.budget()), rows()

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

    quiet = {"api_visibility": "private", "show_progress": "hidden"}
    table.select(act, None, [message, budget, table], concurrency_limit=None, **quiet)
    tab.select(lambda: (gr.Timer(active=True), *refresh()), None, [clock, budget, table], **quiet)
    clock.tick(refresh, None, [budget, table], **quiet)
    return LinkedTab(tab, {})
