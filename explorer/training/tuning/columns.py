"""Which column of a table means what, by its name and by what stands in it; importable without torch."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from explorer.errors import UnsuitableText
from explorer.training.tuning.recipe import TASKS
from explorer.training.tuning.table import Table

LEAST_FILLED = 0.5  # of the cells of a column, for a guess that it matters
LOOKED_AT = 500  # rows, to guess
MOST_LABELS = 60  # different ones among those rows, for a column to be taken for one of labels
LONGEST_LABEL_CHARACTERS = 60
TAG = re.compile(r"[OBIES]|[BIES][-_]\S+|\d{1,2}")
ID_NAMES = frozenset({"id", "idx", "index", "number", "no", "nr", "row", "guid", "pairid", "uid", "unnamed0"})
SPLIT_NAMES = ("split", "set", "part", "fold", "subset", "partition")


@dataclass(frozen=True)
class Role:
    """What a column can be.

    Attributes:
        key: As make_examples takes it.
        label: For the page.
        names: What such columns are called, in small letters and figures only.
        is_needed: Whether there are no examples without it.
    """

    key: str
    label: str
    names: tuple[str, ...]
    is_needed: bool = True


TEXT_NAMES = ("text", "sentence", "sentences", "texts", "review", "comment", "tweet", "utterance", "content", "body",
              "message", "title", "line")  # fmt: skip
LABEL_NAMES = ("label", "labels", "class", "category", "sentiment", "polarity", "intent", "goldlabel", "labeltext",
               "target", "topic", "sense", "y")  # fmt: skip
QUESTION, ANSWER = ("question", "query"), ("answer", "answers", "answerstext", "answertext", "span")
SPLIT = Role("split", "Part (train, held-out)", SPLIT_NAMES, is_needed=False)
TEXT = Role("text", "Sentence", TEXT_NAMES)
LABEL = Role("label", "Label", LABEL_NAMES)
FIRST_NAMES = ("sentence1", "sentencea", "text1", "texta", "first", "s1", "question1", "a")
SECOND_NAMES = ("sentence2", "sentenceb", "text2", "textb", "second", "s2", "question2", "b")
PLAIN_TEXT = Role("text", "Text", TEXT_NAMES)
LAYOUTS: dict[str, tuple[tuple[Role, ...], ...]] = {  # task -> the ways in which its examples can stand in columns
    "classification": ((TEXT, LABEL, SPLIT),),
    "pairs": (
        (
            Role("premise", "First sentence (premise)", ("premise", *FIRST_NAMES)),
            Role("hypothesis", "Second sentence (hypothesis)", ("hypothesis", *SECOND_NAMES)),
            LABEL,
            SPLIT,
        ),
    ),
    "tagging": (
        (
            Role("words", "Words", ("words", "word", "tokens", "token", "text", "sentence", "form")),
            Role("tags", "Tags", ("tags", "tag", "nertags", "ner", "labels", "label", "bio", "entity", "entities")),
            SPLIT,
        ),
    ),
    "answers": (
        (
            Role("question", "Question", QUESTION),
            Role("passage", "Passage", ("passage", "context", "paragraph", "text", "document", "article")),
            Role("answer", "Answer", ANSWER),
            Role("start", "Where it starts", ("answerstart", "answersanswerstart", "start", "startposition"),
                 is_needed=False),
            SPLIT,
        ),
    ),
    "similarity": (
        (
            Role("anchor", "Sentence", ("anchor", "query", "text", "sentence")),
            Role("positive", "Means the same", ("positive", "pos", "paraphrase", "similar")),
            Role("negative", "Means something else", ("negative", "neg", "hardnegative", "different")),
            SPLIT,
        ),
        (
            Role("first", "First sentence", FIRST_NAMES),
            Role("second", "Second sentence", SECOND_NAMES),
            Role("score", "Score", ("score", "similarity", "similarityscore", "relatednessscore", "label", "gold",
                                    "rating", "mean")),
            SPLIT,
        ),
    ),
    "masked": ((PLAIN_TEXT, SPLIT),),
    "causal": ((PLAIN_TEXT, SPLIT),),
    "text_to_text": (
        (
            Role("source", "What it reads", ("source", "input", "inputs", "inputtext", "src", "from", "text",
                                             "statement", "prompt", "document", "article")),
            Role("target", "What it is to write", ("target", "output", "outputs", "targettext", "tgt", "to", "summary",
                                                   "completion", "response", "rewritten", "highlights")),
            SPLIT,
        ),
    ),
}  # fmt: skip


SENTENCES = (("premise", "hypothesis"), ("first", "second"))  # where no name tells: the two longest, as they stand


def known_names() -> frozenset[str]:
    """All names that some column of some task may have; numbered ones also with what people put before the number."""
    names = {name for layouts in LAYOUTS.values() for layout in layouts for role in layout for name in role.names}
    spaced = {re.sub(r"([a-z])([12ab])$", rf"\1{mark}\2", name) for name in names for mark in "_ "}
    return frozenset(names | spaced | {"gold_label", "answer_start", "ner_tags"})


def tidy_name(name: str) -> str:
    """A column's name by its small letters and figures only."""
    return "".join(filter(str.isalnum, name.casefold()))


