"""Jobs to test with, and a stand-in for fine_tune that counts steps instead of training."""

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from explorer.errors import UnsuitableText
from explorer.models.card import Ability, LocalFolder, ModelCard
from explorer.models.registry import Registry
from explorer.training.jobs.results import JobSpec
from explorer.training.tuning.examples import ExampleSet, LabelledText
from explorer.training.tuning.recipe import Recipe
from explorer.training.tuning.results import Judged, Outcome, Run, TrainingStep
from explorer.training.writing import writing_to

ANNE, BOB, CARLA = ("token-of-anne-0123456789", "token-of-bob-0123456789", "token-of-carla-012345")
EXAMPLES = ExampleSet("films", "classification", tuple(LabelledText(f"film {n}", "good") for n in range(4)))
MODEL = "a model"


def spec_of(*titles: str, seed: int = 0, steps: int = 5) -> JobSpec:
    """A job of as many runs as titles; a fake run takes as many steps as it has epochs."""
    recipe = Recipe(epochs=float(steps), seed=seed)
    return JobSpec(titles[0], tuple(Run(recipe, 0, MODEL) for _ in titles), "films")


def count_steps(model: object, examples: ExampleSet, *, recipe: Recipe, folder: Path) -> Iterator[TrainingStep]:
    """Steps of a hundredth of a second, with a checkpoint once each was seen; goes on from it."""
    folder.mkdir(parents=True, exist_ok=True)
    checkpoint, steps = folder / "checkpoint.json", int(recipe.epochs)
    done = json.loads(checkpoint.read_text()) if checkpoint.exists() else 0
    for step in range(done + 1, steps + 1):
        time.sleep(0.01)
        behave(recipe, step, folder)
        outcome = None
        if step == steps:
            (folder / "model").mkdir(exist_ok=True)
            (folder / "model" / "weights").write_bytes(os.urandom(8))
            outcome = Outcome({"accuracy": 0.75}, judged=(Judged("film 1", "good", "bad", 0.9),), folder=str(folder))
        yield TrainingStep(
            "done" if outcome else "training",
            step,
            steps,
            1.0,
            0.01 * step,
            1 / step,
            1 / step,
            0.5,
            10.0,
            1.0,
            outcome,
        )


def behave(recipe: Recipe, step: int, folder: Path) -> None:
    """The seed of a recipe says what goes wrong at its third step, the first time that it comes there."""
    trap = folder / "was here"
    if step != 3 or trap.exists():
        return
    trap.touch()
    if recipe.seed == 1:
        raise UnsuitableText("The loss is not a number. Choose a lower learning rate.")
    if recipe.seed == 2:
        raise ZeroDivisionError("ours")
    if recipe.seed == 4:
        with writing_to(folder):
            (folder / "large").write_bytes(bytes(2**20))
    if recipe.seed == 5:
        bytearray(2**62)
    if recipe.seed == 3:
        os.kill(os.getpid(), signal.SIGKILL)


class FakeBackend:
    """Hands no model to what is streamed to it."""

    def stream(self, card, work):
        return work(None)


def find(name: str) -> tuple[Registry, str]:
    card = ModelCard(name, LocalFolder("nowhere"), "bert", frozenset({Ability.EMBED}), "", "", "", "")
    return Registry([card], FakeBackend), name


def choose(examples: ExampleSet, run: Run) -> ExampleSet:
    return examples
