"""Which code does which task of recipe.TASKS, on which kind of network."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from explorer.errors import UnsuitableModel
from explorer.training.tuning.answers import Answers
from explorer.training.tuning.causal_classes import CausalClassification
from explorer.training.tuning.class_scores import find_labels
from explorer.training.tuning.classification import Classification
from explorer.training.tuning.examples import (
    AnsweredQuestion,
    Example,
    LabelledText,
    PlainText,
    ScoredPair,
    TaggedWords,
    TextToText,
    Triplet,
)
from explorer.training.tuning.masked_words import MaskedWords
from explorer.training.tuning.next_words import NextWords, is_causal
from explorer.training.tuning.recipe import TASKS, Recipe
from explorer.training.tuning.similarity import Similarity
from explorer.training.tuning.tag_scores import find_tags
from explorer.training.tuning.tagging import Tagging
from explorer.training.tuning.task import Start, Task
from explorer.training.tuning.text_to_text import Rewriting


def no_labels(train: Sequence[Example], held_out: Sequence[Example]) -> tuple[str, ...]:
    """Of a task that has none."""
    return ()


@dataclass(frozen=True)
class TaskKind:
    """How one task is had.

    Attributes:
        examples: Classes of its examples.
        find_labels: What the examples to learn from and those held out are labelled with.
        build: The task on a network.
    """

    examples: tuple[type, ...]
    find_labels: Callable[[Sequence[Example], Sequence[Example]], tuple[str, ...]]
    build: Callable[[Start, Recipe, tuple[str, ...]], Task]


def build_classes(start: Start, recipe: Recipe, labels: tuple[str, ...]) -> Task:
    """Classes as the kind of network gives them: an encoder's mean, a causal model's last token, a text written.

    Args:
        start: Any network. Of an encoder-decoder whose weights rest the encoder is read, as it cannot learn to write.
        recipe: How.
        labels: The classes.
    """
    if is_causal(start.network):
        return CausalClassification(start, recipe, labels)
    writes = start.network.config.is_encoder_decoder and start.network.get_output_embeddings() is not None
    if writes and recipe.method not in ("frozen", "layers"):
        return Rewriting(start, recipe, labels)
    return Classification(start, recipe, labels)


KINDS: dict[str, TaskKind] = {
    "classification": TaskKind((LabelledText,), find_labels, build_classes),
    "pairs": TaskKind((LabelledText,), find_labels, build_classes),
    "tagging": TaskKind((TaggedWords,), find_tags, Tagging),
    "answers": TaskKind((AnsweredQuestion,), no_labels, Answers),
    "similarity": TaskKind((Triplet, ScoredPair), no_labels, Similarity),
    "masked": TaskKind((PlainText,), no_labels, MaskedWords),
    "causal": TaskKind((PlainText,), no_labels, NextWords),
    "text_to_text": TaskKind((TextToText,), no_labels, Rewriting),
}


READERS: tuple[type, ...] = (
    Classification,
    Tagging,
    Answers,
    Similarity,
)  # ask for no words, but for an auxiliary loss
SCRIPTS: dict[type, str] = {  # class of a task -> file in scripts/ that makes the model again without this package
    Classification: "classification",
    CausalClassification: "causal_classes",
    Tagging: "tagging",
    Answers: "answers",
    Similarity: "similarity",
    MaskedWords: "masked_words",
    NextWords: "next_words",
    Rewriting: "text_to_text",
}


def find_kind(task: str) -> TaskKind:
    """How a task is had.

    Args:
        task: A key of recipe.TASKS.

    Raises:
        UnsuitableModel: There is no such task.
    """
    if task not in KINDS:
        raise UnsuitableModel(f"There is no task {task!r}; choose one of: {', '.join(TASKS)}.")
    return KINDS[task]
