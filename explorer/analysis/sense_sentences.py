"""Sentences whose use of one word is labelled with its sense, and how far words alone give the sense away.

A model that tells the senses of a word apart by its vectors has shown something only where the words around it do not
tell: the baselines here say how much they do.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from explorer.analysis.word_bags import DECIMALS, weigh_words
from explorer.errors import UnsuitableText, quoted
from explorer.settings import ASSETS

FOLDER = ASSETS / "sentences"
HEADER = "sense\tsentence"
USE = re.compile(r"[^{}]*\{([^{}]+)\}[^{}]*")


@dataclass(frozen=True)
class SenseSentence:
    """A sentence with one marked use of a word.

    Attributes:
        word: The word, as in a dictionary.
        sense: Short name of what it means here.
        sentence: The sentence, as it is read.
        start: Where the use starts, in characters.
        end: Where it ends, exclusive, in characters.
    """

    word: str
    sense: str
    sentence: str
    start: int
    end: int

    @property
    def form(self) -> str:
        """The use as it is written, e.g. "Played"."""
        return self.sentence[self.start : self.end]


def sense_words() -> tuple[str, ...]:
    """The words that have sentences here, in alphabetical order."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.tsv")))


def read_sense_sentences(word: str) -> tuple[SenseSentence, ...]:
    """The labelled sentences of a word, in the order of its file.

    Raises:
        UnsuitableText: There are none of this word.
        ValueError: A line of the file is not a sense and a sentence with one use in braces; the message names it.
    """
    words = sense_words()
    if word not in words:
        raise UnsuitableText(f"There are no labelled sentences of {quoted(word)}. Choose one of: {', '.join(words)}.")
    path = FOLDER / f"{word}.tsv"
    header, *lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    if header != HEADER:
        raise ValueError(f"{path.name} starts with {header!r} and not with {HEADER!r}")
    return tuple(_read_line(word, line, f"{path.name}, line {number}") for number, line in enumerate(lines, 2))


def _read_line(word: str, line: str, place: str) -> SenseSentence:
    sense, separator, marked = line.partition("\t")
    use = USE.fullmatch(marked)
    if not (sense and separator and use) or "\t" in marked:
        raise ValueError(f"{place} is not a sense, a tab, and a sentence with one use in braces: {line!r}")
    start, end = use.span(1)
    return SenseSentence(word, sense, marked.replace("{", "").replace("}", ""), start - 1, end - 1)


def measure_chance(sentences: Sequence[SenseSentence]) -> float:
    """Share of senses that a blind guess gets right: one in how many senses there are, in (0, 1].

    Raises:
        ValueError: There are no sentences.
    """
    return 1 / len(_count_senses(sentences))


def measure_most_frequent_sense(sentences: Sequence[SenseSentence]) -> float:
    """Share of sentences that have the most frequent sense, in (0, 1].

    Raises:
        ValueError: There are no sentences.
    """
    return max(_count_senses(sentences).values()) / len(sentences)


def measure_bag_of_words(sentences: Sequence[SenseSentence]) -> float:
    """Share of sentences whose sense the words around the use give away, in [0, 1].

    Raises:
        ValueError: There are no sentences.
    """
    guesses = guess_by_bag_of_words(sentences)
    return sum(guess == entry.sense for guess, entry in zip(guesses, sentences, strict=True)) / len(sentences)


def guess_by_bag_of_words(sentences: Sequence[SenseSentence]) -> tuple[str, ...]:
    """The sense of each sentence by its words alone: the nearest centroid of the other sentences, by cosine.

    A sentence is the bag of its casefolded words and punctuation marks without the use itself, each weighed by the
    logarithm of how rare it is among these sentences, at length 1. A sentence that shares no word with any other gets
    the sense that most of the others have.

    Args:
        sentences: Of one word.

    Returns:
        One sense per sentence, of those that the others have; "" if there are no others.

    Raises:
        ValueError: There are no sentences.
    """
    counts = _count_senses(sentences)
    senses = list(counts)
    bags = weigh_words([entry.sentence for entry in sentences], [(entry.start, entry.end) for entry in sentences])
    sums = np.zeros((len(senses), bags.columns))
    for entry, (columns, weights) in zip(sentences, bags.rows, strict=True):
        sums[senses.index(entry.sense), columns] += weights
    guesses = []
    for entry, (columns, weights) in zip(sentences, bags.rows, strict=True):
        own = senses.index(entry.sense)
        sums[own, columns] -= weights
        others = [number - (index == own) for index, number in enumerate(counts.values())]
        lengths = np.sqrt((sums * sums).sum(axis=1))
        cosines = np.divide(sums[:, columns] @ weights, lengths, out=np.zeros(len(senses)), where=lengths > 1e-9)
        # The first decimals decide: what is left of a token after subtracting is zero only within rounding.
        ranked = [(round(float(cosine), DECIMALS), number) for cosine, number in zip(cosines, others, strict=True)]
        best = max(range(len(senses)), key=lambda index: (others[index] > 0, ranked[index]))
        guesses.append(senses[best] if others[best] else "")
        sums[own, columns] += weights
    return tuple(guesses)


def _count_senses(sentences: Sequence[SenseSentence]) -> Counter[str]:
    if not sentences:
        raise ValueError("there are no sentences to count senses of")
    return Counter(entry.sense for entry in sentences)
