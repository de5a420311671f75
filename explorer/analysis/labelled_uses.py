"""The uses of a word that are to be embedded, from whatever a visitor has: sentences, marked ones, labelled ones."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from explorer.analysis.blanks import check_characters, quoted
from explorer.analysis.embedding_results import Span
from explorer.analysis.sense_sentences import HEADER, USE, read_sense_sentences, sense_words
from explorer.analysis.uses import find_uses
from explorer.errors import UnsuitableText
from explorer.settings import settings

FOREIGN = "(German)"

LONGEST_SENSE_CHARACTERS = 40  # of one that " | " parts from its sentence
MOST_FORMS = 50


@dataclass(frozen=True)
class LabelledUses:
    """Uses as embed_occurrences and score_senses take them.

    Attributes:
        sentences: One for each use.
        positions: Where each stands, in characters.
        senses: Its sense; "" = none was given.
        without: How many sentences had no use, and were left out.
    """

    sentences: tuple[str, ...]
    positions: tuple[Span, ...]
    senses: tuple[str, ...]
    without: int = 0


def shipped_uses(word: str) -> LabelledUses:
    """The labelled sentences of a word that come with the explorer.

    Raises:
        UnsuitableText: There are none of this word.
    """
    entries = read_sense_sentences(word)
    return LabelledUses(
        tuple(entry.sentence for entry in entries),
        tuple((entry.start, entry.end) for entry in entries),
        tuple(entry.sense for entry in entries),
    )


def gather_uses(
    sentences: Iterable[str], word: str = "", *, senses: Sequence[str] = (), forms: Sequence[str] = ()
) -> LabelledUses:
    """The uses of a word in sentences, read one after another.

    Args:
        sentences: In each the use may stand in braces, "a {play} in three acts"; otherwise all uses of the word are
            taken. Its sense may stand before it, as split_sense finds it; a first line of "sense", a tab and "sentence"
            is skipped, and so are empty lines.
        word: To be looked for; it may be "" where each use is marked.
        senses: One for each sentence, instead of those before the tabs.
        forms: Of the word, that count as uses, too.

    Raises:
        UnsuitableText: There is no use, there are too many, or a sentence cannot be read; the message says which.
    """
    if isinstance(sentences, str):
        raise UnsuitableText("Give a list of sentences.")
    found: list[tuple[str, Span, str]] = []
    count = without = 0
    for number, line in enumerate(sentences, start=1):
        try:
            check_characters(line)
            line = line.rstrip("\r\n")
            if not line.strip() or (number == 1 and line == HEADER):
                continue
            if senses and count >= len(senses):
                raise UnsuitableText("There are more sentences than senses. Give one sense for each.")
            sense, text = split_sense(line)
            here, text = _uses_in(text, word, forms)
        except UnsuitableText as error:
            raise UnsuitableText(f"Sentence {number}: {error}") from None
        found += [(text, span, senses[count] if senses else sense) for span in here]
        count += 1
        without += not here
        if len(found) > settings().most_uses:
            raise UnsuitableText(f"There are more than {settings().most_uses:,} uses. Give fewer sentences.")
    if count < len(senses):
        raise UnsuitableText(f"There are {count} sentences and {len(senses)} senses. Give one sense for each.")
    if not found:
        asked = quoted(word) if word else "A use in braces"
        raise UnsuitableText(f"{asked} is in none of the {count:,} sentences. Look for another word or form of it.")
    return LabelledUses(*(tuple(column) for column in zip(*found, strict=True)), without)


def pick_uses(uses: LabelledUses, numbers: Sequence[int]) -> LabelledUses:
    """Some of the uses, in the order of their numbers, which count from 0."""
    columns = (uses.sentences, uses.positions, uses.senses)
    return LabelledUses(*(tuple(column[number] for number in numbers) for column in columns), uses.without)


def foreign_senses(uses: LabelledUses) -> tuple[str, ...]:
    """The senses of another language: their labels end with "(German)", as those of "die" do."""
    return tuple(sense for sense in dict.fromkeys(uses.senses) if sense.endswith(FOREIGN))


def leave_out(uses: LabelledUses, senses: Collection[str]) -> LabelledUses:
    """The uses without those of some senses: German sentences, say, which a model knows by all their other words.

    Args:
        uses: Labelled.
        senses: Which to leave out; each must be there.

    Raises:
        UnsuitableText: There is no such sense, or nothing is left.
    """
    if len(uses.senses) != len(uses.sentences):
        raise UnsuitableText(f"There are {len(uses.sentences):,} uses: give a list with one sense for each.")
    unknown = [sense for sense in senses if sense not in uses.senses]
    if isinstance(senses, str) or unknown:
        known = ", ".join(sense for sense in dict.fromkeys(uses.senses) if sense)
        which = quoted(unknown[0]) if unknown else repr(senses)
        raise UnsuitableText(f"No use has the sense {which}. There are: {known or 'none'}.")
    kept = [number for number, sense in enumerate(uses.senses) if sense not in senses]
    if not kept:
        raise UnsuitableText("No use is left. Leave out fewer senses.")
    return pick_uses(uses, kept)


def split_sense(line: str) -> tuple[str, str]:
    """The sense that stands before a sentence, and the sentence.

    Args:
        line: A sense, a tab and a sentence; or, as no tab can be typed in a browser, a short sense, " | " and a
            sentence; or a sentence alone, whose sense is "".
    """
    before, separator, after = line.partition("\t")
    if not separator:
        before, separator, after = line.partition(" | ")
        if len(before) > LONGEST_SENSE_CHARACTERS:
            return "", line
    return (before.strip(), after) if separator else ("", line)


def join_sense(sense: str, sentence: str) -> str:
    """The line that split_sense takes apart again; a sentence with " | " in it gets an empty sense before it."""
    return f"{sense}\t{sentence}" if sense or split_sense(sentence)[0] else sentence


def choose_uses(
    word: str, sentences: Sequence[str] | None, *, senses: Sequence[str] = (), forms: Sequence[str] = ()
) -> LabelledUses:
    """Those of the visitor's sentences, or else those that come with the explorer.

    Args:
        word: As gather_uses takes it.
        sentences: Likewise; None or none = the shipped ones of the word.
        senses: Likewise.
        forms: Likewise; at most MOST_FORMS.

    Raises:
        UnsuitableText: As both do, or there are too many forms.
    """
    if not isinstance(word, str) or any(
        isinstance(some, str) or not isinstance(some, Sequence) for some in (senses, forms)
    ):
        raise UnsuitableText("Give the word as a string, and senses and forms as lists.")
    if len(forms) > MOST_FORMS:
        raise UnsuitableText(f"There are {len(forms):,} forms of the word; at most {MOST_FORMS} are looked for.")
    if sentences:
        return gather_uses(sentences, word, senses=senses, forms=forms)
    if word not in sense_words():
        known = ", ".join(sense_words())
        raise UnsuitableText(f"There are no sentences. Give some, or choose a word that has its own: {known}.")
    return shipped_uses(word)


def _uses_in(text: str, word: str, forms: Sequence[str]) -> tuple[tuple[Span, ...], str]:
    """The uses of a sentence, and the sentence without braces."""
    marked = USE.fullmatch(text)
    if marked:
        start, end = marked.span(1)
        return ((start - 1, end - 1),), text.replace("{", "").replace("}", "")
    if not word:
        raise UnsuitableText(f"{quoted(text)} has not exactly one use in braces. Mark one, or name the word.")
    return find_uses(text, word, forms=forms), text
