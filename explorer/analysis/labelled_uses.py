"""The uses of a word that are to be embedded, from whatever a visitor has: sentences, marked ones, labelled ones."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from explorer.analysis.blanks import check_characters
from explorer.analysis.delimited import LOOKED_AT
from explorer.analysis.embedding_results import Span
from explorer.analysis.sense_sentences import USE, read_sense_sentences, sense_words
from explorer.analysis.uses import find_uses
from explorer.errors import NoUse, UnsuitableText, quoted
from explorer.settings import settings

FOREIGN = "(German)"
SENTENCE_NAMES = frozenset({"sentence", "sentences", "text", "texts", "context", "example", "utterance", "line"})
SENSE_NAMES = frozenset({"sense", "senses", "label", "labels", "meaning", "class", "category"})
TAB, BAR = "\t", "|"  # between a sense and its sentence
LONGEST_SENSE_CHARACTERS = 40  # of one that a bar parts from its sentence
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
            taken. Its sense may stand before it or behind it, as choose_split finds it; a first line that names the
            two, such as "sense", a tab and "sentence", is skipped, and so are empty lines.
        word: To be looked for; it may be "" where each use is marked.
        senses: One for each sentence, instead of those before the tabs.
        forms: Of the word, that count as uses, too.

    Raises:
        NoUse: There is none.
        UnsuitableText: There are too many, or a sentence cannot be read; the message says which.
    """
    if isinstance(sentences, str):
        raise UnsuitableText("Give a list of sentences.")
    found: list[tuple[str, Span, str]] = []
    count = without = 0
    rest = iter(sentences)
    looked_at = [*islice(rest, LOOKED_AT)]
    known = [line for line in looked_at if isinstance(line, str)]
    split = choose_split(known, lambda text: _has_use(text, word, forms))
    for number, line in enumerate(chain(looked_at, rest), start=1):
        try:
            check_characters(line)
            line = line.rstrip("\r\n")
            if not line.strip() or (number == 1 and names_columns(line)):
                continue
            if senses and count >= len(senses):
                raise UnsuitableText("There are more sentences than senses. Give one sense for each.")
            sense, text = split(line)
            here, text = _uses_in(text, word, forms)
        except UnsuitableText as error:
            raise UnsuitableText(f"Sentence {number}: {error}") from None
        found += [(text, span, senses[count] if senses else sense) for span in here]
        count += 1
        without += not here
        if len(found) > settings().most_uses:
            raise UnsuitableText(f"There are more than {settings().most_uses:,} uses. Give fewer sentences.")
    if count < len(senses):
        there = "is one sentence" if count == 1 else f"are {count} sentences"
        raise UnsuitableText(f"There {there} and {len(senses)} senses. Give one sense for each.")
    if not found:
        asked = quoted(word) if word else "A use in braces"
        where = "not in the only sentence" if count == 1 else f"in none of the {count:,} sentences"
        raise NoUse(f"{asked} is {where}. Look for another word or form of it.")
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
        line: A sense, a tab and a sentence; or, as no tab can be typed in a browser, a short sense, "|" and a
            sentence; or a sentence alone, whose sense is "".
    """
    sense, separator, sentence = line.partition(TAB)
    if not separator:
        sense, separator, sentence = line.partition(BAR)
    return _parted(line, sense, separator, sentence)


def split_behind(line: str) -> tuple[str, str]:
    """The sense that stands behind a sentence, and the sentence.

    Args:
        line: As of split_sense, with the two the other way round.
    """
    sentence, separator, sense = line.partition(TAB)
    if not separator:
        sentence, separator, sense = line.rpartition(BAR)
    return _parted(line, sense, separator, sentence)


def choose_split(
    lines: Sequence[str], has_use: Callable[[str], bool] = lambda text: True
) -> Callable[[str], tuple[str, str]]:
    """That of split_sense and split_behind which leaves more sentences with a use; of two alike, longer sentences.

    Lines of both orders may be mixed: a line without a use there is split by the other, where that finds one in a
    longer text.

    Args:
        lines: As of split_sense, some of them.
        has_use: Whether a text can be such a sentence.
    """

    def fits(split: Callable[[str], tuple[str, str]]) -> tuple[int, int]:
        found = [sentence for sense, sentence in map(split, lines) if sense and sentence and has_use(sentence)]
        return len(found), sum(map(len, found))

    orders = (split_behind, split_sense) if fits(split_behind) > fits(split_sense) else (split_sense, split_behind)

    def split(line: str) -> tuple[str, str]:
        (sense, sentence), other = (order(line) for order in orders)
        is_other = not has_use(sentence) and len(other[1]) > len(sentence) and has_use(other[1])
        return other if is_other else (sense, sentence)

    return split


def names_columns(line: str) -> bool:
    """Whether a first line says which side of the lines is the sense and which the sentence."""
    sense, sentence = (name.strip().casefold() for name in split_sense(line))
    return (sense in SENSE_NAMES and sentence in SENTENCE_NAMES) or (
        sense in SENTENCE_NAMES and sentence in SENSE_NAMES
    )


def join_sense(sense: str, sentence: str) -> str:
    """The line that split_sense takes apart again; a sentence with a bar in it gets an empty sense before it."""
    is_parted = sense or split_sense(sentence)[0] or split_behind(sentence)[0]
    return f"{sense}{TAB}{sentence}" if is_parted else sentence


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


def _parted(line: str, sense: str, separator: str, sentence: str) -> tuple[str, str]:
    sense = sense.strip()
    if not separator or (separator == BAR and not (0 < len(sense) <= LONGEST_SENSE_CHARACTERS and sentence.strip())):
        return "", line
    return sense, sentence if separator == TAB else sentence.strip()


def _has_use(text: str, word: str, forms: Sequence[str]) -> bool:
    return bool(USE.fullmatch(text) or (word and find_uses(text, word, forms=forms)))


def _uses_in(text: str, word: str, forms: Sequence[str]) -> tuple[tuple[Span, ...], str]:
    """The uses of a sentence, and the sentence without braces."""
    marked = USE.fullmatch(text)
    if marked:
        start, end = marked.span(1)
        return ((start - 1, end - 1),), text.replace("{", "").replace("}", "")
    if not word:
        raise UnsuitableText(f"{quoted(text)} has not exactly one use in braces. Mark one, or name the word.")
    return find_uses(text, word, forms=forms), text
