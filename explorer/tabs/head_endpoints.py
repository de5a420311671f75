"""The endpoints about attention heads; see endpoints.py."""

from collections.abc import Callable
from contextlib import closing
from functools import partial

from explorer import analysis
from explorer.analysis.exporting import to_json
from explorer.analysis.head_patterns import THRESHOLDS, name_patterns
from explorer.models.catalogue import DEFAULT_MODEL
from explorer.models.registry import Registry
from explorer.tabs.scoring_endpoints import Answer
from explorer.tabs.visitors import ask_model, find_model


def head_endpoints(registry: Registry) -> tuple[Callable[..., Answer], ...]:
    """The functions to be called by name, with keyword parameters; each returns the frozen result as JSON."""

    ask = partial(ask_model, registry)

    def measure_heads(
        texts: list[str] | None = None,
        model: str = DEFAULT_MODEL,
        seed: int = 0,
        stack: str | None = None,
        second_text: str = "",
        written: list[int] | None = None,
    ) -> Answer:
        options = {"stack": stack, "seed": seed, "second_text": second_text, "written": written or ()}
        result = ask(model, partial(analysis.measure_heads, texts=texts or (), **options))
        return to_json(result) | {"patterns": to_json(name_patterns(result)), "thresholds": THRESHOLDS}

    def match_relations(model: str = DEFAULT_MODEL, least_count: int = 10, stack: str | None = None) -> Answer:
        return to_json(ask(model, partial(analysis.match_relations, stack=stack, least_count=least_count)))

    def ablate_heads(
        text: str,
        heads: list[str] | None = None,
        model: str = DEFAULT_MODEL,
        all_but: bool = False,
        top_k: int = 5,
        second_text: str = "",
        written: list[int] | None = None,
    ) -> Answer:
        options = {"heads": heads or (), "all_but": all_but, "top_k": top_k}
        options |= {"second_text": second_text, "written": written or ()}
        return to_json(ask(model, partial(analysis.ablate_heads, text=text, **options)))

    def rank_heads(
        text: str, model: str = DEFAULT_MODEL, second_text: str = "", written: list[int] | None = None
    ) -> Answer:
        options = {"second_text": second_text, "written": written or ()}
        models, name = find_model(registry, model)
        with closing(models.stream(name, partial(analysis.rank_heads, text=text, **options))) as steps:
            *_, last = steps
        return to_json(last)

    return measure_heads, match_relations, ablate_heads, rank_heads
