"""Layout and wiring of the fill-in-the-blank tab."""

from functools import partial

import gradio as gr

from explorer.analysis.strategies import STRATEGIES
from explorer.models.card import Ability
from explorer.models.registry import Registry
from explorer.tabs.fill_blanks import answer, candidates, compare, contrast, reveal, spans, tokens, training
from explorer.tabs.fill_blanks.gallery import Example, follow_example, read_gallery
from explorer.tabs.fill_blanks.view import Sentence
from explorer.tabs.fill_blanks.word_strip import build_word_strip, show_words
from explorer.tabs.first_view import read_first_view
from explorer.tabs.formulas import WHY_TITLE, build_question, build_why
from explorer.tabs.gallery import build_gallery, build_look, look_line
from explorer.tabs.links import LinkedTab
from explorer.tabs.messages import QUIET
from explorer.tabs.picker import build_picker
from explorer.tabs.views import linked_fields, wire

QUESTION = "Which words does a model expect in a blank, when it can read what stands on both sides of it?"
WHY = """A **masked language model** (BERT and its kin) is trained to guess words that were hidden from it, from the
words on both sides. Of the tokens of its training text 15 % are picked; the loss is the cross-entropy there,

$$\\mathcal{L} = -\\frac{1}{|M|}\\sum_{i \\in M} \\ln p(x_i \\mid \\tilde{x})$$

where $\\tilde{x}$ is the corrupted text. What you see above is $p(x_i \\mid \\tilde{x})$ itself. With several
blanks the model gives one distribution for each, as if the others did not matter; the strategies under *More options*
combine them.
[Devlin et al. 2019](https://arxiv.org/abs/1810.04805)"""


def build(registry: Registry) -> LinkedTab:
    """Lay out the tab and wire it; returns what a link restores, too."""
    first = read_first_view()
    gallery = read_gallery()
    start = gallery[0]
    with gr.Tab("Fill in the blank", id="fill") as tab:
        build_question(QUESTION)
        with gr.Row(elem_classes="halves"):
            with gr.Column(scale=1, min_width=320, elem_classes="controls-side"):
                picker = build_picker(registry, Ability.FILL_BLANKS, first.model)
                text = gr.Textbox(
                    first.text, lines=1, max_lines=8, label="Sentence", elem_id="fill-text",
                    info="Write three underscores where words are missing, or click words below to hide and show them; "
                    "drag over several to hide them as one.",
                )  # fmt: skip
                message = gr.HTML(padding=False, elem_classes="message-place")  # a long sentence has a long strip
                strip = build_word_strip(text, first.text)
                with gr.Accordion("More options", open=False):
                    strategy = gr.Radio(
                        [(s.label, s.key) for s in STRATEGIES.values()], value=first.strategy,
                        label="How several blanks are filled together", info=hint(first.strategy),
                    )  # fmt: skip
                    top_k = gr.Slider(1, 20, 5, step=1, label="Words per blank", info="More bars in each chart.")
                    count = gr.Slider(1, 20, 5, step=1, label="Sentences", info="More ways to fill all the blanks.")
            with gr.Column(scale=2, min_width=320, elem_classes=["result-side", "follows"]):
                sentence = Sentence(picker.name, text, top_k, count, strategy, message)
                look = build_look(start.look_for)
                with gr.Tabs(elem_classes="views") as sub_tabs:
                    views = [
                        answer.build(registry, sentence, first),
                        reveal.build(registry, sentence),
                        candidates.build(registry, sentence, start.candidates),
                        contrast.build(registry, sentence, start.other),
                        compare.build(registry, sentence, registry.names(Ability.FILL_BLANKS)[1:2]),
                        spans.build(registry, sentence),
                        tokens.build(registry, sentence),
                        training.build(registry, sentence),
                    ]
        examples = build_gallery(gallery)
        build_why(WHY, WHY_TITLE)

    chosen = strategy.change(lambda key: gr.Radio(info=hint(key)), strategy, strategy, **QUIET)
    own = linked_fields(views)
    boxes = [own["candidates"], own["other"]]
    with tab:  # Gradio numbers tabs by their place: a State beside them, rather than within one, shifts their labels
        given = gr.State(start)
        shown = gr.Radio([view.tab.id for view in views], value=views[0].tab.id, visible="hidden")
        followed = strip.changed.then(
            partial(_follow, gallery), [text, *boxes, given, shown], [*boxes, given, look], **QUIET
        )  # fmt: skip
        eager = [
            listen(None, None, None, js="() => {}", **QUIET) for listen in (text.submit, top_k.change, count.change)
        ]
        wire(message, views, shown, [followed, picker.changed, chosen, *eager])
    counted = [own["blank"], own["compared_blank"]]
    filled = [text, strip.hidden, strip.words, *boxes, given, look, *counted, sub_tabs, shown]
    for button, example in examples:
        button.click(partial(_choose, example), None, filled, **QUIET)
    fields = {"text": text, "model": picker.name, "strategy": strategy, "top_k": top_k, "count": count, "show": shown}
    terse = ("strategy", "top_k", "count", "show", *(name for name in own if name not in ("candidates", "other")))
    filled_by = strategy.value  # the lines speak of words that are filled in with regard to each other
    looks = tuple((_fills(example, filled_by), look_line(example.look_for)) for example in gallery)
    return LinkedTab(tab, fields | own, terse, (sub_tabs, "show"), settled=followed, look=(look, looks))


def _follow(gallery: tuple[Example, ...], text: str, candidates: str, other: str, given: Example, shown: str) -> tuple:
    """A box that stays as it was is not written to: the visitor may be typing in it by now."""
    followed = follow_example(gallery, text, candidates, other, given)
    boxes = (gr.skip() if new == old else new for new, old in zip(followed, (candidates, other, given), strict=True))
    is_example = (followed[-1].text, followed[-1].view) == (text, shown)
    return *boxes, look_line(followed[-1].look_for) if is_example else ""


def _fills(example: Example, strategy: str) -> dict[str, object]:
    """What an example puts into fields, by their names in the address, and how its line expects blanks to be filled."""
    return {"text": example.text, "show": example.view, "strategy": strategy}


def _choose(example: Example) -> tuple:
    of_its_own = (example.candidates, example.other, example, look_line(example.look_for))
    return example.text, *show_words(example.text), *of_its_own, 1, 1, gr.Tabs(selected=example.view), example.view


def hint(strategy: str) -> str:
    """What a strategy does, in one line."""
    return STRATEGIES[strategy].hint
