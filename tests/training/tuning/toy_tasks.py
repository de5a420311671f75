"""A toy rule for each task, which a tiny network learns in a few seconds, and what runs it."""

import random
from collections.abc import Sequence
from pathlib import Path

import torch

from explorer.models.backend import LoadedModel
from explorer.models.card import Ability
from explorer.training.tuning.examples import (
    AnsweredQuestion,
    Example,
    ExampleSet,
    LabelledText,
    PlainText,
    TaggedWords,
    TextToText,
    Triplet,
)
from explorer.training.tuning.fine_tuning import fine_tune
from explorer.training.tuning.recipe import Recipe
from explorer.training.tuning.results import Outcome
from tests.analysis.tiny_models import loaded
from tests.training.tiny_corpus import PEOPLE, PLACES, SOUNDS
from tests.training.tiny_networks import tiny_network, tiny_tokenizer

ANIMALS = tuple(SOUNDS)
RATE = 3e-3  # tiny networks with new weights learn nothing at the rates of trained ones


def tiny_model(objective: str, *, seed: int = 0) -> LoadedModel:
    abilities = {"masked": Ability.FILL_BLANKS, "causal": Ability.GENERATE, "span": Ability.FILL_SPANS}
    own = [Ability.EMBED, *([abilities[objective]] if objective in abilities else [])]
    return loaded(tiny_network(objective, seed=seed), tiny_tokenizer(objective), name=objective, abilities=own)


def run(model: LoadedModel, examples: ExampleSet, folder: Path | None = None, **recipe) -> Outcome:
    """Fine-tune to the end, on one thread: tiny products are slower on several."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        given = {"learning_rate": RATE, "evaluations": 1, **recipe}
        *_, last = fine_tune(model, examples, recipe=Recipe(task=examples.task, **given), folder=folder)
    finally:
        torch.set_num_threads(threads)
    return last.outcome


def make_set(task: str, make, train: int, held_out: int, *, seed: int = 0) -> ExampleSet:
    choose = random.Random(seed)
    examples: Sequence[Example] = [make(choose) for _ in range(train + held_out)]
    return ExampleSet("toy", task, tuple(examples[:train]), tuple(examples[train:]))


def tagged(choose: random.Random) -> TaggedWords:
    """Animals and people are names; "the" belongs to the animal behind it."""
    words, tags = [], []
    for _ in range(3):
        part = choose.choice(["animal", "person", "place"])
        if part == "animal":
            words += ["the", choose.choice(ANIMALS)]
            tags += ["B-ANIMAL", "I-ANIMAL"]
        elif part == "person":
            words.append(choose.choice(PEOPLE))
            tags.append("B-PERSON")
        else:
            words += ["in", choose.choice(PLACES)]
            tags += ["O", "O"]
    return TaggedWords(tuple(words), tuple(tags))


def asked(choose: random.Random, fillers: int = 4) -> AnsweredQuestion:
    """The answer is the one animal of the passage."""
    words = [choose.choice([*PEOPLE, *PLACES]) for _ in range(fillers)]
    place = choose.randrange(1, fillers)
    animal = choose.choice(ANIMALS)
    words.insert(place, animal)
    return AnsweredQuestion("hears it", " ".join(words), animal, len(" ".join(words[:place])) + 1)


def classed(choose: random.Random) -> LabelledText:
    """About an animal, or about a person."""
    about = choose.choice(["dog", "anna"])
    subject = choose.choice(ANIMALS if about == "dog" else PEOPLE)
    return LabelledText(f"{subject} in the {choose.choice(PLACES)}", about)


def paired(choose: random.Random) -> LabelledText:
    """Whether both are of one kind."""
    kinds = choose.choice([(ANIMALS, ANIMALS), (ANIMALS, PEOPLE), (PEOPLE, PEOPLE), (PEOPLE, ANIMALS)])
    label = "it" if kinds[0] is kinds[1] else "and"
    return LabelledText(choose.choice(kinds[0]), label, choose.choice(kinds[1]))


def compared(choose: random.Random) -> Triplet:
    """Animals are like the sound they make."""
    one, other = choose.sample(ANIMALS, 2)
    return Triplet(f"the {one}", f"it {SOUNDS[one]}", f"it {SOUNDS[other]}")


def told(choose: random.Random) -> PlainText:
    """Everything but the animal, the place and the person is always the same."""
    animal = choose.choice(ANIMALS)
    return PlainText(
        f"the {animal} {SOUNDS[animal]} in the {choose.choice(PLACES)} and {choose.choice(PEOPLE)} hears it"
    )


def rewritten(choose: random.Random) -> TextToText:
    """Of an animal its sound."""
    animal = choose.choice(ANIMALS)
    return TextToText(f"{choose.choice(PEOPLE)} feeds the {animal}", SOUNDS[animal])
