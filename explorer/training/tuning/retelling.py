"""A table of labelled examples: the way back from what making.make_examples made; importable without torch."""

from __future__ import annotations

from explorer.training.tuning.columns import LAYOUTS, SPLIT
from explorer.training.tuning.examples import (
    AnsweredQuestion,
    Example,
    ExampleSet,
    LabelledText,
    PlainText,
    ScoredPair,
    TaggedWords,
    TextToText,
    Triplet,
)
from explorer.training.tuning.table import Table

LEARNED, MEASURED = "train", "test"


def table_of(examples: ExampleSet) -> Table:
    """The rows that a set can be read from again, with a last column that says which ones are measured on.

    Args:
        examples: At least one.

    Returns:
        Its columns are called after the roles of the task, so that guess_columns finds them.
    """
    marked = [(one, LEARNED) for one in examples.train] + [(one, MEASURED) for one in examples.held_out]
    rows = tuple((*_cells(one), part) for one, part in marked)
    layouts = LAYOUTS[examples.task]
    layout = layouts[1] if isinstance(marked[0][0], ScoredPair) else layouts[0]
    columns = tuple(role.key for role in layout if role is not SPLIT)
    return Table(examples.name, (*columns, SPLIT.key), rows, tuple(range(1, len(rows) + 1)))


def _cells(example: Example) -> tuple[str, ...]:
    match example:
        case LabelledText(text, label, second):
            return (text, second, label) if second else (text, label)
        case TaggedWords(words, tags):
            return " ".join(words), " ".join(tags)
        case AnsweredQuestion(question, passage, answer, start):
            return question, passage, answer, str(start)
        case Triplet(text, positive, negative):
            return text, positive, negative
        case ScoredPair(text, second, score):
            return text, second, repr(score)
        case PlainText(text):
            return (text,)
        case TextToText(text, target):
            return text, target
    raise TypeError(f"{example!r} is no example")
