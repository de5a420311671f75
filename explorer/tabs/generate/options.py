"""View: which of several options a model holds for the likeliest, with the sum behind each."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial

import gradio as gr

from explorer import analysis
from explorer.analysis.option_results import NORMALISATIONS
from explorer.errors import UnsuitableText
from explorer.figures.notes import note
from explorer.figures.options import option_columns
from explorer.figures.sentences import caption
from explorer.models.catalogue import CAUSAL_MODEL, DEFAULT_MODEL
from explorer.models.registry import Registry
from explorer.settings import ASSETS
from explorer.tabs.code import code_of
from explorer.tabs.gallery import build_gallery, look_line
from explorer.tabs.generate.score import scores_texts, scoring_models
from explorer.tabs.generate.view import Prompt
from explorer.tabs.messages import QUIET, error_box, in_place, refused_place
from explorer.tabs.picker import beside_options, offer_own
from explorer.tabs.taking_away import download_links
from explorer.tabs.views import View

FILE = ASSETS / "examples" / "options.json"
FIRST = (CAUSAL_MODEL, DEFAULT_MODEL)
MOST_MODELS = 3
SOURCE = "https://arxiv.org/abs/2104.08315"
OF_EXAMPLE = (
    "The neutral text is still an example’s, “{}”, and may not go with this text: write another under “Neutral text "
    "for PMI”, or rank by Sum."
)
NO_MODEL = error_box("Choose one model or more above.", is_idle=True)


@dataclass(frozen=True)
class Question:
    """One example.

    Attributes:
        kind: What it asks, e.g. "sentiment".
        label: On its button.
        text: With a slot, or what the options follow; "" = they are whole sentences.
        options: What there is to choose between.
        right: The one that is right; both shipped models choose it.
        normalise: A key of NORMALISATIONS.
        domain: Of "pmi".
        note: What to know before pressing it.
        look_for: What to look for in its result.
    """

    kind: str
    label: str
    text: str
    options: tuple[str, ...]
    right: str
    normalise: str = "sum"
    domain: str = ""
    note: str = ""
    look_for: str = ""


def read_questions() -> tuple[Question, ...]:
    """The examples in page order; the first is the one the view opens on."""
    entries = json.loads(FILE.read_text(encoding="utf-8"))
    return tuple(Question(**entry | {"options": tuple(entry["options"])}) for entry in entries)


def build(registry: Registry, prompt: Prompt) -> View:
    """Lay out the view; it has a text of its own, for what is asked here is no beginning of a story."""
    questions, offered = read_questions(), scoring_models(registry)
    first, offer = questions[0], partial(beside_options, registry, offered)
    with gr.Tab("Choose", id="options") as tab:
        with gr.Row(elem_classes="controls"):
            text = gr.Textbox(
                first.text, lines=2, max_lines=6, label="Text", scale=3, elem_id="options-text",
                info="{} marks where an option goes; without it, behind the text. Empty: options are whole sentences.",
            )  # fmt: skip
            options = gr.Textbox(
                "\n".join(first.options), lines=2, max_lines=8, label="Options, one a line", scale=2, elem_id="options",
                info="Two or more, words or sentences.",
            )  # fmt: skip
        with gr.Row(elem_classes="controls"):
            names = gr.Dropdown(
                offer(), value=[name for name in FIRST if name in offered], multiselect=True, max_choices=MOST_MODELS,
                label="Models side by side", scale=2, allow_custom_value=True,
            )  # fmt: skip
            offer_own(names, offer, scores_texts)
            normalise = gr.Radio(
                [(label, key) for key, (label, _) in NORMALISATIONS.items()], value=first.normalise, label="Rank by",
                scale=3,
            )  # fmt: skip
        with gr.Accordion("Neutral text for PMI", open=False):
            domain = gr.Textbox(
                first.domain, label="Neutral text", elem_id="options-domain",
                info="What an option gets here is taken off: frequent words do not win by themselves. "
                "It ends as the text does behind {}, unless it has a {} of its own.",
            )  # fmt: skip
        refused = refused_place("options-refused")
        columns = gr.HTML(padding=False, elem_classes="result", elem_id="option-columns")
        below = gr.HTML(padding=False)
        buttons = build_gallery(questions, "Questions")  # those of the tab start a text, and change nothing here

    @in_place(registry, outputs=3)
    def draw_all(models: Registry, names: list[str], text: str, options: str, normalise: str, domain: str) -> tuple:
        given = {"text": text, "options": read_options(options), "normalise": normalise, "domain": domain}
        try:
            choices = tuple(models.run(name, partial(analysis.choose_option, **given)) for name in dict.fromkeys(names))
        except UnsuitableText as error:  # its text and options stand here, not beside the tab's
            return error_box(str(error)), gr.skip(), gr.skip()
        code = code_of(*((choice.model, "choose_option", given) for choice in choices))
        asked = (text, tuple(given["options"]), normalise, domain)
        told = questions if set(names) == set(FIRST) else ()  # of other models it may be false
        looked = next((look_line(one.look_for) for one in told if _fields(one) == asked), "")
        if normalise == "pmi" and domain.strip() in _left_from(questions, text):
            looked = note(OF_EXAMPLE.format(domain.strip()))
        foot = caption([*(choice.model for choice in choices), "zero-shot: no training for the task", "nats"], SOURCE)
        return "", looked + option_columns(choices), foot + download_links(choices, "options", code=code)

    def draw(names: list[str], *values: str) -> Iterator[tuple]:
        if not names:
            yield "", NO_MODEL, gr.skip(), gr.skip()
            return
        yield from draw_all(names, *values)

    for button, question in buttons:
        asked_text, listed, *how = _fields(question)
        filled = (asked_text, "\n".join(listed), *how)
        button.click(partial(_given, filled), None, [text, options, normalise, domain], **QUIET)
    own = {
        "options_text": text,
        "options": options,
        "options_models": names,
        "rank_by": normalise,
        "neutral": domain,
    }
    return View(tab, draw, [names, text, options, normalise, domain], [refused, columns, below], own)


def read_options(lines: str) -> list[str]:
    """One option a line; lines of white space are none."""
    return [line.strip() for line in lines.split("\n") if line.strip()]


def _fields(question: Question) -> tuple[str, tuple[str, ...], str, str]:
    return question.text, question.options, question.normalise, question.domain


def _left_from(questions: Iterable[Question], text: str) -> set[str]:
    """Neutral texts of examples that go with no example of such a text: it is the visitor's, and they stayed."""
    known = {question.domain for question in questions if question.domain}
    return known - {question.domain for question in questions if question.text == text.strip()}


def _given(values: tuple[str, ...]) -> tuple[str, ...]:
    return values
