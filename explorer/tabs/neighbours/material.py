"""The uses that all views of the tab are about, and recent vectors of them, shared by all visitors."""

from __future__ import annotations

from functools import cache, partial

from explorer import analysis
from explorer.analysis.embedding_results import Occurrences
from explorer.analysis.labelled_uses import LabelledUses, gather_uses, shipped_uses
from explorer.analysis.sense_sentences import sense_words
from explorer.analysis.uses import english_forms, find_uses
from explorer.errors import NoUse, UnsuitableText, quoted
from explorer.models.card import ModelCard
from explorer.models.registry import Registry
from explorer.settings import settings
from explorer.tabs.kept import Kept
from explorer.tabs.links import LINKED_CHARACTERS

MOST_USES = 2_000  # of a page that answers at once; the shell takes more
SENTENCE_BYTES = 400  # about what one takes beside its vectors
OWN_LEFT = (
    " Or empty the box under “Sentences and word vectors of your own”: sentences of {word} come with the explorer."
)
Wanted = tuple[ModelCard, LabelledUses, str]


def read_uses(word: str, own: str) -> LabelledUses:
    """The uses of a word: in the visitor's own sentences, or in those that come with the explorer.

    Args:
        word: As typed; regular English forms of it count, too. "" = each of the own sentences marks its use.
        own: As typed, a sentence a line, as labelled_uses.gather_uses reads them; "" = the shipped ones.

    Raises:
        UnsuitableText: There is no use, or more than MOST_USES, or a sentence cannot be read; or braces mark the uses,
            and all of them are of another word.
    """
    word = " ".join((word or "").split())
    if len(own) > settings().most_corpus_characters:
        raise UnsuitableText(
            f"Your sentences have {len(own):,} characters; the page takes at most "
            f"{settings().most_corpus_characters:,}. Give fewer, or use the shell, which takes more."
        )
    if own.strip():
        try:
            uses = gather_uses(own.splitlines(), word, forms=english_forms(word))
        except NoUse as error:
            way_out = OWN_LEFT.format(word=quoted(known)) if (known := _shipped(word)) else ""
            raise UnsuitableText(f"{error}{way_out}") from None
        if other := _other_word(uses, word):
            raise UnsuitableText(
                f"The sentences mark uses of {quoted(other)} in braces, and none of {quoted(word)}. To find "
                f"{quoted(word)} in a corpus, press Search under “Search a corpus for the word”. Or give “Word” what "
                "they mark, or leave it empty; or change the sentences, under “Sentences and word vectors of your "
                "own”, or take them away for those that come with the explorer."
            )
        if len(uses.sentences) > MOST_USES:
            raise UnsuitableText(
                f"There are {len(uses.sentences):,} uses; the page takes at most {MOST_USES:,}. Give fewer sentences, "
                f"or use the shell, which takes more."
            )
        return uses
    if not word:
        raise UnsuitableText("There is no word. Choose one, or write one and give sentences with it.")
    known = _shipped(word)
    if not known:
        raise UnsuitableText(
            f"No sentences of {quoted(word)} come with the explorer. Paste some under “Sentences and word "
            f"vectors of your own”, or find some under “Search a corpus for the word”; or "
            f"choose one of: {', '.join(sense_words())}."
        )
    return shipped_uses(known)


def _shipped(word: str) -> str:
    """The word as those are called whose sentences come with the explorer; "" = there are none of it."""
    return next((one for one in sense_words() if one == word.lower()), "")


def word_for(word: str, own: str) -> str:
    """The word that stands above sentences which the visitor has just given: what they mark, where it is another.

    Args:
        word: As typed; "" stays.
        own: As read_uses takes it.
    """
    try:
        return _other_word(gather_uses(own.splitlines(), word, forms=english_forms(word)), word) or word
    except UnsuitableText:  # the views, which read the same, say so
        return word


def _other_word(uses: LabelledUses, word: str) -> str:
    """The first that is marked, where there is a word and no use is of it; else ""."""
    forms = english_forms(word)
    marked = [text[start:end] for text, (start, end) in zip(uses.sentences, uses.positions, strict=True)]
    return "" if not word or any(find_uses(one, word, forms=forms) for one in marked) else marked[0]


def use_in_sight(uses: LabelledUses, use: float | None) -> int:
    """The use that is looked at; the first one where the page names none that there is."""
    place = int(use or 0)
    return place if 0 <= place < len(uses.sentences) else 0


def source_words(word: str, own: str) -> str:
    """Where the sentences are from, for the line below a figure."""
    if len(own) > LINKED_CHARACTERS:
        return "your sentences, too long for a link"
    return "your sentences" if own.strip() else f"sentences written for this project: “{word}”, labelled by hand"


class Vectors:
    """Recent vectors of uses, in all layers."""

    def __init__(self, room_mib: float) -> None:
        self._kept: Kept[Wanted, Occurrences] = Kept(room_mib, _size_bytes)

    def embed(self, registry: Registry, model: str, uses: LabelledUses, pieces: str = "mean") -> Occurrences:
        """The vectors of uses in all layers of a model, from here if they are here.

        Args:
            registry: Where models run.
            model: Name in it.
            uses: As read_uses reads them.
            pieces: As embed_occurrences takes it.

        Raises:
            ExplorerError: The model or a sentence does not suit.
        """
        ask = partial(
            analysis.embed_occurrences, sentences=uses.sentences, positions=uses.positions, pieces=pieces
        )  # fmt: skip
        return self._kept.get((registry.card(model), uses, pieces), lambda: registry.run(model, ask))

    def keep(self, card: ModelCard, uses: LabelledUses, occurrences: Occurrences) -> None:
        """Keep vectors that are there already.

        Args:
            card: Of the model that made them.
            uses: As read_uses reads them.
            occurrences: Theirs, in all layers.
        """
        self._kept.put((card, uses, occurrences.pieces), occurrences)


@cache
def shared_vectors() -> Vectors:
    """Those that all tabs and visitors share."""
    return Vectors(settings().most_kept_vectors_mib)


def _size_bytes(occurrences: Occurrences) -> int:
    return occurrences.vectors.nbytes + SENTENCE_BYTES * len(occurrences.sentences)
