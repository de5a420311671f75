"""What a model is fine-tuned on: one labelled example of each task, and a set of them; importable without torch."""

import re
from dataclasses import dataclass

ABBREVIATED = re.compile(r"[A-Z]|(?:\w\.)+\w")  # an initial, U.S


@dataclass(frozen=True)
class LabelledText:
    """A sentence, or two, and what it is.

    Attributes:
        text: The sentence; of a pair the premise.
        label: Its class.
        second_text: Of a pair the hypothesis; "" = there is none.
    """

    text: str
    label: str
    second_text: str = ""


@dataclass(frozen=True)
class TaggedWords:
    """A sentence whose words are tagged.

    Attributes:
        words: In order.
        tags: In BIO notation ("B-PER", "I-PER", "O"); parallel to words.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]


def split_words(text: str) -> tuple[str, ...]:
    """A sentence as the words of TaggedWords: punctuation at a word's edge stands by itself, as in CoNLL-2003.

    Args:
        text: "Ada (of London) met J. Smith." gives "Ada", "(", "of", "London", ")", "met", "J.", "Smith", ".".

    Source: Tjong Kim Sang and De Meulder 2003, https://aclanthology.org/W03-0419
    """
    words: list[str] = []
    for chunk in text.split():
        letters = [place for place, character in enumerate(chunk) if character.isalnum() or character == "_"]
        first, end = (letters[0], letters[-1] + 1) if letters else (len(chunk), len(chunk))
        before, word, after = chunk[:first], chunk[first:end], chunk[end:]
        if after.startswith(".") and ABBREVIATED.fullmatch(word):
            word, after = f"{word}.", after[1:]
        words += [*_marks(before), *([word] if word else []), *_marks(after)]
    return tuple(words)


def _marks(text: str) -> list[str]:
    """One mark each; several of the same are one."""
    return [found.group() for found in re.finditer(r"(.)\1*", text)]


@dataclass(frozen=True)
class AnsweredQuestion:
    """A question that a passage answers in its own words.

    Attributes:
        question: The question.
        passage: Where the answer stands.
        answer: Part of the passage, word for word.
        start: Where the answer begins, in characters of the passage.
    """

    question: str
    passage: str
    answer: str
    start: int


@dataclass(frozen=True)
class Triplet:
    """Three sentences, two of which mean the same or nearly so.

    Attributes:
        text: The sentence that the others are compared with.
        positive: Means nearly the same.
        negative: Means something else.
    """

    text: str
    positive: str
    negative: str


@dataclass(frozen=True)
class ScoredPair:
    """Two sentences, and how similar people find them.

    Attributes:
        text: The one.
        second_text: The other.
        score: In [0, 1]; 1 = they mean the same.
    """

    text: str
    second_text: str
    score: float


@dataclass(frozen=True)
class PlainText:
    """A text of the domain that a model is to learn."""

    text: str


@dataclass(frozen=True)
class TextToText:
    """What an encoder-decoder reads and what it is to write.

    Attributes:
        text: What it reads, without the prefix.
        target: What it is to write.
    """

    text: str
    target: str


Example = LabelledText | TaggedWords | AnsweredQuestion | Triplet | ScoredPair | PlainText | TextToText


@dataclass(frozen=True)
class ExampleSet:
    """Examples of one task.

    Attributes:
        name: Of the file, or of our own set.
        task: A key of TASKS.
        train: To learn from.
        held_out: To measure on; () = a part of train is set aside.
        notes: What was left out or changed on reading, and why.
    """

    name: str
    task: str
    train: tuple[Example, ...]
    held_out: tuple[Example, ...] = ()
    notes: tuple[str, ...] = ()
