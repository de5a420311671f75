"""A word in a corpus, with the vectors of its uses: a job that says how far it is, and goes on where it was stopped."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from explorer import analysis
from explorer.analysis import corpus_cache
from explorer.analysis.corpus_cache import StoredVectors
from explorer.analysis.corpus_results import CorpusOccurrences, CorpusProgress, CorpusUses
from explorer.analysis.corpus_search import LONGEST_SENTENCE_CHARACTERS, find_corpus_uses, hash_corpus
from explorer.analysis.embedding_results import Occurrences
from explorer.errors import UnsuitableText, UnwritableFolder
from explorer.models.backend import LoadedModel
from explorer.models.card import LocalFolder, ModelCard
from explorer.settings import GIB, settings

PART_USES = 128  # embedded and kept at once: what is lost of a job that is killed
WAIT_SECONDS = 0.5
Ask = Callable[[Callable[[LoadedModel], Occurrences]], Occurrences]


def search_corpus(
    ask: Ask,
    card: ModelCard,
    path: Path,
    word: str,
    *,
    forms: Sequence[str] = (),
    sample: int = 2_000,
    seed: int = 0,
    layers: Sequence[int] | None = None,
    pieces: str = "mean",
) -> Iterator[CorpusProgress | CorpusOccurrences]:
    """Find the uses of a word in a corpus and embed them, in bounded memory; what was done before is not done again.

    What is found and computed is kept on disk (corpus_cache). Close the iterator to stop: the same call goes on from
    there later.

    Args:
        ask: Sends an analysis to the model: partial(registry.run, name).
        card: Of that model: another revision has other vectors.
        path: As corpus_search.find_corpus_uses takes it.
        word: Likewise.
        forms: Likewise.
        sample: Likewise.
        seed: Likewise.
        layers: As embed_occurrences takes them.
        pieces: Likewise.

    Yields:
        How far it is; last the uses with their vectors. Uses that the model has no tokens for are left out, and said.

    Raises:
        UnsuitableText: The file or the word does not suit, or the vectors take more than the cache may hold.
        UnwritableFolder: The disk is full, or the cache may not be written.
        ExplorerError: Whatever the model says.
    """
    uses: CorpusUses | None = None
    for event in _find(path, word, forms, sample, seed):
        if isinstance(event, CorpusUses):
            uses = event
        else:
            yield event
    assert uses is not None
    facts = [str(card.source), card.weights_sha256, _stamp(card), settings().device, layers, pieces]
    key = corpus_cache.key_of(uses.sha256, uses.sentences, uses.positions, *facts)
    wanted = len(uses.sentences)
    file = corpus_cache.vectors_file(key)
    told = CorpusProgress("waiting", 0.0, uses.sentences_read, uses.found, 0, wanted)
    if (stored := corpus_cache.read_vectors(file)) is not None:
        yield _result(uses, card.name, file, stored, pieces, is_from_cache=True)
        return
    is_new = False
    while True:
        with corpus_cache.hold(key) as is_ours:
            if is_ours:
                stored = corpus_cache.read_vectors(file)  # somebody else may have made them meanwhile
                if is_new := stored is None:
                    yield from _embed(ask, uses, file, layers, pieces, told)
                    corpus_cache.evict(key)
                    stored = corpus_cache.read_vectors(file)
                break
        yield told
        time.sleep(WAIT_SECONDS)
    if stored is None:
        raise UnwritableFolder(f"{file} cannot be read although it was just written. Look after the disk.")
    yield _result(uses, card.name, file, stored, pieces, is_from_cache=not is_new)


def _find(path: Path, word: str, forms: Sequence[str], sample: int, seed: int) -> Iterator[CorpusProgress | CorpusUses]:
    """The uses, from the cache if they are there."""
    sha256 = ""
    for event in hash_corpus(path):
        if isinstance(event, str):
            sha256 = event
        else:
            yield event
    limits = [settings().largest_corpus_gib, settings().longest_text_characters, LONGEST_SENTENCE_CHARACTERS]
    key = corpus_cache.key_of(sha256, word, sorted(forms), sample, seed, limits)
    uses = corpus_cache.read_uses(key)
    if uses is not None:
        yield replace(uses, corpus=path.name)
        return
    for event in find_corpus_uses(path, word, forms=forms, sample=sample, seed=seed, sha256=sha256):
        if isinstance(event, CorpusUses):
            corpus_cache.write_uses(key, event)
        yield event


def _embed(
    ask: Ask, uses: CorpusUses, file: Path, layers: Sequence[int] | None, pieces: str, told: CorpusProgress
) -> Iterator[CorpusProgress]:
    """Make the file of all vectors, a part at a time; parts that are there already are taken as they are."""
    wanted = len(uses.sentences)
    parts, began, done, here = [], time.monotonic(), 0, 0
    yield replace(told, stage="embedding")
    for first in range(0, wanted, PART_USES):
        part = file.with_name(f"part-{first:08d}.npy")
        chosen = range(first, min(first + PART_USES, wanted))
        stored = corpus_cache.read_vectors(part)
        if stored is None:
            stored = _embed_part(partial(_ask_for, ask, uses, layers, pieces), chosen)
            if stored is not None:
                if not parts:
                    _check_room(file, stored, wanted)
                corpus_cache.write_vectors(part, stored)
            here += len(chosen)
        parts += [] if stored is None else [part]
        done += len(chosen)
        seconds = time.monotonic() - began
        left = (wanted - done) * seconds / here if here else None
        yield replace(told, stage="embedding", share=done / wanted, embedded=done, seconds_left=left)
    if not parts:  # no use has a token: the model says why
        _ask_for(ask, uses, layers, pieces, [0])
    corpus_cache.join_vectors(file, parts)


def _ask_for(
    ask: Ask, uses: CorpusUses, layers: Sequence[int] | None, pieces: str, chosen: Sequence[int]
) -> Occurrences:
    sentences, positions = [uses.sentences[use] for use in chosen], [uses.positions[use] for use in chosen]
    return ask(
        partial(analysis.embed_occurrences, sentences=sentences, positions=positions, layers=layers, pieces=pieces)
    )


def _embed_part(embed: Callable[[Sequence[int]], Occurrences], chosen: Sequence[int]) -> StoredVectors | None:
    """Vectors of those uses of a part that have any; None = of none."""
    kept = list(chosen)
    try:
        found = embed(kept)
    except UnsuitableText:  # one of them has no token, or more than are read: which one?
        kept = [use for use in chosen if _is_embeddable(embed, use)]
        if not kept:
            return None
        found = embed(kept)
    return StoredVectors(
        tuple(kept), found.tokens, found.read, found.layers, found.layer_count, found.remarks, found.vectors
    )


def _is_embeddable(embed: Callable[[Sequence[int]], Occurrences], use: int) -> bool:
    try:
        embed([use])
    except UnsuitableText:
        return False
    return True


def _check_room(file: Path, stored: StoredVectors, wanted: int) -> None:
    """Refuse what the cache cannot hold before hours are spent on it."""
    needed = stored.vectors.nbytes // len(stored.chosen) * wanted
    if needed > settings().corpus_cache_gib * GIB:
        raise UnsuitableText(
            f"The vectors of {wanted:,} uses in {len(stored.layers)} layers take {needed / GIB:.1f} GiB; at most "
            f"{settings().corpus_cache_gib:g} GiB are kept. Take a smaller sample, or fewer layers."
        )
    corpus_cache.check_room(file, 2 * needed)  # the parts, and the whole


def _stamp(card: ModelCard) -> object:
    """What tells that a folder of the operator's holds other weights than before."""
    if not isinstance(card.source, LocalFolder):
        return None
    files = sorted(Path(card.source.path).glob("*"))
    return [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files if file.is_file()]


def _result(
    uses: CorpusUses, model: str, file: Path, stored: StoredVectors, pieces: str, *, is_from_cache: bool
) -> CorpusOccurrences:
    gone = len(uses.sentences) - len(stored.chosen)
    remarks = [*uses.remarks, *stored.remarks]
    if gone:
        remarks.append(f"{gone:,} uses were left out: {model} has no token for them, or they are too long for it.")
    pick = [
        tuple(column[use] for use in stored.chosen) for column in (uses.sentences, uses.positions, uses.lines)
    ]  # fmt: skip
    kept = replace(uses, sentences=pick[0], positions=pick[1], lines=pick[2], remarks=tuple(remarks))
    words = tuple(sentence[start:end] for sentence, (start, end) in zip(pick[0], pick[1], strict=True))
    occurrences = Occurrences(
        model=model,
        sentences=pick[0],
        positions=pick[1],
        words=words,
        tokens=stored.tokens,
        read=stored.read,
        pieces=pieces,
        layers=stored.layers,
        layer_count=stored.layer_count,
        vectors=stored.vectors,
        remarks=stored.remarks,
    )
    return CorpusOccurrences(kept, model, stored.layers, str(file), is_from_cache, occurrences)
