"""What searching a corpus finds: plain values and arrays, free of torch."""

from __future__ import annotations

from dataclasses import dataclass, field

from explorer.analysis.embedding_results import Occurrences, Span


@dataclass(frozen=True)
class CorpusProgress:
    """How far a search is.

    Attributes:
        stage: "checking" the file, "reading" it, "waiting" for somebody who does the same, or "embedding".
        share: Of the stage, in [0, 1].
        sentences: Read so far.
        uses: Found so far.
        embedded: So far, those of earlier attempts included.
        wanted: How many are to be embedded; 0 = not known yet.
        seconds_left: Of the stage; None = not known yet.
    """

    stage: str
    share: float
    sentences: int = 0
    uses: int = 0
    embedded: int = 0
    wanted: int = 0
    seconds_left: float | None = None


@dataclass(frozen=True)
class CorpusUses:
    """The uses of a word in a corpus, or a random sample of them.

    Attributes:
        corpus: Name of its file.
        sha256: Of the file.
        word: As given.
        forms: Further ones that were looked for.
        sentences: One for each use, in the order of the corpus; white space is single spaces.
        positions: Where each use stands in its sentence, in characters.
        lines: In which line of the file each stands, counted from 1.
        sentences_read: How many there are in the corpus, as far as they are told apart: a line each, but for long ones.
        found: How many uses there are in the corpus; a sentence that is repeated is counted again.
        left_out: How many sentences with a use could not be taken: too long, damaged, or with braces.
        seed: Of the sample.
        remarks: What a reader must know.
    """

    corpus: str
    sha256: str
    word: str
    forms: tuple[str, ...]
    sentences: tuple[str, ...]
    positions: tuple[Span, ...]
    lines: tuple[int, ...]
    sentences_read: int
    found: int
    left_out: int
    seed: int
    remarks: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class CorpusOccurrences:
    """Uses from a corpus with their vectors.

    Attributes:
        uses: Those that have vectors.
        model: Its name.
        layers: Which layers, 0 = input embeddings.
        file: The vectors on this machine, in NumPy's format: [layer point dim]; it may go when room is needed.
        is_from_cache: Whether all vectors were there already.
        occurrences: The uses and their vectors, read from the file as they are needed.
    """

    uses: CorpusUses
    model: str
    layers: tuple[int, ...]
    file: str
    is_from_cache: bool
    occurrences: Occurrences = field(metadata={"bulk": True})
