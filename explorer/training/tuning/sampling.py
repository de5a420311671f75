"""Some of the examples, each class with its share; importable without torch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from random import Random

from explorer.errors import UnsuitableCorpus
from explorer.training.tuning.examples import Example, ExampleSet, LabelledText


def choose_examples(examples: ExampleSet, count: int, *, seed: int) -> ExampleSet:
    """Some of the examples to learn from: the first `count` of one order, so that 32 hold the 8.

    Args:
        examples: Where from; what is held out stays as it is.
        count: How many; 0 = all, in their own order. Each class comes once before any comes twice, then each as often
            as it is among all.
        seed: Of the order.
    """
    if not 0 < count < len(examples.train):
        return examples
    return replace(examples, train=tuple(examples.train[index] for index in _fair_order(examples.train, seed)[:count]))


def split_examples(examples: ExampleSet, share: float, *, seed: int) -> ExampleSet:
    """Set a part aside to measure on, where none is given.

    Args:
        examples: At least two.
        share: Of each class, in (0, 1); one of each that has two examples or more, and never all.
        seed: Of the choice.

    Raises:
        UnsuitableCorpus: There are too few.
    """
    if examples.held_out:
        if not examples.train:
            raise UnsuitableCorpus("There are no examples to learn from; add some.")
        return examples
    if len(examples.train) < 2:
        count = len(examples.train)
        raise UnsuitableCorpus(
            f"{count} example{'s' * (count != 1)} cannot be learnt from and measured on: add at least "
            f"{2 - count} more, better twenty of each class."
        )
    held_out = set()
    for indices in _by_class(examples.train, seed).values():
        count = min(max(round(share * len(indices)), 1), len(indices) - 1)
        held_out.update(indices[:count])
    if not held_out:  # every class has a single example
        held_out = {_fair_order(examples.train, seed)[-1]}
    return replace(
        examples,
        train=tuple(one for index, one in enumerate(examples.train) if index not in held_out),
        held_out=tuple(one for index, one in enumerate(examples.train) if index in held_out),
    )


def _by_class(examples: Sequence[Example], seed: int) -> dict[str, list[int]]:
    """Indices of each class, shuffled."""
    classes: dict[str, list[int]] = defaultdict(list)
    for index, example in enumerate(examples):
        classes[example.label if isinstance(example, LabelledText) else ""].append(index)
    random = Random(seed)
    for label in sorted(classes):
        random.shuffle(classes[label])
    return classes


def _fair_order(examples: Sequence[Example], seed: int) -> list[int]:
    """All indices, so that every beginning holds each class in its share: first one of each."""
    places = [
        ((rank + 0.5) / len(indices) if rank else -1.0 / len(indices), label, index)
        for label, indices in _by_class(examples, seed).items()
        for rank, index in enumerate(indices)
    ]
    return [index for _, _, index in sorted(places)]
