"""View: blanks of any length, filled by models of different kinds side by side."""

from dataclasses import dataclass
from functools import partial

import gradio as gr

from explorer import analysis
from explorer.analysis.blanks import check_characters, put_fills, split_at_blanks
from explorer.errors import UnsuitableText
from explorer.figures.notes import unknown_note
from explorer.figures.sentences import caption
from explorer.figures.spans import span_columns
from explorer.models.card import Ability
from explorer.models.registry import Registry
from explorer.tabs.code import code_of
from explorer.tabs.fill_blanks.view import Sentence
from explorer.tabs.kinds import told
from explorer.tabs.messages import QUIET, in_place
from explorer.tabs.picker import beside_options, offer_own
from explorer.tabs.seeds import read_seed, tidy_seed
from explorer.tabs.taking_away import download_links
from explorer.tabs.views import View

ABILITIES = (Ability.FILL_SPANS, Ability.FILL_BLANKS, Ability.GENERATE)
FIRST = ("MiniLM (span)", "MiniLM (masked)", "MiniLM (causal)")  # one start, three objectives
MOST_MODELS = 4
METHODS = [("Beams: a search for the likeliest", "beams"), ("Sampling: drawn at random", "sampling")]
SOURCE = "https://arxiv.org/abs/1910.10683"
ON_LOAD = """
element.addEventListener('click', event => {
  const button = event.target.closest('button.choice');
  if (button) trigger('select', {blank: Number(button.dataset.blank), fill: button.dataset.fill});
});
"""


@dataclass(frozen=True)
class Chosen:
    """A choice that is to be put into the sentence.

    Attributes:
        blank: Index of the blank.
        fill: The words.
    """

    blank: int
    fill: str


def build(registry: Registry, sentence: Sentence) -> View:
    """Lay out the view."""
    offered = list(dict.fromkeys(name for ability in ABILITIES for name in registry.names(ability)))
    offer = partial(beside_options, registry, offered)
    with gr.Tab("Any length", id="spans") as tab:
        names = gr.Dropdown(
            offer(), value=[name for name in FIRST if name in offered], multiselect=True,
            max_choices=MOST_MODELS, label="Models side by side", allow_custom_value=True,
            info="One that writes (T5, BART), one that fills masks, one that reads from the left only.",
        )  # fmt: skip
        offer_own(names, offer, lambda card: any(one in card.abilities for one in ABILITIES))
        with gr.Accordion("How the words are found", open=False), gr.Row(elem_classes="controls"):
            method = gr.Radio(
                METHODS, value="beams", label="Method", scale=3,
                info="Sampling is for models that write, which else follow 40 beginnings at a time and may lose a "
                "likely sentence; the others always search for the likeliest.",
            )  # fmt: skip
            seed = gr.Number(0, label="Seed", precision=0, scale=1, min_width=80)
        columns = gr.HTML(padding=False, elem_classes="result", js_on_load=ON_LOAD)
        below = gr.HTML(padding=False)

    @in_place(registry, outputs=2)
    def draw_all(
        models: Registry, names: list[str], text: str, count: int, sentences: int, method: str, seed: int
    ) -> tuple:
        results, asked = [], []
        for name in dict.fromkeys(names):
            writes = Ability.FILL_SPANS in models.card(name).abilities
            options = {"text": text, "count": int(count), "method": method if writes else "beams"}
            options |= {"seed": read_seed(seed), "sentences": int(sentences)}
            results.append(models.run(name, partial(analysis.fill_spans, **options)))
            asked.append((name, "fill_spans", options))
        sampled = [result.model for result in results if result.method == "sampling"]
        foot = caption(
            [
                f"{', '.join(sampled)}: sampled, seed {read_seed(seed)}" if sampled else "",
                "click a choice to put it into the sentence",
                "bars: probability",
                "numbers: the same, logarithms on hover",
                "each model scores in its own way, and Answer in another: compare within a column",
            ],
            SOURCE,
        )
        foot += unknown_note(choice.text for result in results for span in result.spans for choice in span.choices)
        return span_columns(results), foot + download_links(tuple(results), "spans", code=code_of(*asked))

    def draw(names: list[str], text: str, count: int, sentences: int, method: str, seed: int):
        if not names:
            yield "", "<p class='quiet'>Choose one model or more above.</p>", ""
            return
        yield from draw_all(names, text, count, sentences, method, seed)

    def put(text: str, event: gr.EventData) -> str | dict:
        try:
            check_characters(text)
        except UnsuitableText:  # the view in sight says why
            return gr.skip()
        chosen = told(event, Chosen)
        return put_into(text, chosen.blank, chosen.fill)

    tidy_seed(seed)
    columns.select(put, sentence.text, sentence.text, **QUIET)
    inputs = [names, sentence.text, sentence.top_k, sentence.count, method, seed]
    return View(tab, draw, inputs, [columns, below], {"span_models": names, "method": method, "seed": seed})


def put_into(text: str, blank: int, fill: str) -> str:
    """A text with one of its blanks filled; one that it does not have changes nothing."""
    segments = split_at_blanks(text, None)
    if not 0 <= blank < len(segments) - 1:
        return text
    return put_fills(segments, [fill if other == blank else None for other in range(len(segments) - 1)])
