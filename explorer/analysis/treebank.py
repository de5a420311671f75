"""Sentences with their grammar: which word depends on which, and how. Free of torch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from explorer.settings import ASSETS

OWN_SENTENCES = ASSETS / "treebank" / "sentences.txt"
NO_SPACE_BEFORE = frozenset(".,;:?!") | {"'s"}
ROOT = 0


@dataclass(frozen=True)
class ParsedSentence:
    """A sentence, and the tree of its words.

    Attributes:
        words: Punctuation marks included.
        heads: Of each word, the place of the word it depends on, counted from 1; 0 = it is the root.
        relations: Of each word, how it depends, e.g. "nsubj".
        text: The sentence as written.
        spans: Of each word, where it stands in the text: start and end (exclusive), in characters.
    """

    words: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]
    text: str
    spans: tuple[tuple[int, int], ...]


@cache
def read_own_sentences() -> tuple[ParsedSentence, ...]:
    """The sentences that ship, written and annotated for this project."""
    return read_compact(OWN_SENTENCES.read_text(encoding="utf-8").splitlines())


def read_compact(lines: Iterable[str]) -> tuple[ParsedSentence, ...]:
    """Sentences written one a line, each word as word/head/relation; empty lines and those with # are skipped.

    Raises:
        ValueError: A sentence is not a tree; the message says which.
    """
    sentences = []
    for line in lines:
        if line.strip() and not line.startswith("#"):
            cells = [word.rsplit("/", 2) for word in line.split()]
            words = [word for word, _, _ in cells]
            spaced = [word not in NO_SPACE_BEFORE for word in words[1:]] + [False]
            sentences.append(_parse(words, [int(head) for _, head, _ in cells], [cell[2] for cell in cells], spaced))
    return tuple(sentences)


def read_conllu(lines: Iterable[str]) -> tuple[ParsedSentence, ...]:
    """Sentences in the CoNLL-U format of Universal Dependencies.

    The words of a contraction such as "don't", which stands in a line of its own (1-2), follow each other without a
    space; empty nodes (8.1) are no words of the sentence, and are left out.

    Raises:
        ValueError: A line or a tree cannot be read; the message says which.

    Source: https://universaldependencies.org/format.html
    """
    sentences = []
    rows: list[list[str]] = []
    joined: dict[int, tuple[int, bool]] = {}  # by its first word: the last word of a contraction, a space behind it
    for line in [*lines, ""]:
        cells = line.rstrip("\r\n").split("\t")
        if line.startswith("#"):
            continue
        if cells == [""]:
            if rows:
                sentences.append(_from_rows(rows, joined))
            rows, joined = [], {}
        elif len(cells) != 10:
            raise ValueError(f"a line of CoNLL-U has 10 columns, and this has {len(cells)}: {line!r}")
        elif "-" in cells[0]:
            first, last = cells[0].split("-")
            joined[int(first)] = (int(last), "SpaceAfter=No" not in cells[9])
        elif "." not in cells[0]:
            rows.append(cells)
    return tuple(sentences)


def _from_rows(rows: list[list[str]], joined: dict[int, tuple[int, bool]]) -> ParsedSentence:
    spaced = ["SpaceAfter=No" not in row[9] for row in rows]
    for first, (last, is_spaced) in joined.items():
        spaced[first - 1 : last] = [False] * (last - first) + [is_spaced]
    return _parse([row[1] for row in rows], [int(row[6]) for row in rows], [row[7] for row in rows], spaced)


def _parse(words: list[str], heads: list[int], relations: list[str], spaced: list[bool]) -> ParsedSentence:
    text, spans = "", []
    for word, is_spaced in zip(words, spaced, strict=True):
        spans.append((len(text), len(text) + len(word)))
        text += word + " " * is_spaced
    _check_tree(heads, relations, text)
    return ParsedSentence(tuple(words), tuple(heads), tuple(relations), text.rstrip(), tuple(spans))


def _check_tree(heads: list[int], relations: list[str], text: str) -> None:
    """Refuse what is no tree with one root."""
    if [relation == "root" for relation in relations] != [head == ROOT for head in heads] or heads.count(ROOT) != 1:
        raise ValueError(f"a sentence has one root, whose head is 0: {text!r}")
    for start in range(1, len(heads) + 1):
        word, steps = start, 0
        while word != ROOT:
            if not 0 <= word <= len(heads) or steps > len(heads):
                raise ValueError(f"word {start} hangs on no root: {text!r}")
            word, steps = heads[word - 1], steps + 1
