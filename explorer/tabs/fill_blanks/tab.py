"""Layout and wiring of the fill-in-the-blank tab."""

from functools import partial

import gradio as gr

from explorer.analysis.strategies import STRATEGIES
from explorer.models.card import Ability
from explorer.models.registry import Registry
from explorer.tabs.fill_blanks import answer, candidates, compare, contrast, reveal, tokens
from explorer.tabs.fill_blanks.gallery import Example, build_gallery, read_gallery
from explorer.tabs.fill_blanks.view import Sentence, View
from explorer.tabs.fill_blanks.word_strip import build_word_strip, show_words
from explorer.tabs.first_view import read_first_view
from explorer.tabs.links import LinkedTab
from explorer.tabs.messages import QUIET
from explorer.tabs.picker import build_picker

QUESTION = "Which words does a model expect in a blank, when it can read what stands on both sides of it?"
WHY = """A **masked language model** (BERT and its kin) is trained to guess words that were hidden from it, from the
words on both sides. Of the tokens of its training text 15 % are picked; the loss is the cross-entropy there,

$$\\mathcal{L} = -\\frac{1}{|M|}\\sum_{i \\in M} \\ln p(x_i \\mid \\tilde{x})$$

where $\\tilde{x}$ is the corrupted text. What you see below is $p(x_i \\mid \\tilde{x})$ itself. With several
blanks the model gives one distribution for each, as if the others did not matter; the strategies under *More options*
combine them.
[Devlin et al. 2019](https://arxiv.org/abs/1810.04805)"""


def build(registry: Registry) -> LinkedTab:
    """Lay out the tab and wire it; returns what a link restores, too."""
    first = read_first_view()
    gallery = read_gallery()
    start = gallery[0]
    with gr.Tab("Fill in the blank", id="fill") as tab:
        gr.HTML(f"<p class='question'>{QUESTION}</p>", padding=False)
        with gr.Row(elem_classes="halves"):
            with gr.Column(scale=1, min_width=320, elem_classes="controls-side"):
                picker = build_picker(registry, Ability.FILL_BLANKS, first.model)
                text = gr.Textbox(
                    first.text, lines=1, max_lines=8, label="Sentence", elem_id="fill-text",
                    info="Write three underscores where a word is missing, or click words below.",
                )  # fmt: skip
                strip = build_word_strip(text, first.text)
                message = gr.HTML(padding=False, elem_classes="message-place")
                with gr.Accordion("More options", open=False):
                    strategy = gr.Radio(
                        [(s.label, s.key) for s in STRATEGIES.values()], value=first.strategy,
                        label="How several blanks are filled together", info=hint(first.strategy),
                    )  # fmt: skip
                    top_k = gr.Slider(1, 20, 5, step=1, label="Words per blank", info="More bars in each chart.")
                    count = gr.Slider(1, 20, 5, step=1, label="Sentences", info="More ways to fill all the blanks.")
            with gr.Column(scale=2, min_width=320, elem_classes="result-side"):
                sentence = Sentence(picker.name, text, top_k, count, strategy, message)
                with gr.Tabs(elem_classes="views"):
                    views = [
                        answer.build(registry, sentence, first),
                        reveal.build(registry, sentence),
                        candidates.build(registry, sentence, start.candidates),
                        contrast.build(registry, sentence, start.other),
                        compare.build(registry, sentence, registry.names(Ability.FILL_BLANKS)[1:2]),
                        tokens.build(registry, sentence),
                    ]
        examples = build_gallery(gallery)
        with gr.Accordion("Why it matters", open=False):
            gr.Markdown(WHY, latex_delimiters=[{"left": "$$", "right": "$$", "display": True},
                                               {"left": "$", "right": "$", "display": False}])  # fmt: skip

    chosen = strategy.change(lambda key: gr.Radio(info=hint(key)), strategy, strategy, **QUIET)
    with tab:  # Gradio numbers tabs by their place: a State beside them, rather than within one, shifts their labels
        _wire(sentence, views, [strip.changed, picker.changed, chosen])
    candidate_lines, other_sentence = views[2].own[0], views[3].own[0]
    filled = [text, strip.hidden, strip.words, candidate_lines, other_sentence]
    for button, example in examples:
        button.click(partial(_choose, example), None, filled, **QUIET)
    fields = {"text": text, "model": picker.name, "strategy": strategy, "candidates": candidate_lines,
              "other": other_sentence}  # fmt: skip
    return LinkedTab(tab, fields)


def _wire(sentence: Sentence, views: list[View], changed: list[gr.events.Dependency]) -> None:
    """Redraw the view in sight when the sentence, the model or its own controls change.

    Gradio 6 runs all handlers of an event again when one of them was deferred (trigger_mode="always_last"), so that two
    of them defer each other for ever: an event of a component has one handler, and what follows it is chained.

    Args:
        sentence: What all views read.
        views: In page order.
        changed: Events after which the view in sight is out of date.
    """
    active = gr.State(views[0].tab.id)
    asks = [gr.State(0) for _ in views]
    for view, ask in zip(views, asks, strict=True):
        event = {"fn": view.draw, "inputs": view.inputs, "outputs": [sentence.message, *view.outputs], **QUIET}
        ask.change(**event, trigger_mode="always_last")
        view.tab.select(partial(_show, view.tab.id), [active, ask], [active, sentence.message, ask], **QUIET)
        for control in view.own:
            control.change(partial(_ask_if_shown, view.tab.id), [active, ask], ask, **QUIET)

    def ask_active(shown: str, *asked: int) -> list:
        return [
            count + 1 if view.tab.id == shown else gr.skip() for view, count in zip(views, asked, strict=True)
        ]  # fmt: skip

    redraw = {"fn": ask_active, "inputs": [active, *asks], "outputs": asks, "trigger_mode": "always_last", **QUIET}
    for event in changed:
        event.then(**redraw)
    for listen in (sentence.text.submit, sentence.top_k.change, sentence.count.change):
        listen(**redraw)


def _show(view: str, shown: str, count: int) -> tuple:
    """Gradio selects the first tab when the page opens, too: what is shown already is not computed again."""
    return (view, "", count + 1) if view != shown else (gr.skip(), gr.skip(), gr.skip())


def _ask_if_shown(view: str, shown: str, count: int) -> object:
    return count + 1 if view == shown else gr.skip()


def _choose(example: Example) -> tuple:
    return example.text, *show_words(example.text), example.candidates, example.other


def hint(strategy: str) -> str:
    """What a strategy does, in one line."""
    return STRATEGIES[strategy].hint
