"""The endpoints about next tokens, layers and scores; see endpoints.py."""

from collections.abc import Callable
from functools import partial
from typing import Any

from explorer import analysis
from explorer.analysis.exporting import to_json
from explorer.analysis.score_comparison import compare_scores as compare
from explorer.models.catalogue import CAUSAL_MODEL, DEFAULT_MODEL
from explorer.models.registry import Registry
from explorer.tabs.visitors import ask_model

Answer = dict[str, Any]


def scoring_endpoints(registry: Registry) -> tuple[Callable[..., Answer], ...]:
    """The functions to be called by name, with keyword parameters; each returns the frozen result as JSON."""

    ask = partial(ask_model, registry)

    def next_tokens(
        prompt: str, model: str = CAUSAL_MODEL, written: list[int] | None = None, top_k: int = 50
    ) -> Answer:
        return to_json(ask(model, partial(analysis.next_tokens, prompt=prompt, written=written or (), top_k=top_k)))

    def read_layers(prompt: str, model: str = CAUSAL_MODEL, top_k: int = 5, blank: int = 1) -> Answer:
        return to_json(ask(model, partial(analysis.read_layers, prompt=prompt, top_k=top_k, blank=blank)))

    def score_text(text: str, model: str = CAUSAL_MODEL, protocol: str = "", alternatives: int = 5) -> Answer:
        return to_json(
            ask(model, partial(analysis.score_text, text=text, protocol=protocol, alternatives=alternatives))
        )

    def score_texts(texts: list[str], model: str = CAUSAL_MODEL, protocol: str = "") -> list[Answer]:
        return to_json(ask(model, partial(analysis.score_texts, texts=texts, protocol=protocol)))

    def compare_scores(text: str, model: str = CAUSAL_MODEL, other_model: str = DEFAULT_MODEL) -> Answer:
        question = partial(analysis.score_text, text=text)
        return to_json(compare(ask(model, question), ask(other_model, question)))

    def choose_option(
        text: str,
        options: list[str],
        model: str = CAUSAL_MODEL,
        normalise: str = "sum",
        domain: str = "",
        protocol: str = "",
    ) -> Answer:
        how = {"options": options, "normalise": normalise, "domain": domain, "protocol": protocol}
        return to_json(ask(model, partial(analysis.choose_option, text=text, **how)))

    return next_tokens, read_layers, score_text, score_texts, compare_scores, choose_option
