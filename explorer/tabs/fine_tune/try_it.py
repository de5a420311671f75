"""View: the visitor's own sentence, judged by the tuned model, beside its base where that can say something of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from pathlib import Path

import gradio as gr

from explorer import analysis
from explorer.analysis.generation_results import join_steps
from explorer.errors import NoBlank, UnsuitableText
from explorer.figures.notes import NEVER_FILLED, WRITTEN_AS_UNKNOWN, note, unknown_note
from explorer.figures.tried import judged_sides, samples_table, sides_table
from explorer.figures.tuning_words import baseline_words, kind_of, run_name
from explorer.models.registry import Registry
from explorer.tabs.fine_tune.boxes import BOXES, FIRST, refusal
from explorer.tabs.fine_tune.first_tuned import FirstTuned
from explorer.tabs.fine_tune.given import YOURS, source_of
from explorer.tabs.fine_tune.looking import Looked, need_tuned
from explorer.tabs.fine_tune.parts import Part
from explorer.tabs.fine_tune.taking import run_links
from explorer.tabs.messages import error_box, explain, in_place
from explorer.tabs.unread_words import told_unread
from explorer.training.jobs.naming import tuned_name
from explorer.training.jobs.store import JobStore
from explorer.training.tuning.examples import (
    AnsweredQuestion,
    Example,
    LabelledText,
    ScoredPair,
    TaggedWords,
    TextToText,
    split_words,
)
from explorer.training.tuning.suits import CAN_BEFORE, name_base
from explorer.training.tuning.tuned_card import read_facts

VIEW = "try"
CUT = ("classification", "tagging")  # tasks that read one text, and no more of it than a run learned from
MOST_WORDS = 8
MOST_SIDES = 4
WRITTEN_TOKENS = 16
NOT_HERE = "The example’s model does not come with the page. Train it here, half a minute without a GPU, and ask it."
NO_BASE = "Before fine-tuning, {base} has no layer for this task"
NO_BORDER = (
    "Training moves sentences nearer to each other or farther apart; from which cosine on two mean the same, nothing "
    "says. Ask another pair, and compare."
)
RACE = ": a race (under “What to run”) trains it in several ways."


@dataclass(frozen=True)
class Side:
    """Whose answer is shown.

    Attributes:
        model: Its name.
        title: What stands above the answer.
        labels: Of its probabilities.
        is_base: Whether it is the model before fine-tuning.
    """

    model: str
    title: str
    labels: tuple[str, ...] = ()
    is_base: bool = False


@dataclass(frozen=True)
class Trying:
    """The view on the page.

    Attributes:
        tab: Its sub-tab.
        parts: What follows the job in sight.
        text: The first box.
        second: The second one; in sight where the task reads two texts.
        button: Asks.
        train: Trains the model of the example; in sight where the example is.
        message: What went wrong with asking or training, and how far it is.
        answer: Where the answer stands.
        own: Holds the task of the job in sight and its texts for the two boxes, as JSON.
    """

    tab: gr.Tab
    parts: list[Part]
    text: gr.Textbox
    second: gr.Textbox
    button: gr.Button
    train: gr.Button
    message: gr.HTML
    answer: gr.HTML
    own: gr.Textbox


def build(first: Looked) -> Trying:
    """Lay out the view; acting.wire_acts wires it."""
    task = first.the_run.recipe.task
    labels = BOXES[task]
    with gr.Tab("Try it", id=VIEW, elem_id=f"tune-view-{VIEW}") as tab:
        said = gr.HTML(_said(first), padding=False, elem_id="tune-try-said")
        text = gr.Textbox("", label=labels[0], lines=1, max_lines=4, elem_id="tune-try-text")
        second = gr.Textbox("", label=labels[1] or " ", visible=bool(labels[1]), lines=2, max_lines=8,
                            elem_id="tune-try-second")  # fmt: skip
        button = gr.Button(
            "Ask the tuned model", size="sm", interactive=can_answer(first), visible=not first.is_example,
            elem_id="tune-try",
        )  # fmt: skip
        train = gr.Button("Train it here", size="sm", visible=first.is_example, elem_id="tune-try-train")
        message = gr.HTML(padding=False, elem_classes="message-place")
        answer = gr.HTML(padding=False, elem_classes="result", elem_id="tune-tried")
        samples = gr.HTML(_samples(first), padding=False, elem_classes="result")
        own = gr.Textbox(_own(first, ("", "")), visible="hidden")

    def update(looked: Looked) -> tuple:
        first_label, second_label = BOXES[looked.the_run.recipe.task]
        return (
            _said(looked), gr.Textbox(label=first_label),
            gr.Textbox(label=second_label or " ", visible=bool(second_label)), _own(looked, _first_texts(looked)),
            gr.Button(interactive=can_answer(looked), visible=not looked.is_example),
            gr.Button(visible=looked.is_example), "", _samples(looked),
        )  # fmt: skip

    def key(looked: Looked) -> tuple:
        return looked.status.id, looked.run, looked.outcome is not None

    def answered(looked: Looked) -> tuple:
        """An answer of all runs is the same, whichever is looked at."""
        covers_all = looked.the_run.recipe.task not in CAN_BEFORE and len(looked.status.spec.runs) <= MOST_SIDES
        return looked.status.id, covers_all or looked.run

    parts = [
        Part(VIEW, VIEW, [said, text, second, own, button, train, message, samples], update, key),
        Part("tried", VIEW, [answer], lambda _: ("",), answered),
    ]
    return Trying(tab, parts, text, second, button, train, message, answer, own)


def train_example(store: JobStore, example: FirstTuned, owner: str) -> str:
    """The id of a new job of a visitor that does what the example did. Raises as JobStore.submit does."""
    from explorer.training.tuning.own import own_examples

    spec = example.status.spec
    return store.submit(owner, replace(spec, title=spec.examples_name), own_examples(spec.runs[0].recipe.task))


def ask_tuned(registry: Registry, looked: Looked, text: str, second: str) -> Iterator[tuple[str, object]]:
    """The message, and the answer as HTML.

    Args:
        registry: The models on offer.
        looked: The job in sight.
        text: In the first box.
        second: In the second.
    """
    task = looked.the_run.recipe.task
    try:
        need_tuned(looked)
    except UnsuitableText as error:
        yield explain(error), gr.skip()
        return
    if complaint := refusal(task, text, second):
        yield error_box(complaint), gr.skip()
        return
    sides = find_sides(looked)
    names, draw = [side.model for side in sides], {"masked": _fill_both, "causal": _continue_both}.get(task)
    if draw:
        yield from in_place(registry, outputs=1)(partial(draw, titles=[side.title for side in sides]))(names, text)
    else:
        most = looked.the_run.recipe.length_tokens
        judge = partial(_judge, task=task, sides=sides, without=_without(looked), most=most)
        yield from in_place(registry, outputs=1)(judge)(names, text, second)


def find_sides(looked: Looked) -> list[Side]:
    """Whose answers stand side by side: the base's, where it can answer; else those of all runs, if they are few."""
    spec, run = looked.status.spec, looked.the_run

    def tuned(index: int) -> Side:
        labels = looked.status.outcomes[index].labels
        return Side(tuned_name(looked.status.id, spec, index), run_name(spec, index), labels)

    if run.recipe.task in CAN_BEFORE:
        after = tuned(looked.run)
        base = f"Before: {name_base(run.model, run.recipe.method)}"
        return [Side(run.model, base, is_base=True), replace(after, title=f"After: {after.title}")]
    done = sorted(looked.status.outcomes)
    sides = [tuned(index) for index in (done if len(done) <= MOST_SIDES else [looked.run])]
    return [replace(sides[0], title="")] if len(sides) == len(spec.runs) == 1 else sides


