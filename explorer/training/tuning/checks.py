"""What to know of labelled examples before a model learns from them: their balance, and what will go wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from explorer.errors import UnsuitableText
from explorer.settings import settings
from explorer.training.tuning.columns import is_number
from explorer.training.tuning.examples import Example, ExampleSet, LabelledText, ScoredPair, TaggedWords
from explorer.training.tuning.recipe import FEW_HELD_OUT
from explorer.training.tuning.row_examples import text_keys, text_of

FEWEST_EXAMPLES = 8
FEWEST_PER_CLASS = 4
UNEVEN = 10.0  # times as many examples of the most frequent class as of the rarest
SHORT_CHARACTERS = 3
LONG_CHARACTERS = 600  # about 128 tokens of English, the length that recipes cut at
SHOWN = 3  # classes or texts named in a message


@dataclass(frozen=True)
class ClassCount:
    """How many examples of one class, or phrases of one kind, there are.

    Attributes:
        label: The class.
        train: To learn from.
        held_out: To measure on.
    """

    label: str
    train: int
    held_out: int


@dataclass(frozen=True)
class Checks:
    """What was found.

    Attributes:
        train: Examples to learn from.
        held_out: To measure on; 0 = a part of train will be set aside.
        balance: Classes, the most frequent first; of tagging kinds of phrases; () where the task has none.
        problems: Why nothing can be learned from these; each says what to do.
        notes: What a visitor should know; the set is usable.
    """

    train: int
    held_out: int
    balance: tuple[ClassCount, ...]
    problems: tuple[str, ...]
    notes: tuple[str, ...]


def check_examples(examples: ExampleSet) -> Checks:
    """Look a set over.

    Args:
        examples: As make_examples makes them.
    """
    train, held_out = examples.train, examples.held_out
    counts, measured = _count_labels(train), _count_labels(held_out)
    ordered = sorted(counts | measured, key=lambda label: (-counts[label], label))
    balance = tuple(ClassCount(label, counts[label], measured[label]) for label in ordered)
    problems = _size_problems(train, held_out) or _class_problems(examples.task, balance, train)
    notes = [*examples.notes]
    if not problems:
        notes += [*_class_notes(examples.task, balance, bool(held_out)), *_text_notes(train, held_out)]
    return Checks(len(train), len(held_out), balance, tuple(problems), tuple(notes))


def refuse_problems(examples: ExampleSet) -> None:
    """Raise what check_examples finds to be a problem.

    Raises:
        UnsuitableText: Nothing can be learned from these; the message says why and what to do.
    """
    problems = check_examples(examples).problems
    if problems:
        raise UnsuitableText(" ".join(problems))


def measuring_remarks(examples: ExampleSet) -> list[str]:
    """Why a score on the held-out examples of a set says little, or too much; for those who read the score."""
    remarks, count = [], len(examples.held_out)
    if count < FEW_HELD_OUT:
        remarks.append(f"On {count} held-out examples a score says little.")
    if leaked := _count_leaked(examples.train, examples.held_out):
        remarks.append(
            f"{leaked:,} of the {count:,} held-out examples {'was' if leaked == 1 else 'were'} learned from, too: the "
            f"scores look better than they are."
        )
    return remarks


def _count_leaked(train: Sequence[Example], held_out: Sequence[Example]) -> int:
    learned = set(text_keys(train))
    return sum(key in learned for key in text_keys(held_out))


def _count_labels(examples: Sequence[Example]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for example in examples:
        if isinstance(example, LabelledText):
            counts[example.label] += 1
        elif isinstance(example, TaggedWords):
            counts.update(tag[2:] for tag in example.tags if tag.startswith("B-"))
    return counts


def _size_problems(train: Sequence[Example], held_out: Sequence[Example]) -> list[str]:
    if len(train) >= FEWEST_EXAMPLES or (held_out and len(train) > 1):
        return []
    there = "There is one example" if len(train) == 1 else f"There are {len(train)} examples"
    return [f"{there}; a model needs {FEWEST_EXAMPLES} at least to learn from and be measured on. Add more."]


def _score_problems(train: Sequence[Example]) -> list[str]:
    scores = {one.score for one in train if isinstance(one, ScoredPair)}
    if len(scores) != 1 or not all(isinstance(one, ScoredPair) for one in train):
        return []
    return [
        f"All {len(train):,} pairs have the same score. There is nothing to tell apart: add pairs with other "
        "scores, or choose another column for the score."
    ]


def _class_problems(task: str, balance: Sequence[ClassCount], train: Sequence[Example]) -> list[str]:
    learned, count = [one for one in balance if one.train], len(train)
    if task == "similarity":
        return _score_problems(train)
    if task == "tagging":
        return [] if learned else ["No word is tagged: all tags are O. Mark phrases, as in B-PER I-PER."]
    if task not in ("classification", "pairs") or not count:
        return []
    if len(learned) < 2:
        return [
            f"All {count:,} examples have the class “{_cut(balance[0].label)}”. There is nothing to tell apart: add "
            f"examples of another class, or choose another column for the label."
        ]
    unseen = [one.label for one in balance if not one.train]
    if unseen:
        return [
            f"{_names(unseen)} {'is' if len(unseen) == 1 else 'are'} only among the examples that are measured on. Add "
            f"examples to learn from, or leave these out."
        ]
    if len(learned) > max(2, count // 2):
        kind = "numbers" if all(is_number(one.label) for one in learned) else "different texts"
        return [
            f"There are {len(learned):,} classes among {count:,} examples: the labels look like {kind} of their own, "
            f"such as ids or sentences. Choose another column for the label."
        ]
    if len(learned) > settings().most_classes:
        return [
            f"There are {len(learned):,} classes; at most {settings().most_classes} can be learned here. Join rare "
            f"ones, or choose another column for the label."
        ]
    return []


def _class_notes(task: str, balance: Sequence[ClassCount], has_held_out: bool) -> list[str]:
    notes = []
    if task not in ("classification", "pairs", "tagging"):
        return notes
    what = "phrases" if task == "tagging" else "examples"
    few = [one.label for one in balance if one.train < FEWEST_PER_CLASS]
    if few:
        has = "has" if len(few) == 1 else "have"
        notes.append(f"{_names(few)} {has} fewer than {FEWEST_PER_CLASS} {what}: too few to learn or to measure.")
    most, least = balance[0], balance[-1]
    if task != "tagging" and least.train and most.train >= UNEVEN * least.train:
        notes.append(
            f"The classes are uneven: {most.train:,} of “{_cut(most.label)}”, {least.train:,} of "
            f"“{_cut(least.label)}”. Look at the macro F1, which counts each class alike, beside the accuracy."
        )
    if has_held_out and (missing := [one.label for one in balance if not one.held_out]):
        notes.append(f"No held-out example of {_names(missing)}: how well it is learned is not measured.")
    if task != "tagging" and len(balance) > 10 and all(is_number(one.label) for one in balance):
        notes.append(
            f"The labels are {len(balance)} numbers. They are learned as names: that 4 is nearer to 5 than to 1 is not "
            f"known to the model."
        )
    spellings = Counter(" ".join(one.label.casefold().split()) for one in balance)
    if twice := [label for label, number in spellings.items() if number > 1]:
        notes.append(f"{_names(twice)} is written in several ways, with small and capital letters: these are classes "
                     f"of their own.")  # fmt: skip
    return notes


def _text_notes(train: Sequence[Example], held_out: Sequence[Example]) -> list[str]:
    notes = []
    if copied := sum(number > 1 for number in Counter(text_keys(train)).values()):
        notes.append(f"{_count(copied, 'text stands', 'texts stand')} there more than once.")
        if not held_out:
            notes[-1] += " Copies stay together when a part is set aside: none is learned and measured on as well."
    clashing = _count_clashes(train)
    if clashing:
        notes.append(f"{_count(clashing, 'text has', 'texts have')} two different labels: no model can get both right.")
    if leaked := _count_leaked(train, held_out):
        notes.append(
            f"{leaked:,} of {len(held_out):,} held-out examples also {'stands' if leaked == 1 else 'stand'} among "
            f"those to learn from: the scores will look better than they are. Take them out of one of the two."
        )
    lengths = [max(map(len, text_of(example))) for example in (*train, *held_out)]
    short = sum(length < SHORT_CHARACTERS for length in lengths)
    if short:
        notes.append(f"{_count(short, 'text has', 'texts have')} fewer than {SHORT_CHARACTERS} characters.")
    long = sum(length > LONG_CHARACTERS for length in lengths)
    if long:
        notes.append(
            f"{_count(long, 'text is', 'texts are')} longer than {LONG_CHARACTERS} characters; what is beyond the "
            f"length in tokens is cut off (the longest has {max(lengths):,} characters)."
        )
    return notes


def _count_clashes(examples: Sequence[Example]) -> int:
    labels: dict[tuple[str, ...], set[str]] = {}
    for example in examples:
        if isinstance(example, LabelledText):
            labels.setdefault(tuple(text.casefold() for text in text_of(example)), set()).add(example.label)
    return sum(len(found) > 1 for found in labels.values())


def _names(labels: Sequence[str]) -> str:
    named = ", ".join(f"“{_cut(label)}”" for label in labels[:SHOWN])
    return named + (f" and {len(labels) - SHOWN:,} more" if len(labels) > SHOWN else "")


def _cut(label: str) -> str:
    return label if len(label) <= 40 else label[:39] + "…"


def _count(number: int, one: str, many: str) -> str:
    return f"One {one}" if number == 1 else f"{number:,} {many}"
