"""Examples to start from, of the kinds that lectures use; each one click."""

from collections import Counter
from dataclasses import dataclass

from explorer.analysis.words import split_words
from explorer.settings import settings
from explorer.tabs.gallery import read_examples


@dataclass(frozen=True)
class Example:
    """One example.

    Attributes:
        kind: What it asks of the model, e.g. "agreement".
        label: On its button.
        text: With blanks.
        candidates: One line per blank, separated by commas.
        other: A second sentence to compare with.
        view: Id of the view that makes its point.
        look_for: What to look for there.
        note: What to know before pressing it.
    """

    kind: str
    label: str
    text: str
    candidates: str
    other: str
    view: str
    look_for: str
    note: str = ""


def read_gallery() -> tuple[Example, ...]:
    """The examples in page order; the first is the one the page opens on."""
    return read_examples("fill_blanks", Example)


def follow_example(
    examples: tuple[Example, ...], text: str, candidates: str, other: str, given: Example
) -> tuple[str, str, Example]:
    """What belongs to an example leaves when more than a few words of its sentence change, and comes back with it.

    What the visitor typed stays.

    Args:
        examples: All of them.
        text: The sentence as it is now.
        candidates: Those in the box.
        other: The second sentence in the box.
        given: The example that filled the boxes last.

    Returns:
        The candidates, the second sentence, and the example that now fills the boxes.
    """
    now = next((example for example in examples if example.text == text), None)
    if now is None and _is_edit_of(text, given.text):
        return candidates, other, given
    is_candidates_its_own = candidates in ("", given.candidates)
    is_other_its_own = other in ("", given.other)
    return (
        (now.candidates if now else "") if is_candidates_its_own else candidates,
        (now.other if now else "") if is_other_its_own else other,
        now or given,
    )


def _is_edit_of(text: str, before: str) -> bool:
    """Whether a few words were changed: as many blanks, and most words are still there."""
    if len(text) > settings().longest_text_characters:
        return False
    now, then = split_words(text), split_words(before)
    if sum(word.is_blank for word in now) != sum(word.is_blank for word in then):
        return False
    counts = [Counter(word.text.casefold() for word in words if not word.is_blank) for words in (now, then)]
    return 2 * (counts[0] & counts[1]).total() > max(counts[0].total(), counts[1].total())