def example_of(task: str, text: str, second: str) -> Example:
    """A sentence of the visitor's as the task reads it; its right answer is not known."""
    return {
        "classification": lambda: LabelledText(text, ""),
        "pairs": lambda: LabelledText(text, "", second),
        "tagging": lambda: TaggedWords(split_words(text), ()),
        "answers": lambda: AnsweredQuestion(text, second, "", 0),
        "similarity": lambda: ScoredPair(text, second, 0.0),
        "text_to_text": lambda: TextToText(text, ""),
    }[task]()


def _judge(
    models: Registry, names: list[str], text: str, second: str, *, task: str, sides: list[Side], without: str, most: int
) -> tuple:
    from explorer.training.tuning.applying import judge_before, judge_texts  # torch

    examples = (example_of(task, text, second),)
    columns = []
    for name, side in zip(names, sides, strict=True):
        judge = judge_texts
        if side.is_base:
            judge = partial(judge_before, facts=read_facts(Path(models.card(names[-1]).source.path)))
        [judged] = models.run(name, partial(judge, examples=examples))
        columns.append((side.title, judged, side.labels))
    unread = told_unread(models, names[-1], text, *[second] * bool(second), most=most * (task in CUT))
    told = note(NO_BORDER) * (task == "similarity")
    return (judged_sides(columns, is_sure=task != "similarity") + told + unread + without,)


