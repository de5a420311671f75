"""The endpoints about anisotropy, what causes it, what cures it, and similarity; see endpoints.py."""

from collections.abc import Callable
from functools import partial
from typing import Any

from explorer import analysis
from explorer.analysis.exporting import to_json
from explorer.analysis.own_corpus import OWN_CORPUS, read_own_corpus
from explorer.errors import UnsuitableText
from explorer.models.catalogue import VECTOR_MODEL
from explorer.models.registry import Registry
from explorer.settings import settings
from explorer.tabs.visitors import ask_model

Answer = dict[str, Any]
Sentences = list[str] | None
HTTP_CORPUS = "The caller's sentences"


def anisotropy_endpoints(registry: Registry) -> tuple[Callable[..., Answer], ...]:
    """The functions to be called by name, with keyword parameters; each returns the frozen result as JSON.

    Where no sentences are given, those are taken that come with the explorer.
    """

    ask = partial(ask_model, registry)

    def measure_anisotropy(
        sentences: Sentences = None,
        model: str = VECTOR_MODEL,
        corpus: str = "",
        layers: list[int] | None = None,
        unit: str = "tokens",
        specials: bool = False,
        cure: str = "none",
        components: int = 3,
        least_uses: int = 5,
        seed: int = 0,
    ) -> Answer:
        options = {"layers": layers, "unit": unit, "specials": specials, "cure": cure, "components": components}
        options |= {"least_uses": least_uses, "seed": seed} | corpus_of(sentences, corpus)
        return to_json(ask(model, partial(analysis.measure_anisotropy, **options)))

    def measure_cures(
        sentences: Sentences = None,
        model: str = VECTOR_MODEL,
        corpus: str = "",
        layers: list[int] | None = None,
        unit: str = "tokens",
        specials: bool = False,
        cures: list[str] | None = None,
        components: int = 3,
        least_uses: int = 5,
        seed: int = 0,
    ) -> list[Answer]:
        options = {"layers": layers, "unit": unit, "specials": specials, "components": components}
        options |= {"least_uses": least_uses, "seed": seed} | corpus_of(sentences, corpus)
        options |= {} if cures is None else {"cures": cures}
        return to_json(ask(model, partial(analysis.measure_cures, **options)))

    def find_rogue_dimensions(
        sentences: Sentences = None,
        model: str = VECTOR_MODEL,
        k: int = 5,
        corpus: str = "",
        layers: list[int] | None = None,
        unit: str = "tokens",
        specials: bool = False,
        places: int = 200,
        ablated: int = -1,
        value: str = "mean",
        seed: int = 0,
    ) -> Answer:
        options = {"k": k, "layers": layers, "unit": unit, "specials": specials, "places": places, "value": value}
        options |= {"ablated": ablated, "seed": seed} | corpus_of(sentences, corpus)
        return to_json(ask(model, partial(analysis.find_rogue_dimensions, **options)))

    def compare_similarity(
        pairs: list[list[str | float]],
        model: str = VECTOR_MODEL,
        name: str = "The caller's pairs",
        layers: list[int] | None = None,
        poolings: list[str] | None = None,
        cures: list[str] | None = None,
        components: int = 3,
    ) -> Answer:
        options = {"layers": layers, "poolings": poolings or ["cls", "mean", "max"], "cures": cures or ["none"]}
        _check_length(str(cell) for pair in pairs if isinstance(pair, list) for cell in pair)
        return to_json(
            ask(model, partial(analysis.compare_similarity, pairs=pairs, name=name, components=components, **options))
        )

    def find_texts(
        query: str,
        texts: list[str],
        model: str = VECTOR_MODEL,
        pooling: str = "mean",
        layer: int = -1,
        cure: str = "none",
        components: int = 3,
        k: int = 10,
    ) -> Answer:
        options = {"pooling": pooling, "layer": layer, "cure": cure, "components": components, "k": k}
        _check_length(texts)
        return to_json(ask(model, partial(analysis.find_texts, query=query, texts=texts, **options)))

    return measure_anisotropy, measure_cures, find_rogue_dimensions, compare_similarity, find_texts


def corpus_of(sentences: Sentences, name: str = "") -> dict[str, Any]:
    """A caller's sentences and their name, or those that come with the explorer.

    Raises:
        UnsuitableText: There are too many characters.
    """
    if not sentences:
        return {"sentences": read_own_corpus(), "corpus": OWN_CORPUS}
    _check_length(sentences)
    return {"sentences": sentences, "corpus": name or HTTP_CORPUS}


def _check_length(texts: Any) -> None:
    """Refuse what would keep a device busy for long, before a model is loaded."""
    count = sum(len(text) for text in texts if isinstance(text, str))
    if count > settings().most_corpus_characters:
        raise UnsuitableText(
            f"There are {count:,} characters; at most {settings().most_corpus_characters:,} are measured at once over "
            f"HTTP. Give fewer sentences, or use Python or a shell, which have no limit."
        )
