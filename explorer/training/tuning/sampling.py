"""Some of the examples, each class with its share; importable without torch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from random import Random

from explorer.errors import UnsuitableCorpus
from explorer.training.tuning.examples import Example, ExampleSet, LabelledText
from explorer.training.tuning.row_examples import text_keys


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
        share: Of each class, in (0, 1); one of each that has two examples or more, and never all. Copies of a text
            count as one, and stay together: what is measured on was not learned.
        seed: Of the choice.

    Raises:
        UnsuitableCorpus: There are too few, or all are the same text.
    """
    if examples.held_out:
        if not examples.train:
            raise UnsuitableCorpus("There are no examples to learn from; add some.")
        return examples
    if len(examples.train) < 2:
        count = len(examples.train)
        raise UnsuitableCorpus(
            f"{count} example{'s' * (count != 1)} cannot be learned from and measured on: add at least "
            f"{2 - count} more, better twenty of each class."
        )
    keys = text_keys(examples.train)
    firsts = list({key: index for index, key in reversed(list(enumerate(keys)))}.values())[::-1]  # of copies the first
    if len(firsts) < 2:
        raise UnsuitableCorpus(
            f"All {len(keys):,} examples are the same text: nothing is left to measure on. Add others."
        )
    held_out = set()
    for indices in _by_class(examples.train, seed, firsts).values():
        count = min(max(round(share * len(indices)), 1), len(indices) - 1)
        held_out.update(keys[index] for index in indices[:count])
    if not held_out:  # every class has a single text
        held_out = {keys[_fair_order(examples.train, seed, firsts)[-1]]}
    told = list(zip(keys, examples.train, strict=True))
    return replace(
        examples,
        train=tuple(one for key, one in told if key not in held_out),
        held_out=tuple(one for key, one in told if key in held_out),
    )


def _by_class(examples: Sequence[Example], seed: int, chosen: Iterable[int] | None = None) -> dict[str, list[int]]:
    """Indices of each class, shuffled; of the chosen ones, or of all."""
    classes: dict[str, list[int]] = defaultdict(list)
    for index in range(len(examples)) if chosen is None else chosen:
        example = examples[index]
        classes[example.label if isinstance(example, LabelledText) else ""].append(index)
    random = Random(seed)
    for label in sorted(classes):
        random.shuffle(classes[label])
    return classes


def _fair_order(examples: Sequence[Example], seed: int, chosen: Iterable[int] | None = None) -> list[int]:
    """All indices, or the chosen ones, so that every beginning holds each class in its share: first one of each."""
    places = [
        ((rank + 0.5) / len(indices) if rank else -1.0 / len(indices), label, index)
        for label, indices in _by_class(examples, seed, chosen).items()
        for rank, index in enumerate(indices)
    ]
    return [index for _, _, index in sorted(places)]
