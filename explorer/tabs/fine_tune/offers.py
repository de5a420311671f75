"""What goes with what was chosen: a model that can learn the task, and the methods by which it can."""

from collections.abc import Collection, Sequence

import gradio as gr

from explorer.errors import ExplorerError
from explorer.models.card import Ability
from explorer.models.registry import Registry
from explorer.tabs.fine_tune.plan import MOST_COMPARED, no_way
from explorer.tabs.messages import error_box
from explorer.tabs.visitors import find_card
from explorer.training.tuning.recipe import METHODS, TASKS
from explorer.training.tuning.suits import CLASSES, OWN_MODELS, find_ways, suggest_recipe, writes_answers

SPECIAL = (OWN_MODELS["causal"], OWN_MODELS["text_to_text"])  # chosen for what few can do, not for what all can


def offer_model(registry: Registry, model: str, task: str, epochs: float) -> tuple:
    """The model stays if it can learn the task, unless it came with another; epochs that the visitor chose stay, too,
    unless the task wants more."""
    try:
        card = find_card(registry, model)
        can = bool(find_ways(task, card.abilities, card.model_type))
    except ExplorerError:
        can = False
    if can and card.name in SPECIAL and OWN_MODELS[task] != card.name:  # it came with another task
        can = False
    card = card if can else registry.card(OWN_MODELS[task])
    wanted = suggest_recipe(task, "full", card.abilities).epochs
    came_along = epochs in {suggest_recipe(one, "full", card.abilities).epochs for one in TASKS}
    is_kept = wanted == epochs or (wanted < epochs and not came_along)
    return gr.skip() if can else card.name, gr.skip() if is_kept else wanted


def offer_methods(registry: Registry, model: str, task: str, kind: str, method: str, methods: Sequence[str]) -> tuple:
    """The methods that suit model and task, with the chosen ones where they are among them; or what is wrong, to stand
    below the model, and nothing where the start of a run before was refused.

    What is chosen is not told again where it stays: it may be another by the time that this arrives.
    """
    try:
        card = find_card(registry, model)
    except ExplorerError as error:
        return gr.skip(), gr.skip(), error_box(str(error), of_model=True), ""
    ways = find_ways(task, card.abilities, card.model_type)
    if not ways:
        return gr.skip(), gr.skip(), error_box(no_way(card, task), of_model=True), ""
    choices = [(METHODS[way], way) for way in ways]
    kept, fewest = [way for way in methods if way in ways], 1 if kind == "labels" else 2
    kept = kept if len(kept) >= fewest else list(ways[-2:])
    kept = kept[-MOST_COMPARED:] if kind == "labels" else kept
    return (
        gr.Dropdown(choices=choices, **({} if method in ways else {"value": "full"})),
        gr.CheckboxGroup(choices=choices, **({} if kept == list(methods) else {"value": kept})),
        "",
        "",
    )


def offer_ticks(
    registry: Registry, model: str, task: str, kind: str, ticked: list[str], before: list[str]
) -> tuple[list[str] | None, list[str]]:
    """No more methods ticked than the kind of run takes; a race gets back what looking at the other kind took from it.

    Args:
        registry: Of the models.
        model: Name of the model.
        task: A key of TASKS.
        kind: A key of plan.KINDS.
        ticked: Keys of METHODS.
        before: Those that were ticked when some were taken away; else none.

    Returns:
        What is to be ticked (None = what is), and what `before` is from now on.
    """
    if kind == "labels" and len(ticked) > MOST_COMPARED:
        return ticked[-MOST_COMPARED:], ticked
    if kind == "labels":
        return None, before
    if kind == "one" or not before or ticked != before[-MOST_COMPARED:]:
        return None, before if kind == "one" else []
    try:
        card = find_card(registry, model)
    except ExplorerError:  # said by offer_methods
        return None, []
    fits = set(before) <= set(find_ways(task, card.abilities, card.model_type))
    return before if fits else None, []


def offer_options(registry: Registry, model: str, task: str, kind: str, method: str, methods: Sequence[str]) -> tuple:
    """Options that count for few choices are in sight with these: the rank of LoRA, λ, the loss of comparing, a prefix.

    Of a prefix, what suits is told in its place.
    """
    try:
        abilities = find_card(registry, model).abilities
    except ExplorerError:  # said by offer_methods
        abilities = ()
    ways = [method] if kind == "one" else list(methods)
    counts = [counting_options(task, way, abilities) for way in ways]
    rank, weight, loss, has_prefix = (
        any(one[name] for one in counts) for name in ("lora_rank", "auxiliary_weight", "similarity_loss", "prefix")
    )
    usual = next((found for way in ways if (found := suggest_recipe(task, way, abilities).prefix)), "nothing")
    prefix = gr.Textbox(visible=has_prefix, placeholder=usual)
    return gr.Slider(visible=rank), gr.Slider(visible=weight), gr.Radio(visible=loss), prefix


def counting_options(task: str, method: str, abilities: Collection[Ability]) -> dict[str, bool]:
    """Of the options that do not always count: field of plan.Options -> whether it does here."""
    return {
        "lora_rank": method == "lora",
        "auxiliary_weight": Ability.GENERATE in abilities and task in CLASSES,
        "similarity_loss": task == "similarity",
        "prefix": writes_answers(task, method, abilities),
    }