def guess_columns(table: Table, task: str) -> dict[str, str]:
    """Which column of a table means what.

    Args:
        table: As it was read.
        task: A key of TASKS.

    Returns:
        Role.key -> name of a column, for every role that is needed and those of the others that a name tells; the
        caller may choose others.

    Raises:
        UnsuitableText: There are too few columns for this task; the message says what it needs.
    """
    layouts = LAYOUTS[task]
    for layout in layouts:
        named = _by_names(table, layout)
        if all(role.key in named for role in layout if role.is_needed):
            return named
    fewest = min(sum(role.is_needed for role in layout) for layout in layouts)
    usual = [name for name in table.columns if tidy_name(name) not in (*ID_NAMES, *SPLIT_NAMES)]
    columns = usual if len(usual) >= fewest else list(table.columns)
    if len(columns) < fewest:
        raise UnsuitableText(_too_few(table, task))
    shapes = {name: _Shape(table, name) for name in columns}
    full = [name for name in columns if shapes[name].filled_share >= LEAST_FILLED]
    columns = full if len(full) >= fewest else columns
    layout = layouts[0]
    if len(layouts) > 1 and any(shape.is_numeric for shape in shapes.values()):
        layout = layouts[1]
    found = _by_names(table, layout)
    for role in [role for role in layout if role.is_needed]:
        if role.key not in found:
            free = [name for name in columns if name not in found.values()]
            if not free:
                raise UnsuitableText(_too_few(table, task))
            found[role.key] = _ORDERS.get(role.key, _longest)(free, shapes, found)
    named = _by_names(table, layout)
    for both in SENTENCES:
        if all(key in found and key not in named for key in both):
            found.update(zip(both, sorted((found[key] for key in both), key=table.columns.index), strict=True))
    return {role.key: found[role.key] for role in layout if role.key in found}


def layout_of(task: str, columns: dict[str, str]) -> tuple[Role, ...]:
    """The layout that a choice of columns is made for: that with the most of its keys."""
    return max(LAYOUTS[task], key=lambda layout: sum(role.key in columns for role in layout))


class _Shape:
    """What the cells of a column are like."""

    def __init__(self, table: Table, name: str) -> None:
        cells = [cell.strip() for cell in table.column(name)[:LOOKED_AT]]
        filled = [cell for cell in cells if cell]
        self.filled_share = len(filled) / max(1, len(cells))
        self.place = table.columns.index(name)
        self.mean_length = sum(map(len, filled)) / max(1, len(filled))
        self.different = len(set(filled))
        self.is_numeric = bool(filled) and all(is_number(cell) for cell in filled)
        self.is_short = bool(filled) and max(map(len, filled)) <= LONGEST_LABEL_CHARACTERS
        self.is_label = self.is_short and self.different <= min(MOST_LABELS, max(2, len(filled) // 2))
        self.questions = sum(cell.endswith("?") for cell in filled) / max(1, len(filled))
        self.tags = sum(all(TAG.fullmatch(tag) for tag in cell.split()) for cell in filled) / max(1, len(filled))


def is_number(cell: str) -> bool:
    """Whether a cell is a number, with a point or a comma before its decimals."""
    return bool(re.fullmatch(r"[+-]?\d{1,9}(?:[.,]\d+)?(?:[eE][+-]?\d+)?", cell.strip()))


Order = Callable[[Sequence[str], dict[str, _Shape], dict[str, str]], str]


def _longest(free: Sequence[str], shapes: dict[str, _Shape], found: dict[str, str]) -> str:
    return max(free, key=lambda name: (shapes[name].mean_length, -shapes[name].place))


def _first(free: Sequence[str], shapes: dict[str, _Shape], found: dict[str, str]) -> str:
    return free[0]


def _label(free: Sequence[str], shapes: dict[str, _Shape], found: dict[str, str]) -> str:
    return max(free, key=lambda name: (shapes[name].is_label, -shapes[name].mean_length))


def _score(free: Sequence[str], shapes: dict[str, _Shape], found: dict[str, str]) -> str:
    return max(free, key=lambda name: (shapes[name].is_numeric, -shapes[name].mean_length))


def _tags(free: Sequence[str], shapes: dict[str, _Shape], found: dict[str, str]) -> str:
    return max(free, key=lambda name: (shapes[name].tags, shapes[name].place))


def _words(free: Sequence[str], shapes: dict[str, _Shape], found: dict[str, str]) -> str:
    return min(free, key=lambda name: (shapes[name].tags, shapes[name].place))


def _question(free: Sequence[str], shapes: dict[str, _Shape], found: dict[str, str]) -> str:
    return max(free, key=lambda name: (shapes[name].questions, -shapes[name].mean_length))


def _text_but_label(free: Sequence[str], shapes: dict[str, _Shape], found: dict[str, str]) -> str:
    """The longest, and of a table of short texts not the one that looks like labels."""
    return max(free, key=lambda name: (not shapes[name].is_label, shapes[name].mean_length))


_ORDERS: dict[str, Order] = {
    "label": _label,
    "score": _score,
    "tags": _tags,
    "words": _words,
    "question": _question,
    "text": _text_but_label,
    "premise": _text_but_label,
    "hypothesis": _text_but_label,
    "anchor": _first,
    "positive": _first,
    "negative": _first,
    "first": _text_but_label,
    "second": _text_but_label,
    "source": _first,
    "target": _first,
}


def _by_names(table: Table, layout: Sequence[Role]) -> dict[str, str]:
    """Columns whose names tell; a column has one role, and the more telling name of a role goes first."""
    tidy = {tidy_name(column): column for column in reversed(table.columns)}
    found: dict[str, str] = {}
    for role in layout:
        called = next((tidy[name] for name in role.names if name in tidy and tidy[name] not in found.values()), None)
        if called is not None:
            found[role.key] = called
    return found


def _too_few(table: Table, task: str) -> str:
    needs = " or ".join(
        ", ".join(role.label.lower() for role in layout if role.is_needed) for layout in LAYOUTS[task]
    )  # fmt: skip
    has = "one column" if len(table.columns) == 1 else f"{len(table.columns)} columns"
    return (
        f"{table.name} has {has}, and “{TASKS[task]}” needs these: {needs}. Put a tab, a comma or a semicolon between "
        f"them; with commas, a text that holds commas itself stands in quotation marks."
    )
