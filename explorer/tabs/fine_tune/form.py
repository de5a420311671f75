"""The form beside a job: filled as the job was asked for, and what of it is otherwise since."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import astuple, dataclass, fields
from functools import lru_cache
from html import escape

import gradio as gr

from explorer.errors import ExplorerError
from explorer.figures.notes import note
from explorer.figures.tuning_words import kind_of
from explorer.models.card import Ability
from explorer.models.presence import check_can_be_had
from explorer.models.registry import Registry
from explorer.tabs.fine_tune.controls import Controls
from explorer.tabs.fine_tune.data import put_back, read_examples
from explorer.tabs.fine_tune.given import OURS, YOURS, examples_key, source_of
from explorer.tabs.fine_tune.looking import Looked
from explorer.tabs.fine_tune.offers import counting_options
from explorer.tabs.fine_tune.plan import KINDS, NO_PREFIX, Options, plan_runs, recipe_of
from explorer.tabs.visitors import find_card
from explorer.training.jobs.limits import LONGEST_NAME
from explorer.training.jobs.results import JobSpec
from explorer.training.jobs.store import JobStore
from explorer.training.tuning.recipe import LOSSES, METHODS, TASKS
from explorer.training.tuning.results import Run
from explorer.training.tuning.retelling import table_of
from explorer.training.tuning.suits import suggest_recipe
from explorer.training.tuning.table import clean_text

OPTIONS = [one.name for one in fields(Options)]
OPTION_WORDS = {
    "epochs": "epochs: {:g}",
    "batch_size": "batches of {}",
    "learning_rate": "a learning rate of {:g}",
    "length_tokens": "texts cut at {} tokens",
    "patience": "a patience of {}",
    "lora_rank": "rank {}",
    "auxiliary_weight": "λ = {:g}",
    "similarity_loss": "the loss “{}”",
    "prefix": "the prefix “{}”",
    "seed": "seed {}",
}
CHECKED_SETS = 512  # sets of examples of all visitors of which it is known what is wrong with them
UNUSABLE = "The examples will not do yet: what is wrong or missing stands beside them."
LOST = "The examples of this job, {name}, are not held for you: give them again to train on them anew."


@dataclass(frozen=True)
class Asked:
    """What a job is asked for, but for its examples.

    Attributes:
        model: Name of the model.
        task: A key of TASKS.
        kind: A key of KINDS.
        methods: Keys of METHODS, in their order.
        options: As the page has them.
    """

    model: str
    task: str
    kind: str
    methods: tuple[str, ...]
    options: Options


def asked_in(registry: Registry, model: str, task: str, kind: str, method: str, methods: list[str], *options) -> Asked:
    """What stands in the form."""
    chosen = [method] if kind == "one" else methods
    try:
        model = find_card(registry, model).name
    except ExplorerError:  # said where it is chosen
        pass
    return Asked(model, task, kind, tuple(way for way in METHODS if way in chosen), Options(*options))


def plan_asked(registry: Registry, asked: Asked, examples: int) -> tuple[Run, ...]:
    """The runs that are asked for, with so many examples to learn from.

    Raises:
        ExplorerError: The model cannot be had, or there are no such runs; the message says what to do.
    """
    card = find_card(registry, asked.model)
    check_can_be_had(card)  # the job would fail by it, minutes later
    return plan_runs(asked.kind, card, asked.task, asked.methods, asked.options, examples)


def asked_for(registry: Registry, spec: JobSpec) -> Asked:
    """What a job was asked for."""
    first, abilities = spec.runs[0], _abilities(registry, spec.runs[0].model)
    recipes = {run.recipe.method: run.recipe for run in spec.runs}
    values = {name: getattr(first.recipe, name) for name in OPTIONS}
    for name, suits, none in (("learning_rate", 0.0, 0.0), ("prefix", "", NO_PREFIX)):
        usual = {way: getattr(suggest_recipe(one.task, way, abilities), name) for way, one in recipes.items()}
        is_usual = all(getattr(one, name) == usual[way] for way, one in recipes.items())
        values[name] = suits if is_usual else values[name] or none
    ways = tuple(way for way in METHODS if way in recipes)
    return Asked(first.model, first.recipe.task, kind_of(spec), ways, Options(**values))


def fill_form(
    registry: Registry, store: JobStore, controls: Controls, looked: Looked, owner: str, aside: float
) -> tuple[dict[str, str], tuple]:
    """What the form is to hold, so that it is the job's in sight.

    Args:
        registry: The models on offer.
        store: Of all jobs.
        controls: The form.
        looked: At the job.
        owner: The visitor's token: only their own examples are put back.
        aside: Share set aside, as the page has it.

    Returns:
        What tells the job, as `bind`; then the controls: model, task, kind, one method, several, name, options,
        examples.
    """
    spec, asked = looked.status.spec, asked_for(registry, looked.status.spec)
    source, table = source_of(asked.task, spec.examples_name), None
    if source == YOURS and looked.is_own:
        try:
            table = table_of(store.examples(owner, looked.status.id))
        except ExplorerError:  # damaged, or just deleted: told as lost
            pass
    held, examples = put_back(asked.task, source, table, aside)
    lost = spec.examples_name if source == YOURS and table is None else ""
    # All are on offer while fields arrive, one by one; narrowed to those that suit once all have.
    ways, is_one = [(label, way) for way, label in METHODS.items()], asked.kind == "one"
    return bind(looked.status.id, asked.task, held, lost), (
        asked.model,
        asked.task,
        asked.kind,
        gr.Dropdown(choices=ways, visible=is_one, **({"value": asked.methods[0]} if is_one else {})),
        gr.CheckboxGroup(choices=ways, visible=not is_one, **({} if is_one else {"value": list(asked.methods)})),
        "" if spec.title == spec.examples_name else spec.title,
        *(_within(value, one) for value, one in zip(astuple(asked.options), controls.options, strict=True)),
        *examples,
    )


def keep_form(values: Sequence, last: int, spec: JobSpec, task: str, source: str) -> tuple:
    """What fill_form would fill, where a link has said what stands in the form; it holds no examples, so that those of
    the visitor's own are filled, if the job learned from such.

    Args:
        values: Of the controls.
        last: How many of them, the last ones, are the examples'.
        spec: Of the job.
        task: That of the form.
        source: Of its examples: OURS or YOURS.
    """
    learned = spec.runs[0].recipe.task
    are_its = source == YOURS == source_of(learned, spec.examples_name) and task == learned
    count = len(values) - last * are_its
    return *[gr.skip()] * count, *values[count:]


def name_for_others(spec: JobSpec, title: str) -> str:
    """What stands as the name once other examples are chosen: that of the opened job does not suit them.

    Args:
        spec: Of the opened job.
        title: What stands there.
    """
    return "" if title.strip() == spec.title else title


def bind(job: str, task: str, held: Sequence, lost: str = "") -> dict[str, str]:
    """What the form holds goes with a job.

    Args:
        job: Its id.
        task: A key of TASKS.
        held: Of the panel of examples, as read_examples takes it after the task.
        lost: Name of the examples where they are not held; "" = they are.
    """
    return {"job": job, "examples": examples_key(task, *held), "lost": lost}


def compare(registry: Registry, spec: JobSpec, asked: Asked, held: Sequence, bound: dict[str, str]) -> tuple[str, bool]:
    """A line, as HTML, that says what of the form is not as the job in sight has it, and whether anything is.

    Args:
        registry: The models on offer.
        spec: Of the job in sight.
        asked: What stands in the form.
        held: Of its panel of examples, as read_examples takes it after the task.
        bound: As of bind, of the job in sight.
    """
    others = differences(registry, spec, asked)
    source = held[0]
    is_same = (
        examples_key(asked.task, *held) == bound["examples"]
        if source == YOURS
        else (source == source_of(asked.task, spec.examples_name))
    )
    if not is_same and asked.task == spec.runs[0].recipe.task:
        others.append({OURS: "our examples", YOURS: "examples of your own"}.get(source, "our scored pairs"))
    lost = note(LOST.format(name=spec.examples_name)) if bound["lost"] and is_same else ""
    if not others:
        return lost, False
    said = " · ".join(f"<bdi>{escape(one)}</bdi>" for one in others)
    complaint = _refusal(registry, asked, held)
    end = f". {escape(complaint)}" if complaint else ": press Start to train it."
    line = f"This is not what you have chosen, <b>{said}</b>{end}"
    return f"{lost}<p class='note otherwise'>{line}</p>", True


def _refusal(registry: Registry, asked: Asked, held: Sequence) -> str:
    """Why Start would refuse what is asked for; "" = it would not."""
    count, complaint = _look_through(asked.task, *held)
    if complaint:
        return UNUSABLE
    try:
        plan_asked(registry, asked, count)
    except ExplorerError as error:
        return str(error)
    return ""


@lru_cache(maxsize=CHECKED_SETS)  # a key stands for the same table always
def _look_through(task: str, *held: str | float | None) -> tuple[int, str]:
    """How many examples there are to learn from, and why nothing can be learned from these; "" = it can."""
    try:
        return len(read_examples(task, *held).train), ""
    except ExplorerError as error:
        return 0, str(error)


def differences(registry: Registry, spec: JobSpec, asked: Asked) -> list[str]:
    """What of the form is otherwise than a job had it, in the form's words; options only where all else agrees."""
    had, found = asked_for(registry, spec), []
    if asked.task != had.task:
        found.append(TASKS[asked.task])
    if asked.model != had.model:
        found.append(clean_text(asked.model[:LONGEST_NAME]))
    if (asked.kind, asked.methods) != (had.kind, had.methods):
        ways = " against ".join(METHODS[way] for way in asked.methods) or "no method"
        found.append(ways if asked.kind == "one" else f"{KINDS[asked.kind]}: {ways}")
    if found:
        return found
    abilities = _abilities(registry, asked.model)
    recipes = {run.recipe.method: run.recipe for run in spec.runs}
    for way in asked.methods:
        wanted = recipe_of(asked.task, way, asked.options, abilities)
        counts = counting_options(asked.task, way, abilities)
        found += [
            _option_words(name, getattr(wanted, name))
            for name in OPTIONS
            if counts.get(name, True) and getattr(wanted, name) != getattr(recipes[way], name)
        ]
    return list(dict.fromkeys(found))


def _option_words(name: str, value: object) -> str:
    if value is None:
        return "the usual learning rate"
    if value == "":
        return "no prefix"
    return OPTION_WORDS[name].format(LOSSES.get(value, value)).replace(" -", " −")


def _abilities(registry: Registry, model: str) -> Collection[Ability]:
    try:
        return find_card(registry, model).abilities
    except ExplorerError:  # a model that has left; the form says so when it is looked at
        return ()


def _within(value: object, component: gr.components.Component) -> object:
    """A value of an option, no lower or higher than its slider goes."""
    if not isinstance(component, gr.Slider):
        return value
    return min(max(value, component.minimum), component.maximum)
