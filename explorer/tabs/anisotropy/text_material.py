"""What the views "Similarity" and "Search" compute of whole texts, kept for all visitors."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from types import ModuleType

from explorer.analysis.anisotropy_results import FoundTexts, SimilarityScores
from explorer.analysis.blanks import check_characters
from explorer.analysis.cures import CURES
from explorer.analysis.fit_texts import choose_fit_texts
from explorer.analysis.pair_agreement import score_pairs
from explorer.analysis.pair_files import read_pairs
from explorer.analysis.pair_results import PairCosines, PairSet
from explorer.analysis.shipped_pairs import SHIPPED_PAIRS, read_shipped_pairs
from explorer.analysis.text_search import PooledTexts, SearchableTexts, search_texts
from explorer.errors import UnsuitableQuery, UnsuitableText
from explorer.models.card import ModelCard
from explorer.models.registry import Registry
from explorer.settings import settings
from explorer.tabs.anisotropy.material import Sentences
from explorer.tabs.kept import Kept

OWN = "own"
YOUR_PAIRS = "Your pairs"
MOST_PAIRS = 3_000  # of a page that answers while one looks at it; Python and a shell take more
POOLINGS = ("cls", "mean", "max")
KEPT_MIB = 128
SCORE_BYTES = 400  # about what one takes
TEXT_BYTES = 200
LONGEST_QUERY = 2_000  # characters

Compared = tuple[ModelCard, PairSet, str, tuple[str, ...]]  # the last two: fingerprint of the corpus, cures
Searched = tuple[ModelCard, str, str]  # fingerprint of the texts, pooling


def read_pair_set(which: str, typed: str | None) -> PairSet:
    """The pairs that are compared.

    Args:
        which: A key of SHIPPED_PAIRS, or OWN.
        typed: The visitor's own, a pair in each line.

    Raises:
        UnsuitableText: There are none, too many, or a line is no pair.
    """
    if which in SHIPPED_PAIRS:
        return read_shipped_pairs(which)
    if which != OWN:
        raise UnsuitableText(f"There are no pairs {which!r}. Choose one of: {', '.join([*SHIPPED_PAIRS, OWN])}.")
    if not (typed or "").strip():
        raise UnsuitableText("There are no pairs yet. Paste two texts and a score in each line, or load a file.")
    if len(typed) > settings().most_corpus_characters:
        raise UnsuitableText(
            f"There are {len(typed):,} characters; the page takes at most {settings().most_corpus_characters:,}."
        )
    pairs = read_pairs(typed.splitlines())
    if len(pairs) > MOST_PAIRS:
        raise UnsuitableText(
            f"There are {len(pairs):,} pairs; the page takes at most {MOST_PAIRS:,}. Give fewer, or use Python or a "
            f"shell, which take more."
        )
    return PairSet(YOUR_PAIRS, pairs, ("",) * len(pairs))


class ComparedPairs:
    """Recent cosines of pairs, and how far they agree with the scores."""

    def __init__(self, room_mib: float = KEPT_MIB) -> None:
        self._cosines: Kept[Compared, PairCosines] = Kept(room_mib, lambda found: found.cosines.nbytes)
        self._scores: Kept[Compared, SimilarityScores] = Kept(
            room_mib, lambda found: SCORE_BYTES * len(found.scores)
        )  # fmt: skip

    def compare(
        self, registry: Registry, model: str, pairs: PairSet, sentences: Sentences, cures: tuple[str, ...]
    ) -> tuple[PairCosines, SimilarityScores]:
        """The cosines of all layers and poolings, and the scores of these.

        Args:
            registry: Where models run.
            model: Name in it.
            pairs: As read_pair_set reads them.
            sentences: What the cures are fitted on, as material.read_corpus reads them.
            cures: Keys of CURES.

        Raises:
            ExplorerError: The model, the pairs or the sentences do not suit.
        """
        needs_fit = any(CURES[cure].needs_fit for cure in cures if cure in CURES)
        key = (registry.card(model), pairs, sentences.fingerprint if needs_fit else "", cures)

        def compute() -> PairCosines:
            texts, words = choose_fit_texts(pairs.pairs, sentences.sentences, sentences.name)
            options = {"fit_texts": texts, "fitted_on": words} if needs_fit else {}
            measure = _engine("similarity").measure_pairs
            ask = partial(measure, pairs=pairs.pairs, name=pairs.name, poolings=POOLINGS, cures=cures, **options)
            return registry.run(model, ask)

        found = self._cosines.get(key, compute)
        return found, self._scores.get(key, lambda: score_pairs(found))


class SearchedTexts:
    """Recent vectors of texts in all layers, so that a further query costs its own vector alone."""

    def __init__(self, room_mib: float | None = None) -> None:
        room_mib = settings().most_kept_vectors_mib if room_mib is None else room_mib
        self._texts: Kept[Searched, tuple[PooledTexts, ...]] = Kept(room_mib, _size_bytes)
        self._ready: Kept[tuple[Searched, int, str], SearchableTexts] = Kept(
            KEPT_MIB, lambda ready: ready.points.unit.nbytes
        )  # fmt: skip

    def find(
        self, registry: Registry, model: str, sentences: Sentences, query: str, *, pooling: str, layer: int,
        cures: tuple[str, ...],
    ) -> tuple[FoundTexts, ...]:  # fmt: skip
        """All texts, the nearest first, after each cure.

        Args:
            registry: Where models run.
            model: Name in it.
            sentences: What is searched, each text once.
            query: As typed.
            pooling: One of POOLINGS.
            layer: 0 = input embeddings; one above the last is the last.
            cures: Keys of CURES, each fitted on the texts.

        Raises:
            UnsuitableQuery: The query, the pooling or a cure does not suit.
            ExplorerError: The model or the texts do not suit.
        """
        words = " ".join((query or "").split())
        if not words:
            raise UnsuitableQuery("There is no query. Type a word or a sentence to search for.")
        if len(words) > LONGEST_QUERY:
            raise UnsuitableQuery(f"The query has {len(words):,} characters; at most {LONGEST_QUERY:,} are read.")
        if pooling not in POOLINGS:
            raise UnsuitableQuery(f"There is no pooling {pooling!r}. Choose one of: {', '.join(POOLINGS)}.")
        unknown = [cure for cure in cures if cure not in CURES]
        if unknown:
            raise UnsuitableQuery(f"There is no cure {unknown[0]!r}. Choose one of: {', '.join(CURES)}.")
        key = (registry.card(model), sentences.fingerprint, pooling)
        pool_texts = _engine("text_vectors").pool_texts
        texts = tuple(dict.fromkeys(sentences.sentences))
        embed = partial(pool_texts, texts=texts, pooling=pooling)
        pooled = self._texts.get(key, lambda: registry.run(model, embed))
        at = min(layer, len(pooled) - 1)
        try:
            check_characters(words)
            [asked] = registry.run(model, partial(pool_texts, texts=(words,), pooling=pooling, layers=[at]))
        except UnsuitableText as error:
            raise UnsuitableQuery(str(error)) from error
        return tuple(search_texts(self._prepare(key, pooled[at], cure), asked, k=len(texts)) for cure in cures)

    def _prepare(self, key: Searched, texts: PooledTexts, cure: str) -> SearchableTexts:
        return self._ready.get(
            (key, texts.layer, cure), lambda: _engine("similarity").prepare_search(texts, cure)
        )  # fmt: skip


def _engine(name: str) -> ModuleType:
    """A module that needs torch; whoever imports one begins with the same, as analysis/__init__.py says."""
    import_module("explorer.models.loading")
    return import_module(f"explorer.analysis.{name}")


def _size_bytes(layers: tuple[PooledTexts, ...]) -> int:
    return sum(one.vectors.nbytes for one in layers) + TEXT_BYTES * len(layers[0].texts)
