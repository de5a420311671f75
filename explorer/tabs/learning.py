"""View of the models tab: what a model that this project trained could do as its training went on."""

from html import escape

import gradio as gr

from explorer.figures.catalogue import card_note
from explorer.figures.learning import answers_table, learning_curves, learning_words
from explorer.figures.sentences import caption
from explorer.models.card import Ability, Bundled, ModelCard
from explorer.models.registry import Registry
from explorer.tabs.messages import QUIET
from explorer.tabs.taking_away import download_links
from explorer.training.trace import LENGTH_TOKENS, MEASURED_TOKENS, bundled_traces

QUESTION = "What does a model learn first, and what only later?"
AXIS = "The axis of tokens is logarithmic: equal steps to the right take ever more text."
SOURCE = "https://arxiv.org/abs/2304.01373"


def build_learning(registry: Registry) -> gr.Dropdown:
    """Lay out the view; returns the choice of the model, for the address."""
    traces = bundled_traces(registry.cards())
    names = sorted(traces, key=lambda name: not _begins_at_nothing(registry.card(name)))
    first = next((name for name in names if Ability.FILL_BLANKS in registry.card(name).abilities), names[0])

    def draw(name: str) -> tuple:
        trace = traces[name]
        below = caption(
            [
                name,
                f"measured, while it trained, on {MEASURED_TOKENS:,} tokens or more of Wikipedia that it never "
                f"learned from, {LENGTH_TOKENS} at a time: a small sample, so that the score of the model that ships "
                "differs",
                "answers are the likeliest ones",
            ],
            SOURCE,
        )
        card = registry.card(name)
        words = learning_words(name, from_nothing=_begins_at_nothing(card))
        said = card_note(card) + f"<p class='quiet'>{escape(words)} {AXIS}</p>"
        links = download_links(trace, "learning", (f"{name}: what it learned when",))
        return said, learning_curves(trace), answers_table(trace), below + links

    note, curves, answers, below = draw(first)
    gr.HTML(f"<h2 class='question'>{QUESTION}</h2>", padding=False)
    with gr.Row(elem_classes="halves"):
        with gr.Column(scale=1, min_width=320):
            model = gr.Dropdown(
                names, value=first, label="Model",
                info="Those of this project's own models whose training was recorded.",
            )  # fmt: skip
            about = gr.HTML(note, padding=False)
        with gr.Column(scale=2, min_width=320, elem_classes="result-side"):
            figure = gr.Plot(curves, show_label=False, elem_classes="figure")
    table = gr.HTML(answers, padding=False, elem_classes="result")
    foot = gr.HTML(below, padding=False)
    model.change(draw, model, [about, figure, table, foot], **QUIET)
    return model


def _begins_at_nothing(card: ModelCard) -> bool:
    """Whether a model that ships began with random weights, rather than with those of another one."""
    return isinstance(card.source, Bundled) and card.source.base is None
