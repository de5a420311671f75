"""Layout and wiring of the tab that shows attention."""

import gradio as gr

from explorer.models.registry import Registry
from explorer.settings import settings
from explorer.tabs.attention import all_heads, bertviz, find, head, switch_off
from explorer.tabs.attention.first_reading import first_ask, read_first_reading
from explorer.tabs.attention.gallery import Start, read_gallery
from explorer.tabs.attention.look import is_look
from explorer.tabs.attention.readings import Readings, writes_on
from explorer.tabs.attention.texts import follow_model, second_box
from explorer.tabs.attention.view import Prompt
from explorer.tabs.attention.which import is_which
from explorer.tabs.formulas import build_question, build_why
from explorer.tabs.gallery import build_gallery, build_look, look_line, seen_in
from explorer.tabs.links import LinkedTab
from explorer.tabs.messages import QUIET
from explorer.tabs.picker import build_picker_of
from explorer.tabs.views import View, linked_fields, wire

QUESTION = "Which other tokens does each token look at, and does a head do one thing that has a name?"
WHY = """In every layer a token gathers what it needs from the others. Each **head** turns a token's vector into a
**query** $q$, a **key** $k$ and a **value** $v$ of $d$ numbers; where a query fits a key, that value is let in:

$$\\mathrm{Attention}(Q, K, V) = \\mathrm{softmax}\\left(\\frac{QK^\\top}{\\sqrt{d}}\\right) V$$

The softmax is what you see here: one row for each token that looks, the weights of a row sum to 1.
[Vaswani et al. 2017](https://arxiv.org/abs/1706.03762). Some heads of BERT look at the next token, at the object of a
verb or at what a pronoun stands for; many rest on [SEP], which holds nothing they need
([Clark et al. 2019](https://arxiv.org/abs/1906.04341)).

**Attention is not explanation.** That a head looks at a word does not show that the answer depends on it: quite
different weights can give the same answer ([Jain and Wallace 2019](https://arxiv.org/abs/1902.10186)). Whether weights
may still be *an* explanation depends on what one asks of it
([Wiegreffe and Pinter 2019](https://arxiv.org/abs/1908.04626)). To see what a head does, switch it off."""
MOST_NEW_TOKENS = 60
WITHOUT = ("elmo",)  # model types without attention


def build(registry: Registry) -> LinkedTab:
    """Lay out the tab and wire it; returns what a link restores, too."""
    gallery = read_gallery()
    start = gallery[0]
    names = [card.name for card in registry.cards() if card.model_type not in WITHOUT]
    with gr.Tab("Attention", id="attention") as tab:
        build_question(QUESTION)
        with gr.Row(elem_classes="halves"):
            with gr.Column(scale=1, min_width=320, elem_classes="controls-side"):
                picker = build_picker_of(
                    registry, names, start.model, suits=lambda card: card.model_type not in WITHOUT
                )  # fmt: skip
                text = gr.Textbox(
                    start.text, lines=2, max_lines=8, label="Text", elem_id="attention-text",
                    info="Any length that the model reads.",
                )  # fmt: skip
                message = gr.HTML(padding=False, elem_classes="message-place")
                with gr.Column(elem_classes="settings"):  # on a phone they stand below the answer
                    second = second_box(registry, start.model, start.second)
                    new_tokens = gr.Slider(
                        0, MOST_NEW_TOKENS, start.new_tokens, step=1, label="Let the model write first",
                        info="Tokens it adds, the likeliest each time; 0 = read the text alone.",
                        visible=writes_on(registry.card(start.model)), elem_id="attention-write",
                    )  # fmt: skip
                which = gr.Textbox(start.at, visible="hidden", elem_id="attention-which")
                look = gr.Textbox("", visible="hidden", elem_id="attention-look")
                which.is_spelled, look.is_spelled = is_which, is_look
            with gr.Column(scale=2, min_width=320, elem_classes=["result-side", "follows"]):
                prompt = Prompt(picker.name, text, second, new_tokens, which, look, message)
                told = build_look(start.look_for)
                with gr.Tabs(elem_classes="views") as sub_tabs:
                    views = _build_views(registry, prompt)
        examples = build_gallery(gallery)
        build_why(WHY)

    with tab:  # Gradio numbers tabs by their place: a State beside them, rather than within one, shifts their labels
        shown = gr.Radio([view.tab.id for view in views], value=views[0].tab.id, visible="hidden")
        typed = [box.change(None, None, None, js="() => {}", **QUIET) for box in (text, second, new_tokens)]
        own = linked_fields(views)
        changed = [*typed, follow_model(registry, prompt, own["of"], picker.changed)]
        wire(message, views, shown, changed)
    for press, example in examples:
        filled = [told, picker.name, text, second, new_tokens, which, look, sub_tabs, shown]
        press.click(lambda example=example: _choose(example), None, filled, **QUIET).then(
            None, look, None, js=head.DRESS, **QUIET
        )
    fields = {"text": text, "model": picker.name, "second": second, "write": new_tokens, "at": which}
    terse = ("second", "write", "at", "show", *own)
    looks = tuple((_fills(example, views), look_line(example.look_for)) for example in gallery)
    return LinkedTab(tab, fields | {"show": shown} | own, terse, (sub_tabs, "show"), look=(told, looks))


def _build_views(registry: Registry, prompt: Prompt) -> list[View]:
    """The views in page order. To add one, write its file and list it here."""
    readings, first, ask = Readings(settings().most_attention_mib), read_first_reading(), first_ask()
    readings.keep(ask, first)
    return [
        head.build(registry, prompt, readings, (first, ask, read_gallery()[0])),
        all_heads.build(registry, prompt, readings),
        find.build(registry, prompt),
        switch_off.build(registry, prompt),
        bertviz.build(registry, prompt, readings),
    ]


def _fills(start: Start, views: list[View]) -> dict[str, object]:
    """What an example puts into fields, by their names in the address."""
    read = {"model": start.model, "text": start.text, "second": start.second, "write": start.new_tokens}
    seen = seen_in("head", start.look_for, (view.tab for view in views))
    return read | {"at": start.at, "look": ("", start.look), "show": seen}


def _choose(start: Start) -> tuple:
    read = (start.model, start.text, start.second, start.new_tokens)
    return look_line(start.look_for), *read, start.at, start.look, gr.Tabs(selected="head"), "head"
