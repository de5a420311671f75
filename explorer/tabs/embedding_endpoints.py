"""The endpoints about vectors of uses, their neighbours and their senses; see endpoints.py."""

from collections.abc import Callable
from functools import partial
from typing import Any

from explorer import analysis
from explorer.analysis import projections
from explorer.analysis.embedding_results import Occurrences
from explorer.analysis.exporting import to_json
from explorer.analysis.labelled_uses import LabelledUses, choose_uses, leave_out
from explorer.analysis.neighbours import find_near_uses, prepare_points
from explorer.analysis.vectors import choose_vectors, describe_vectors
from explorer.errors import UnsuitableText
from explorer.models.catalogue import VECTOR_MODEL
from explorer.models.registry import Registry
from explorer.settings import settings
from explorer.tabs.anisotropy_endpoints import corpus_of
from explorer.tabs.visitors import ask_model

MOST_DRAWN = projections.MOST_POINTS  # so that one request does not keep all others waiting
Answer = dict[str, Any]
Sentences = list[str] | None


def embedding_endpoints(registry: Registry) -> tuple[Callable[..., Answer], ...]:
    """The functions to be called by name, with keyword parameters; each returns the frozen result as JSON.

    Where no sentences are given, the labelled ones of the word are taken that come with the explorer.
    """

    ask = partial(ask_model, registry)

    def embed_occurrences(
        sentences: Sentences = None,
        positions: list[list[int]] | None = None,
        word: str = "",
        model: str = VECTOR_MODEL,
        layers: list[int] | None = None,
        pieces: str = "mean",
        forms: list[str] | None = None,
    ) -> Answer:
        uses = _uses(word, sentences, positions, forms=forms)
        if len(uses["sentences"]) > settings().most_texts:
            raise UnsuitableText(
                f"There are {len(uses['sentences']):,} uses; the vectors of at most {settings().most_texts} are told "
                f"at once. Ask several times, or use Python."
            )
        return to_json(ask(model, partial(analysis.embed_occurrences, **uses, layers=layers, pieces=pieces)))

    def find_neighbours(
        sentences: Sentences = None,
        positions: list[list[int]] | None = None,
        word: str = "",
        use: int = 0,
        model: str = VECTOR_MODEL,
        layer: int = -1,
        k: int = 10,
        pieces: str = "mean",
        combine: str = "layer",
        weights: list[float] | None = None,
        softmax: bool = False,
        adjust: str = "none",
        forms: list[str] | None = None,
    ) -> Answer:
        uses = _uses(word, sentences, positions, forms=forms, with_senses=True)
        senses = uses.pop("senses")
        layers = [layer] if combine == "layer" else None
        found: Occurrences = ask(model, partial(analysis.embed_occurrences, **uses, layers=layers, pieces=pieces))
        which = {"combine": combine, "layer": layer, "adjust": adjust}
        points = prepare_points(choose_vectors(found, **which, weights=weights or (), softmax=softmax))
        return to_json(
            find_near_uses(found, points, use=use, vector=describe_vectors(found, **which), k=k, senses=senses)
        )

    def find_static_neighbours(word: str, model: str = VECTOR_MODEL, k: int = 10) -> Answer:
        return to_json(ask(model, partial(analysis.find_static_neighbours, word=word, k=k)))

    def project_occurrences(
        sentences: Sentences = None,
        positions: list[list[int]] | None = None,
        senses: list[str] | None = None,
        word: str = "",
        model: str = VECTOR_MODEL,
        layers: list[int] | None = None,
        method: str = "pca",
        dimensions: int = 2,
        pieces: str = "mean",
        combine: str = "layer",
        weights: list[float] | None = None,
        softmax: bool = False,
        adjust: str = "none",
        seed: int = 0,
        forms: list[str] | None = None,
    ) -> Answer:
        uses = _uses(word, sentences, positions, senses=senses, forms=forms, with_senses=True)
        if len(uses["sentences"]) > MOST_DRAWN:
            raise UnsuitableText(f"There are {len(uses['sentences']):,} uses; a map takes at most {MOST_DRAWN:,} here.")
        labels = uses.pop("senses")
        wanted = layers if combine == "layer" else None
        found: Occurrences = ask(model, partial(analysis.embed_occurrences, **uses, layers=wanted, pieces=pieces))
        which = {"combine": combine, "weights": weights or (), "softmax": softmax, "adjust": adjust}
        how = {"method": method, "dimensions": dimensions, "seed": seed}
        return to_json(projections.project_occurrences(found, senses=labels, **how, **which))

    def score_senses(
        sentences: Sentences = None,
        positions: list[list[int]] | None = None,
        senses: list[str] | None = None,
        word: str = "",
        model: str = VECTOR_MODEL,
        layers: list[int] | None = None,
        pieces: str = "mean",
        seed: int = 0,
        forms: list[str] | None = None,
        without: list[str] | None = None,
    ) -> Answer:
        uses = _uses(word, sentences, positions, senses=senses, forms=forms, with_senses=True)
        if without:
            kept = leave_out(
                LabelledUses(*(tuple(uses[name]) for name in ("sentences", "positions", "senses"))), without
            )
            uses = {"sentences": kept.sentences, "positions": kept.positions, "senses": kept.senses}
        options = {"layers": layers, "pieces": pieces, "seed": seed}
        return to_json(ask(model, partial(analysis.score_senses, **uses, **options)))

    def score_cured_senses(
        sentences: Sentences = None,
        positions: list[list[int]] | None = None,
        senses: list[str] | None = None,
        word: str = "",
        model: str = VECTOR_MODEL,
        corpus: Sentences = None,
        cures: list[str] | None = None,
        pieces: str = "mean",
        components: int = 3,
        seed: int = 0,
        forms: list[str] | None = None,
    ) -> list[Answer]:
        uses = _uses(word, sentences, positions, senses=senses, forms=forms, with_senses=True)
        options = {"corpus": corpus_of(corpus)["sentences"], "cures": cures or ["none", "mean_removal"]}
        options |= {"pieces": pieces, "components": components, "seed": seed}
        return to_json(ask(model, partial(analysis.score_cured_senses, **uses, **options)))

    return (
        embed_occurrences,
        find_neighbours,
        find_static_neighbours,
        project_occurrences,
        score_senses,
        score_cured_senses,
    )


def _uses(
    word: str,
    sentences: Sentences,
    positions: list[list[int]] | None,
    *,
    senses: list[str] | None = None,
    forms: list[str] | None = None,
    with_senses: bool = False,
) -> dict[str, Any]:
    """Sentences and positions as the analyses take them: as given, or found by the word."""
    if positions:
        found = {"sentences": sentences or [], "positions": [tuple(s) if isinstance(s, list) else s for s in positions]}
        return found | ({"senses": senses or ()} if with_senses else {})
    uses = choose_uses(word, sentences, senses=senses or (), forms=forms or ())
    found = {"sentences": uses.sentences, "positions": uses.positions}
    return found | ({"senses": uses.senses} if with_senses else {})
