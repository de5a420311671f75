"""Which runs a job is made of: one, a race of methods, or the same methods on ever more labelled examples."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from explorer.errors import UnsuitableText
from explorer.models.card import Ability, ModelCard
from explorer.training.jobs.limits import BOUNDS
from explorer.training.tuning.recipe import METHODS, TASKS, Recipe
from explorer.training.tuning.results import Run
from explorer.training.tuning.suits import OWN_MODELS, find_ways, fit_recipe

KINDS = {"one": "One run", "race": "Race", "labels": "Fewer labels"}
SIZES = (8, 32, 128, 512, 2048, 8192)  # labelled examples, as in the lectures: each four times the one before
NO_PREFIX = " "
MOST_RACED, MOST_COMPARED = 3, 2


@dataclass(frozen=True)
class Options:
    """What stands under "More options", as the page has it.

    Attributes:
        epochs: How often every example is seen.
        batch_size: Examples per step.
        learning_rate: 0 = what suits the task and the method.
        length_tokens: Longer texts are cut.
        patience: Measurements without a lower held-out loss; 0 = never stop early.
        lora_rank: Of the low-rank matrices.
        auxiliary_weight: λ of the language modelling loss.
        similarity_loss: As Recipe has it.
        prefix: What an encoder-decoder reads before each text; "" = what suits the task and the method, NO_PREFIX =
            nothing.
        seed: Of everything random.
    """

    epochs: float = 6
    batch_size: int = 16
    learning_rate: float = 0.0
    length_tokens: int = 128
    patience: int = 0
    lora_rank: int = 8
    auxiliary_weight: float = 0.5
    similarity_loss: str = "triplet"
    prefix: str = ""
    seed: int = 0


def plan_runs(
    kind: str, card: ModelCard, task: str, methods: Sequence[str], options: Options, examples: int
) -> tuple[Run, ...]:
    """The runs of a job, in the order in which they are worked off.

    Args:
        kind: A key of KINDS.
        card: Of the model they start from.
        task: A key of TASKS.
        methods: Keys of METHODS; of "one" the first counts.
        options: The same for all.
        examples: How many there are to learn from.

    Raises:
        UnsuitableText: A number is beyond its range; too few methods, too many, or too few examples; or the model
            cannot do this so.
    """
    _check_numbers(options)
    if kind not in KINDS or task not in TASKS or not set(methods) <= set(METHODS):
        raise UnsuitableText("There is no such task, method or kind of run. Choose one of those on offer.")
    if kind == "one":
        methods = methods[:1]
    if complaint := wrong_count(kind, len(methods)):
        raise UnsuitableText(complaint)
    ways = find_ways(task, card.abilities, card.model_type)
    if not ways:
        raise UnsuitableText(no_way(card, task))
    if unfit := [METHODS[method] for method in methods if method not in ways]:
        rest = ", ".join(f"“{METHODS[way]}”" for way in ways)
        raise UnsuitableText(f"{card.name} cannot learn “{TASKS[task]}” by “{unfit[0]}”: choose {rest}.")
    recipes = [recipe_of(task, method, options, card.abilities) for method in METHODS if method in methods]
    if kind != "labels":
        return tuple(Run(recipe, 0, card.name) for recipe in recipes)
    sizes = [size for size in SIZES if size < examples]
    if not sizes:
        raise UnsuitableText(
            f"There are {examples} examples to learn from: fewer labels can be tried from {SIZES[0] + 1} on. Add some."
        )
    return tuple(Run(recipe, size, card.name) for size in (*sizes, examples) for recipe in recipes)


def wrong_count(kind: str, methods: int) -> str:
    """What is wrong with so many methods for a kind of run; "" = nothing.

    Args:
        kind: A key of KINDS.
        methods: How many are chosen.
    """
    least, most = {"one": (1, 1), "race": (2, MOST_RACED), "labels": (1, MOST_COMPARED)}[kind]
    if methods < least:
        return "Choose two methods or three for a race." if kind == "race" else "Choose a method."
    return f"Choose {most} methods at most: each of them is trained." if methods > most else ""


def _check_numbers(options: Options) -> None:
    """Of what is typed into a box that has no slider."""
    rate, seed, most = options.learning_rate or 0, options.seed or 0, BOUNDS["seed"][1]
    if not 0 <= rate <= 1:
        ask = "give a number above 0 and at most 1, or 0 for what suits the method"
        raise UnsuitableText(f"Learning rate: {ask}, not {_number(rate)}.")
    if not 0 <= seed <= most:
        raise UnsuitableText(f"Seed: give a whole number from 0 to {most:,}, not {_number(seed)}.")


def _number(value: float) -> str:
    return f"{value:.15g}".replace("-", "−")


def recipe_of(task: str, method: str, options: Options, abilities: Collection[Ability]) -> Recipe:
    """One recipe of the page's choices."""
    wanted = {
        "epochs": float(options.epochs),
        "batch_size": int(options.batch_size),
        "learning_rate": float(options.learning_rate or 0) or None,
        "length_tokens": int(options.length_tokens),
        "patience": int(options.patience),
        "lora_rank": int(options.lora_rank),
        "auxiliary_weight": float(options.auxiliary_weight),
        "similarity_loss": str(options.similarity_loss),
        "prefix": (options.prefix if options.prefix.strip() else "") if options.prefix else None,
        "seed": int(options.seed or 0),
    }
    return fit_recipe(task, method, abilities, wanted)


def no_way(card: ModelCard, task: str) -> str:
    """What to say of a model that cannot learn a task by any method: which one can."""
    return f"{card.name} cannot learn the task “{TASKS[task]}”. {OWN_MODELS[task]} can: choose it, or another task."
