"""What is known of a tuned model without loading it; importable without torch."""

import json
from dataclasses import dataclass, fields
from pathlib import Path

from explorer.errors import ModelRefused
from explorer.models.card import Ability, LocalFolder, ModelCard
from explorer.training.tuning.recipe import METHODS, TASKS, Recipe

FACTS = "tuned.json"


@dataclass(frozen=True)
class TunedFacts:
    """What tuned.json holds.

    Attributes:
        base: Name of the model it started from.
        base_id: Its id on the Hub; "" = it is not there.
        model_type: Its architecture.
        abilities: Of the base, as Ability's values.
        licence: Of the base.
        paper: Of the base.
        paper_url: Of the base.
        languages: Of the base.
        recipe: How it was tuned.
        labels: Classes or tags, in the order of the head's rows.
        examples_name: Of the file, or of our own set.
        train_examples: How many it learnt from.
        held_out_examples: How many it was measured on.
        scores: On them.
        parameters: Of the network.
    """

    base: str
    base_id: str
    model_type: str
    abilities: tuple[str, ...]
    licence: str
    paper: str
    paper_url: str
    languages: tuple[str, ...]
    recipe: Recipe
    labels: tuple[str, ...]
    examples_name: str
    train_examples: int
    held_out_examples: int
    scores: dict[str, float]
    parameters: int


def read_facts(folder: Path) -> TunedFacts:
    """What is known of a tuned model.

    Args:
        folder: Holds tuned.json.

    Raises:
        ModelRefused: It does not, or the file is damaged.
    """
    try:
        given = json.loads((folder / FACTS).read_text(encoding="utf-8"))
        known = {field.name: given[field.name] for field in fields(TunedFacts)}
        known |= {name: tuple(known[name]) for name in ("abilities", "languages", "labels")}
        return TunedFacts(**known | {"recipe": Recipe(**known["recipe"])})
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise ModelRefused(f"{folder.name} holds no tuned model, or a damaged one: fine-tune it once more.") from error


def read_tuned_card(folder: Path, name: str = "") -> ModelCard:
    """The card of a tuned model.

    Args:
        folder: Holds tuned.json and the weights.
        name: What it shall be called; "" = after its base, its method and its examples.

    Raises:
        ModelRefused: The folder holds no tuned model, or a damaged one.
    """
    facts, folder = read_facts(folder), folder.resolve()
    try:
        abilities = frozenset({*map(Ability, facts.abilities), Ability.EMBED})
        weights_bytes = sum(file.stat().st_size for file in folder.glob("model*.safetensors"))
    except (OSError, ValueError) as error:
        raise ModelRefused(f"{folder.name} holds a damaged tuned model: fine-tune it once more.") from error
    method = METHODS.get(facts.recipe.method, facts.recipe.method)
    score, value = next(iter(facts.scores.items()), ("", 0.0))
    found = f" {score.replace('_', ' ')}: {value:.3f} (n = {facts.held_out_examples:,})." if score else ""
    return ModelCard(
        name=name or f"{facts.base} · {method} · {facts.examples_name}",
        source=LocalFolder(str(folder)),
        model_type=facts.model_type,
        abilities=abilities,
        special=f"{facts.base}, fine-tuned by a visitor: {TASKS.get(facts.recipe.task, facts.recipe.task).lower()}.",
        licence=facts.licence,
        paper=facts.paper,
        paper_url=facts.paper_url,
        parameters=facts.parameters,
        weights_bytes=weights_bytes,
        languages=facts.languages,
        training=f"{method}, on {facts.train_examples:,} examples of {facts.examples_name}.{found}",
        is_tuned=True,
    )
