"""What fine-tuning says while it works, and at its end; small, frozen, importable without torch."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from explorer.training.tuning.recipe import Recipe

AVERAGED_STEPS = 20  # the latest, whose mean the training loss is told as
READING = "reading features"  # the phase before the heads of a frozen network learn


@dataclass(frozen=True)
class Judged:
    """What a model made of one held-out example.

    Attributes:
        text: The example, as a person reads it.
        gold: The right answer.
        predicted: The model's.
        probability: Of the model's answer, in [0, 1].
        probabilities: Of every label, parallel to Outcome.labels; () where there are none.
        is_right: Whether it counts as right in the task's score; None = no right answer is known, or there is none.
    """

    text: str
    gold: str
    predicted: str
    probability: float
    probabilities: tuple[float, ...] = ()
    is_right: bool | None = None


def auxiliary_remark(weight: float) -> str:
    """What tells the training loss of a causal model's classes from the held-out loss.

    Args:
        weight: λ, above 0.
    """
    return (
        f"The training loss holds {weight:g} of the loss of next words, too; the held-out loss is that of the classes "
        "alone."
    )


def wrong_first(judged: Iterable[Judged]) -> tuple[Judged, ...]:
    """What is judged wrongly first, each part by how sure the model is of it."""
    return tuple(sorted(judged, key=lambda one: (one.is_right is True, -one.probability)))


def right_ones(judged: Iterable[Judged]) -> tuple[bool, ...]:
    """Which examples are right, in an order that is one for all runs on them; () = of some nobody knows."""
    known = [one.is_right for one in sorted(judged, key=lambda one: (one.text, one.gold))]
    return tuple(one for one in known if one is not None) if None not in known else ()


@dataclass(frozen=True)
class Movement:
    """How far one part of the network went from where it started.

    Attributes:
        part: "embeddings", "layer 1" …, "final norm", "the network's own head", "head".
        relative: Norm of the difference over norm of the start (Frobenius); 0 = did not move.
        parameters: How many weights it has.
    """

    part: str
    relative: float
    parameters: int


@dataclass(frozen=True)
class BeforeAndAfter:
    """The same question to the model before and after: a blank, a text to go on with, a query to retrieve for.

    Attributes:
        text: What was asked.
        before: What it answered.
        after: What it answers now.
    """

    text: str
    before: str
    after: str


@dataclass(frozen=True)
class Outcome:
    """What a run gave.

    Attributes:
        scores: Name -> value on the held-out examples, the task's main one first: "accuracy", "macro_f1", "f1",
            "exact_match", "spearman", "recall_at_1", "bits_per_byte" …
        baselines: Of the same scores: name of the baseline -> its main score, e.g. {"most frequent class": 0.52}.
        labels: Classes, in the order of the confusion matrix; () where the task has none.
        confusion: [gold][predicted] counts.
        judged: Every held-out example, those that are judged wrongly with most confidence first.
        movements: From the input embeddings up.
        mix: Learned weight of each layer, 0 = input embeddings; () but for the method "layers".
        before_and_after: Samples.
        trained_parameters: How many weights could move.
        seconds: Of training, without loading.
        epochs: Passes over the examples that were made; 0 = none: a head was fitted at once.
        notes: What the visitor should know: texts that were cut, classes without a held-out example …
        folder: Where the tuned model was saved; "" = nowhere.
    """

    scores: dict[str, float]
    baselines: dict[str, float] = field(default_factory=dict)
    labels: tuple[str, ...] = ()
    confusion: tuple[tuple[int, ...], ...] = ()
    judged: tuple[Judged, ...] = ()
    movements: tuple[Movement, ...] = ()
    mix: tuple[float, ...] = ()
    before_and_after: tuple[BeforeAndAfter, ...] = ()
    trained_parameters: int = 0
    seconds: float = 0.0
    epochs: float = 0.0
    notes: tuple[str, ...] = ()
    folder: str = ""


@dataclass(frozen=True)
class TrainingStep:
    """Where a run is.

    Attributes:
        phase: READING, "training", "measuring" or "done".
        step: Optimiser steps done.
        steps: Of how many; fewer are done if it stops early.
        epoch: Passes over the examples done.
        seconds: Of training so far, over all sessions.
        loss: Per example, mean of the latest AVERAGED_STEPS steps, or of the fewer so far; None = not yet.
        held_out_loss: Where it was measured at this step; None = it was not.
        score: The task's main score on the held-out examples, likewise.
        examples_per_second: Since this session began.
        seconds_left: Estimate.
        outcome: With the last step only.
        score_name: The score's, as Outcome.scores names it; "" = there is none, or it is not known.
        kept_epoch: Whose weights were measured, and are kept, where those are earlier ones, put back at the end; None =
            those of this step.
        auxiliary_weight: λ of the loss of next words that loss holds, and held_out_loss does not; 0 = none.
    """

    phase: str
    step: int
    steps: int
    epoch: float
    seconds: float
    loss: float | None = None
    held_out_loss: float | None = None
    score: float | None = None
    examples_per_second: float = 0.0
    seconds_left: float = 0.0
    outcome: Outcome | None = None
    score_name: str = ""
    kept_epoch: float | None = None
    auxiliary_weight: float = 0.0


@dataclass(frozen=True)
class Run:
    """One of the runs that a job is made of: a race has several methods, a learning curve several sizes as well.

    Attributes:
        recipe: How.
        examples: How many labelled examples it learns from; 0 = all.
        model: Name of the model it starts from.
    """

    recipe: Recipe
    examples: int
    model: str
