"""What is near a use: other uses by their vectors, and words by vectors that know no sentence."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from explorer import analysis
from explorer.analysis.blanks import check_characters
from explorer.analysis.embedding_results import NearUses, StaticVectors, UseNeighbours
from explorer.analysis.labelled_uses import LabelledUses, gather_uses, split_sense
from explorer.analysis.neighbours import find_near_uses, prepare_points
from explorer.analysis.sense_sentences import USE
from explorer.analysis.static_vectors import find_file_neighbours, read_static_vectors
from explorer.analysis.uses import find_uses
from explorer.analysis.vectors import join_occurrences
from explorer.errors import ExplorerError, UnsuitableText, quoted
from explorer.models.registry import Registry
from explorer.settings import settings
from explorer.tabs.kept import Kept
from explorer.tabs.neighbours.material import Vectors
from explorer.tabs.neighbours.which_vector import choose, read_vector

NEAREST = 10
WORD_BYTES = 100  # about what a word of a file takes beside its vector


def read_query(sentence: str, word: str, uses: LabelledUses) -> LabelledUses:
    """The use of the word in a sentence that the visitor typed; the first one, where none is marked by braces.

    Args:
        sentence: As typed.
        word: Likewise.
        uses: Of the word; their forms count.

    Raises:
        UnsuitableText: The word is not in it, or the sentence cannot be read.
    """
    forms = {text[start:end].lower() for text, (start, end) in zip(uses.sentences, uses.positions, strict=True)}
    check_characters(sentence)
    line = " ".join(sentence.split("\n"))
    if word and not USE.fullmatch(split_sense(line)[1]) and not find_uses(line, word, forms=sorted(forms)):
        raise UnsuitableText(
            f"{quoted(word)} is not in your sentence, and no form of it that the other sentences have. Write it with "
            f"the word, or put braces around a {{word}} in its place."
        )
    found = gather_uses([line], word, forms=sorted(forms))
    return LabelledUses(found.sentences[:1], found.positions[:1], found.senses[:1])


def add_use(uses: LabelledUses, typed: LabelledUses | None) -> LabelledUses:
    """Uses and, behind them, the typed one, if there is one."""
    if typed is None:
        return uses
    return LabelledUses(
        uses.sentences + typed.sentences, uses.positions + typed.positions, uses.senses + typed.senses, uses.without
    )


def find_near(
    vectors: Vectors,
    models: Registry,
    model: str,
    uses: LabelledUses,
    typed: LabelledUses | None,
    place: int,
    *values: object,
) -> NearUses:
    """The uses nearest to one.

    Args:
        vectors: Where vectors are kept.
        models: Where models run.
        model: Name in it.
        uses: To search.
        typed: A further one, or None.
        place: Of the query among add_use(uses, typed).
        values: Of which_vector.Which.inputs.

    Raises:
        ExplorerError: The model or a sentence does not suit, or there is no other use.
    """
    pieces = read_vector(*values).pieces
    occurrences = vectors.embed(models, model, uses, pieces)
    if typed:
        occurrences = join_occurrences(occurrences, vectors.embed(models, model, typed, pieces))
    chosen, words = choose(occurrences, *values)
    senses = add_use(uses, typed).senses
    return find_near_uses(occurrences, prepare_points(chosen), use=place, vector=words, k=NEAREST, senses=senses)


class Static:
    """Words near a word whatever the sentence; files of vectors that were read are kept for a while."""

    def __init__(self) -> None:
        self._files: Kept[str, StaticVectors] = Kept(settings().most_kept_vectors_mib, _size_bytes)

    def read(self, file: str) -> StaticVectors:
        """The vectors of a file. Raises as read_static_vectors does."""
        return self._files.get(file, lambda: read_static_vectors(Path(file)))

    def find(
        self, models: Registry, model: str, word: str, file: str | None, near: tuple[NearUses, ...]
    ) -> UseNeighbours:
        """The nearest words, beside what is near in context; where there are none, why.

        Args:
            models: Where models run.
            model: Whose token embeddings are taken, where there is no file.
            word: To be looked up.
            file: Path of a GloVe or word2vec file, or None.
            near: The nearest uses.
        """
        try:
            if file:
                return UseNeighbours(near, find_file_neighbours(self.read(file), word=word, k=NEAREST))
            ask = partial(analysis.find_static_neighbours, word=word, k=NEAREST)
            return UseNeighbours(near, models.run(model, ask))
        except ExplorerError as error:  # of this column alone: the other is there all the same
            return UseNeighbours(near, None, str(error))


def _size_bytes(vectors: StaticVectors) -> int:
    return vectors.points.unit.nbytes + WORD_BYTES * len(vectors.words)
