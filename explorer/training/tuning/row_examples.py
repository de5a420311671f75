"""One row of cells -> one labelled example, or why it is none."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from explorer.errors import UnsuitableText
from explorer.training.tuning.columns import is_number
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
from explorer.training.tuning.table import Table

SCALES = (1.0, 5.0, 10.0, 100.0)  # of people's judgements of similarity, from 0
NO_LABEL = "-"  # as SNLI marks pairs whose judges did not agree
BIO_TAG = re.compile(r"O|[BI]-\S+")
PREFIXES = {"S": "B", "E": "I", "U": "B", "L": "I"}  # other notations of the same: BIOES, BILOU


class UnusableRow(Exception):
    """A row is no example; says why, and goes on after "row 5 was left out: "."""


def read_words(
    table: Table, chosen: dict[str, tuple[str, ...]], lost: dict[str, list[int]], notes: list[str]
) -> list[tuple[int, str, Example]]:
    """Sentences of rows of one word each; an empty row, a gap in the numbers, ends a sentence.

    Args:
        table: With its numbers.
        chosen: Cells of the columns "words" and "tags", and perhaps "split".
        lost: Gets the sentences that cannot be used, by reason, each by the number of its first row.
        notes: Gets how tags were rewritten.

    Returns:
        Number of the first row, part, example.
    """
    groups: list[list[int]] = []
    for place, number in enumerate(table.numbers):
        if not groups or number != table.numbers[place - 1] + 1:
            groups.append([])
        groups[-1].append(place)
    if len(groups) == 1 and len(groups[0]) > 1:
        raise UnsuitableText(
            f"{table.name} has a word in each row and no empty row: where does a sentence end? Put an empty row after "
            f"each sentence, or a whole sentence with its tags in each row."
        )
    made = []
    for group in groups:
        cells = {key: " ".join(chosen[key][place].strip() or "�" for place in group) for key in ("words", "tags")}
        try:
            if "�" in cells["words"].split() or "�" in cells["tags"].split():
                raise UnusableRow("a word or its tag is empty")
            example = _tagged(cells)
        except UnusableRow as why:
            lost.setdefault(str(why), []).append(table.numbers[group[0]])
        else:
            part = chosen["split"][group[0]] if "split" in chosen else ""
            made.append((table.numbers[group[0]], "".join(filter(str.isalnum, part.casefold())), example))
    return made


def score_scale(cells: Sequence[str], notes: list[str]) -> tuple[float, float]:
    """Least and most of the scale that scores are on, as (0, 5).

    Args:
        cells: The scores, and perhaps cells that are none.
        notes: Gets how they are turned into [0, 1].
    """
    scores = [_number(cell) for cell in cells if is_number(cell)]
    if not scores:
        return 0.0, 1.0
    least, most = min(scores), max(scores)
    if least < 0 and -1 <= least and most <= 1:
        scale = (-1.0, 1.0)
    else:
        top = next((scale for scale in SCALES if most <= scale), most)
        scale = (min(0.0, least), top)
    if scale != (0.0, 1.0):
        notes.append(f"Scores from {scale[0]:g} to {scale[1]:g} are learned as 0 to 1.")
    return scale


def _filled(cells: dict[str, str], key: str, what: str) -> str:
    text = " ".join(cells[key].split())
    if not text:
        raise UnusableRow(f"{what} is empty")
    return text


def _labelled(cells: dict[str, str]) -> Example:
    return LabelledText(_filled(cells, "text", "the text"), _label(cells))


def _pair(cells: dict[str, str]) -> Example:
    premise, hypothesis = _filled(cells, "premise", "the first sentence"), _filled(cells, "hypothesis", "the second")
    return LabelledText(premise, _label(cells), hypothesis)


def _label(cells: dict[str, str]) -> str:
    label = _filled(cells, "label", "the label")
    if label == NO_LABEL:
        raise UnusableRow("the label is “-”")
    return label


def _tagged(cells: dict[str, str]) -> Example:
    words, tags = cells["words"].split(), cells["tags"].split()
    if not words:
        raise UnusableRow("there are no words")
    if len(words) != len(tags):
        raise UnusableRow("there are not as many tags as words")
    if all(tag.isdigit() for tag in tags):
        raise UnusableRow("the tags are numbers; write their names, as in B-PER, I-PER, O")
    return TaggedWords(tuple(words), _as_bio(tags))


def _as_bio(tags: Sequence[str]) -> tuple[str, ...]:
    """Tags as BIO has them: every phrase begins with B; BIOES, BILOU and tags without a prefix are rewritten."""
    is_bare = not any(re.fullmatch(r"[BIESUL][-_]\S+", tag) for tag in tags)
    found: list[str] = []
    for tag in tags:
        before = found[-1] if found else "O"
        if tag in ("O", "_", "o"):
            found.append("O")
            continue
        kind = tag if is_bare else tag[2:]
        prefix = "I" if is_bare else PREFIXES.get(tag[0], tag[0])
        goes_on = prefix == "I" and before[2:] == kind
        found.append(f"{'I' if goes_on else 'B'}-{kind}")
    return tuple(found)


def _answered(cells: dict[str, str]) -> Example:
    question, answer = _filled(cells, "question", "the question"), cells["answer"].strip()
    passage = cells["passage"]
    if not passage.strip():
        raise UnusableRow("the passage is empty")
    if not answer:
        raise UnusableRow("the answer is empty")
    start = cells.get("start", "").strip()
    if start.isdigit() and passage[int(start) :].startswith(answer):
        return AnsweredQuestion(question, passage, answer, int(start))
    place = passage.find(answer)
    if place < 0:
        place = _lowered(passage).find(_lowered(answer))
        if place < 0:
            raise UnusableRow("the answer does not stand in the passage word for word")
        answer = passage[place : place + len(answer)]
    return AnsweredQuestion(question, passage, answer, place)


def _lowered(text: str) -> str:
    """In lower case, character by character, so that places stay what they are."""
    return "".join(low if len(low := character.lower()) == 1 else character for character in text)


def _compared(cells: dict) -> Example:
    if "anchor" in cells:
        return Triplet(*(_filled(cells, key, "a sentence") for key in ("anchor", "positive", "negative")))
    first, second = _filled(cells, "first", "a sentence"), _filled(cells, "second", "a sentence")
    if not is_number(cells["score"]):
        raise UnusableRow("the score is no number")
    least, most = cells["scale"]
    return ScoredPair(first, second, (_number(cells["score"]) - least) / (most - least))


def _plain(cells: dict[str, str]) -> Example:
    return PlainText(_filled(cells, "text", "the text"))


def _rewritten(cells: dict[str, str]) -> Example:
    return TextToText(_filled(cells, "source", "what it reads"), _filled(cells, "target", "what it is to write"))


def _number(cell: str) -> float:
    return float(cell.strip().replace(",", "."))


READERS: dict[str, Callable[[dict], Example]] = {
    "classification": _labelled,
    "pairs": _pair,
    "tagging": _tagged,
    "answers": _answered,
    "similarity": _compared,
    "masked": _plain,
    "causal": _plain,
    "text_to_text": _rewritten,
}


def text_of(example: Example) -> tuple[str, ...]:
    """The texts of an example that a model reads, in order."""
    match example:
        case LabelledText(text, _, second):
            return (text, second) if second else (text,)
        case TaggedWords(words):
            return (" ".join(words),)
        case AnsweredQuestion(question, passage):
            return question, passage
        case Triplet(text, positive, negative):
            return text, positive, negative
        case ScoredPair(text, second):
            return text, second
        case PlainText(text) | TextToText(text):
            return (text,)
    raise TypeError(f"{example!r} is no example")


def all_texts(examples: Iterable[Example]) -> list[str]:
    """The texts of several, each with all its parts in one line."""
    return ["\n".join(text_of(example)) for example in examples]


def text_keys(examples: Iterable[Example]) -> list[str]:
    """The same for examples of the same texts, whatever their capitals, spaces and labels."""
    return [" ".join(text.casefold().split()) for text in all_texts(examples)]
