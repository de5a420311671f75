"""Every analysis as an HTTP endpoint under its own name: keyword parameters in, the frozen result as JSON out."""

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import gradio as gr
import plotly.graph_objects as go

from explorer import analysis
from explorer.analysis.exporting import to_json
from explorer.errors import ExplorerError
from explorer.figures.bars import blank_bars, candidate_bars, contrast_bars
from explorer.models.registry import Registry
from explorer.tabs.first_view import MODEL
from explorer.tabs.messages import fault_message
from explorer.tabs.visitors import find_model

Answer = dict[str, Any]


def add_endpoints(registry: Registry) -> None:
    """Add the endpoints to the page being built. Each returns the result, and its drawing as a plotly figure."""

    def run(model: str, ask: Callable, draw: Callable[[Any], go.Figure] | None = None) -> Answer:
        models, name = find_model(registry, model)
        result = models.run(name, ask)
        return to_json(result) | ({"figure": draw(result).to_plotly_json()} if draw else {})

    def fill_blanks(
        text: str, model: str = MODEL, top_k: int = 5, count: int = 5, strategy: str = "joint"
    ) -> Answer:
        ask = partial(analysis.fill_blanks, text=text, top_k=top_k, count=count, strategy=strategy)
        return run(model, ask, blank_bars)

    def reveal_blanks(
        text: str, model: str = MODEL, strategy: str = "most_confident_first", top_k: int = 5
    ) -> Answer:
        return run(model, partial(analysis.reveal_blanks, text=text, strategy=strategy, top_k=top_k))

    def rank_candidates(
        text: str, candidates: list[list[str]], model: str = MODEL, top_k: int = 5
    ) -> Answer:
        return run(model, partial(analysis.rank_candidates, text=text, candidates=candidates, top_k=top_k),
                   candidate_bars)  # fmt: skip

    def contrast_texts(
        text: str, other_text: str, model: str = MODEL, top_k: int = 20, blank: int = 1
    ) -> Answer:
        ask = partial(analysis.contrast_texts, text=text, other_text=other_text, top_k=top_k, blank=blank)
        return run(model, ask, contrast_bars)

    def tokenize_text(text: str, model: str = MODEL) -> Answer:
        return run(model, partial(analysis.tokenize_text, text=text))

    for endpoint in (fill_blanks, reveal_blanks, rank_candidates, contrast_texts, tokenize_text):
        gr.api(_explained(endpoint), api_name=endpoint.__name__, concurrency_limit=None)


def _explained(endpoint: Callable[..., Answer]) -> Callable[..., Answer]:
    """Turn the explorer's errors into messages for the caller; a fault of ours becomes a reference."""

    @wraps(endpoint)
    def explained(*args: Any, **kwargs: Any) -> Answer:
        try:
            return endpoint(*args, **kwargs)
        except ExplorerError as error:
            raise gr.Error(str(error), print_exception=False) from error
        except Exception as error:
            raise gr.Error(fault_message(), print_exception=False) from error

    return explained
