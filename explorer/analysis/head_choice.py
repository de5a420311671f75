"""Which heads a visitor means, in words that a shell and a link can hold: "3-5" is head 5 of layer 3. Free of torch."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from explorer.analysis.ablation_results import Head
from explorer.analysis.blanks import check_characters
from explorer.errors import UnsuitableText

WORD = re.compile(r"(?:(encoder|decoder|cross)-)?([0-9]{1,4})(?:-([0-9]{1,4}))?")
Counts = Mapping[str, tuple[int, int]]  # layers and heads of each stack


def every_head(counts: Counts) -> list[Head]:
    """All heads of a model, in the order of its layers."""
    return [
        (stack, layer, head)
        for stack, (layers, heads) in counts.items()
        for layer in range(layers)
        for head in range(heads)
    ]


def read_heads(
    words: Iterable[str | Sequence[str | int]] | str, counts: Counts, *, skips_unknown: bool = False
) -> tuple[Head, ...]:
    """The heads that are meant, each once, in the order of the layers.

    Args:
        words: Each "3-5" (layer 3, head 5), "3" (all of layer 3) or the same behind a stack ("decoder-3-5"), counted
            from 1; or stack, layer and head, counted from 0, as in results.
        counts: Of the model; where no stack is named, its first is meant.
        skips_unknown: Whether heads that the model lacks are passed over.

    Raises:
        UnsuitableText: There is no such head, and the message says which there are; or the words are too long.
    """
    known = every_head(counts)
    meant: set[Head] = set()
    for word in _words(words):
        found = _read(word, counts)
        if skips_unknown:
            found &= set(known)
        elif not found or not found <= set(known):
            raise UnsuitableText(f"The model has no head {_spelled(word)!r}. It has {there_are(counts)}. {EXAMPLE}")
        meant |= found
    return tuple(head for head in known if head in meant)


def name_lacking(words: str, counts: Counts) -> list[str]:
    """Those of the words that mean no head of a model, as they were written; arguments as of read_heads."""
    known = set(every_head(counts))
    return [word for word in _words(words) if not _read(word, counts) & known]


EXAMPLE = "Write 3-5 for head 5 of layer 3, or 3 for all of layer 3."


def head_words(heads: Iterable[Head]) -> str:
    """Heads as a link holds them; the opposite of read_heads."""
    return ",".join(f"{stack}-{layer + 1}-{head + 1}" for stack, layer, head in heads)


def _words(words: Iterable[str | Sequence[str | int]] | str) -> Iterable[str | Sequence[str | int]]:
    if not isinstance(words, str):
        return words
    check_characters(words)
    return re.split(r"[\s,;]+", words.strip()) if words.strip() else []


def _read(word: str | Sequence[str | int], counts: Counts) -> set[Head]:
    if not isinstance(word, str):
        stack, layer, head = word if len(word) == 3 else ("", 0, 0)
        return {(str(stack), int(layer), int(head))}
    match = WORD.fullmatch(word.strip())
    if not match:
        return set()
    stack, layer, head = match.groups()
    stack = stack or next(iter(counts))
    heads = range(counts.get(stack, (0, 0))[1]) if head is None else [int(head) - 1]
    return {(stack, int(layer) - 1, each) for each in heads}


def _spelled(word: object) -> str:
    return str(word)[:40]


def there_are(counts: Counts) -> str:
    """Which layers and heads a model has."""
    parts = [
        f"layers 1 to {layers} of the {stack}, heads 1 to {heads} in each" for stack, (layers, heads) in counts.items()
    ]
    return "; ".join(parts)