def _without(looked: Looked) -> str:
    """Why no base answers, and how far one comes without any model; "" = the base does."""
    run, outcome = looked.the_run, looked.outcome
    if run.recipe.task in CAN_BEFORE:
        return ""
    found = baseline_words(outcome)
    told = f" Without a model, of the held-out examples: {found}." if found else ""
    more = RACE if kind_of(looked.status.spec) == "one" else "."
    return f"<p class='note'>{NO_BASE.format(base=escape(run.model))}{more}{told}</p>"


def _fill_both(models: Registry, names: list[str], text: str, *, titles: list[str]) -> tuple:
    ask = partial(analysis.fill_blanks, text=text, top_k=MOST_WORDS, count=1, strategy="independent")
    try:
        found = [models.run(name, ask).blanks for name in names]
    except NoBlank as error:  # here no words can be clicked
        raise UnsuitableText(str(error)) from None
    count, drawn, every = len(found[0]), "", []
    left = f"{'the other' if count == 2 else 'the others'} left open"
    for number in range(count):
        words = [[(choice.text, choice.probability) for choice in blanks[number].choices] for blanks in found]
        drawn += f"<p class='step'>Blank {number + 1}, {left}</p>" if count > 1 else ""
        drawn += sides_table([*zip(titles, words, strict=True)])
        every += words
    return (drawn + _told_of(models, names[-1], text, every, NEVER_FILLED),)


def _continue_both(models: Registry, names: list[str], text: str, *, titles: list[str]) -> tuple:
    ask = partial(analysis.next_tokens, prompt=text, top_k=MOST_WORDS)
    write = partial(
        analysis.continue_text, prompt=text, strategy="greedy", max_new_tokens=WRITTEN_TOKENS, alternatives=1
    )
    found = [models.run(name, ask).tokens for name in names]
    written = [text + join_steps(name, text, "greedy", tuple(models.stream(name, write))).text for name in names]
    words = [[(token.text, token.probability) for token in one] for one in found]
    told = _told_of(models, names[-1], text, words, WRITTEN_AS_UNKNOWN)
    return (sides_table([*zip(titles, words, strict=True)], written) + told,)


def _told_of(models: Registry, name: str, text: str, words: list[list[tuple[str, float]]], then: str) -> str:
    """What is not read of the text, and what signs in the bars mean."""
    return told_unread(models, name, text) + unknown_note((word for side in words for word, _ in side), then)


def _first_texts(looked: Looked) -> tuple[str, str]:
    """What stands in the boxes when a job comes into sight."""
    task = looked.the_run.recipe.task
    is_ours = source_of(task, looked.status.spec.examples_name) != YOURS
    return FIRST[task] if looked.outcome and is_ours else ("", "")


def _own(looked: Looked, texts: tuple[str, str]) -> str:
    return json.dumps({"task": looked.the_run.recipe.task, "texts": texts})


def can_answer(looked: Looked) -> bool:
    """Whether there is a model to ask."""
    return looked.outcome is not None and not looked.is_example


def _said(looked: Looked) -> str:
    if looked.is_example:
        return note(NOT_HERE)
    return "" if looked.outcome else note("The model can be tried once its run is done.")


def _samples(looked: Looked) -> str:
    outcome = looked.outcome
    if outcome is None or not outcome.before_and_after:
        return ""
    base = name_base("the base", looked.the_run.recipe.method)
    return samples_table(outcome.before_and_after, base) + run_links(looked, ("samples",), "samples", "")
