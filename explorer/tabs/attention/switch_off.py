"""View: switch heads off, and see the model's answer change; or have every head tried by itself."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial

import gradio as gr

from explorer import analysis
from explorer.analysis.ablation_results import READOUTS, HeadAblation, HeadRanking
from explorer.analysis.blanks import BLANK, check_characters
from explorer.analysis.head_choice import head_words, name_lacking, there_are
from explorer.analysis.words import last_word
from explorer.errors import UnsuitableText
from explorer.figures.ablations import REMINDER, ablation_view, pack_switches, ranking_view
from explorer.figures.notes import note
from explorer.figures.sentences import caption
from explorer.models.backend import LoadedModel
from explorer.models.card import Ability, ModelCard
from explorer.models.registry import Registry
from explorer.tabs.attention.code import asked_of
from explorer.tabs.attention.readings import Ask, beside, tidy_ask
from explorer.tabs.attention.texts import blank_note, has_stacks, what_is_read
from explorer.tabs.attention.view import Prompt
from explorer.tabs.code import code_of
from explorer.tabs.messages import QUIET, in_place, progress_box
from explorer.tabs.streaming import stream_steps
from explorer.tabs.taking_away import download_links
from explorer.tabs.views import View
from explorer.tabs.visitors import find_model

PAPER = "https://arxiv.org/abs/1905.10650"
ON_LOAD = "explorer.switches(element, props, watch);"
TOP_K = 5
FIRST = "encoder-1-3,decoder-1-3"  # of those that the model has
HINT = f"There is no blank in the text, so the sentence embedding is compared. Write {BLANK} to see a word change."
DECODER_WRITES = "Here the decoder writes by itself, and what you would have it read is left aside."
MOST_NAMED, MOST_QUOTED = 3, 20  # words that mean no head, and characters of each
LACKING = "Left out: {named}. {model} has {heads}."
BEGINNING = "To begin with, head 3 of layer 1 is off{stacks}. Press any head to switch it off or on again."


@dataclass(frozen=True, eq=False)
class Tried:
    """Every head of a model tried on a text.

    Attributes:
        ask: The model as the visitor chose it, and what was typed.
        ranking: What was found.
    """

    ask: Ask
    ranking: HeadRanking


def build(registry: Registry, prompt: Prompt) -> View:
    """Lay out the view."""
    with gr.Tab("Switch heads off", id="off") as tab:
        switches = gr.HTML(
            "", html_template="<div></div>", js_on_load=ON_LOAD, padding=False, elem_classes="result", elem_id="off-map"
        )
        with gr.Row(elem_classes="buttons"):
            everything = gr.Button("Try every head by itself", size="sm", elem_id="off-try", min_width=160)
            blank = gr.Button("Blank the last word", size="sm", elem_id="off-blank", min_width=140, visible=False)
        answer = gr.HTML(padding=False, elem_classes="result", elem_id="off-answer")
        ranked = gr.HTML(padding=False, elem_id="off-ranked")
        below = gr.HTML(padding=False)
        off = gr.Textbox(FIRST, visible="hidden", elem_id="heads-off")
        tries = gr.Checkbox(False, visible="hidden", elem_id="off-tries")  # whether a link tries every head
        tried, begun = gr.State(None), gr.State(0)

    @in_place(registry, outputs=8, ability=Ability.EMBED)
    def draw(
        models: Registry,
        model: str,
        text: str,
        second: str,
        new_tokens: int,
        off: str,
        tried: Tried | None,
        tries: bool,
        begun: int,
    ) -> tuple:
        ask, card = tidy_ask(models, model, Ask(model, text, second, int(new_tokens))), models.card(model)
        result = models.run(model, partial(ablate_asked, ask=ask, heads=off))
        is_tried = tried and tried.ask == ask  # then the map shows it, or something newer
        is_other = tried and not is_tried  # what was tried on one text must not be shown as another's
        fills = Ability.FILL_BLANKS in card.abilities and result.readout == "embedding"
        stacks = " in each stack" if len(result.head_counts) > 1 else ""
        said = note(BEGINNING.format(stacks=stacks)) if off == FIRST else _left_out(off, result)
        said += note(HINT) if fills else blank_note(card, text, result.tokens)
        said += note(DECODER_WRITES) if has_stacks(card) and ask.second.strip() else ""
        return (
            gr.skip() if is_tried else pack_switches(result.head_counts, None),
            gr.skip() if is_tried else "",
            ablation_view(result),
            said + _foot(card, result) + REMINDER + download_links(result, "heads-off", code=_code(card, ask, result)),
            gr.Button(visible=fills and bool(last_word(text))),
            None if is_other else gr.skip(),
            False if is_other else gr.skip(),
            begun + 1 if tries and tried is None else gr.skip(),
        )

    def try_all(model: str, text: str, second: str, new_tokens: int) -> Iterator[tuple]:
        unchanged = [gr.skip()] * 4
        asked = Ask(model, text, second, int(new_tokens))
        with closing(stream_steps(registry, model, partial(rank_asked, ask=asked), ability=None)) as steps:
            for message, ranking in steps:
                if ranking is None:
                    yield message, *unchanged
                    continue
                counts = {stack: values.shape for stack, values in ranking.effects.items()}
                models, name = find_model(registry, model)
                ask, links = tidy_ask(models, name, asked), ""
                if ranking.done < ranking.head_count:
                    message = progress_box(f"Trying every head by itself: {ranking.done} of {ranking.head_count} …")
                else:
                    code = _ranking_code(models.card(name), ask)
                    links = download_links(ranking, "every-head-off", of="heads", with_link=False, code=code)
                drawn = ranking_view(ranking) + links
                yield message, pack_switches(counts, ranking), drawn, Tried(ask, ranking), True

    outputs = [prompt.message, switches, ranked, tried, tries]
    trying = [everything.click, begun.change]
    run = gr.on(trying, try_all, prompt.inputs, outputs, trigger_mode="multiple", **QUIET)
    for box in prompt.inputs:
        box.change(None, None, None, cancels=[run], **QUIET)
    blank.click(_blank_last, prompt.text, prompt.text, **QUIET)
    inputs = [*prompt.inputs, off, tried, tries, begun]
    drawn = [switches, ranked, answer, below, blank, tried, tries, begun]
    return View(tab, draw, inputs, drawn, {"off": off}, {"tried": tries}, runs=[run])


def _left_out(off: str, result: HeadAblation) -> str:
    """What a link, or a model chosen before, would have switched off that this model does not have."""
    lacking = name_lacking(off, result.head_counts)
    named = ", ".join(
        [f"“{word[:MOST_QUOTED]}”" for word in lacking[:MOST_NAMED]] + ["…"] * (len(lacking) > MOST_NAMED)
    )
    return note(LACKING.format(named=named, model=result.model, heads=there_are(result.head_counts))) if lacking else ""


def _blank_last(text: str) -> str:
    try:
        check_characters(text)
    except UnsuitableText:  # the view in sight says why
        return gr.skip()
    word = last_word(text)
    return text[: word.start] + BLANK + text[word.start + len(word.text) :] if word else gr.skip()


def ablate_asked(model: LoadedModel, ask: Ask, heads: str) -> HeadAblation:
    """The analysis, of the text and what is read beside it."""
    return analysis.ablate_heads(model, ask.text, **_beside(model, ask), **_options(heads))


def rank_asked(model: LoadedModel, ask: Ask) -> Iterator[HeadRanking]:
    """The same for every head by itself."""
    return analysis.rank_heads(model, ask.text, **_beside(model, ask))


def _beside(model: LoadedModel, ask: Ask) -> dict[str, object]:
    """What is read beside the text; a decoder writes by itself here."""
    return {} if has_stacks(model.card) else beside(model, ask)


def _options(heads: str) -> dict[str, object]:
    return {"heads": heads, "skips_unknown": True, "top_k": TOP_K}


def _code(card: ModelCard, ask: Ask, result: HeadAblation) -> str:
    asked = asked_of(card, _read(card, ask), "ablate_heads", {"text": ask.text} | _options(head_words(result.heads)))
    return code_of(*asked, made=f"result_{len(asked)}" if len(asked) > 1 else "")


def _ranking_code(card: ModelCard, ask: Ask) -> str:
    asked = asked_of(card, _read(card, ask), "rank_heads", {"text": ask.text})
    return code_of(*asked, made=f"result_{len(asked)}[-1]")


def _read(card: ModelCard, ask: Ask) -> Ask:
    return Ask(ask.model, ask.text) if has_stacks(card) else ask


def _foot(card: ModelCard, result: HeadAblation) -> str:
    places = f"n = {len(result.places)}" if result.places else "n = 1"
    parts = [
        result.model,
        f"{what_is_read(card, result.second_text)}, {len(result.tokens)} tokens",
        f"read: {READOUTS[result.readout]}, {places}",
        "Kullback-Leibler divergence: Σ p log₂(p / q), p intact, q with the heads off",
    ]
    return caption(parts[:3] if result.readout == "embedding" else parts, PAPER)
