"""Every analysis as an HTTP endpoint under its own name: keyword parameters in, the frozen result as JSON out."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial, wraps
from inspect import getdoc, isgeneratorfunction, signature
from typing import Any

import gradio as gr
import plotly.graph_objects as go
from gradio.context import get_blocks_context

from explorer import analysis
from explorer.analysis.exporting import to_json
from explorer.analysis.language_sampling import XLM_R_ALPHA
from explorer.analysis.language_sampling import sample_languages as list_shares
from explorer.analysis.objectives import found_telling
from explorer.errors import ExplorerError
from explorer.figures.bars import blank_bars, candidate_bars, contrast_bars
from explorer.models.catalogue import DEFAULT_MODEL, SPAN_MODEL
from explorer.models.registry import Registry
from explorer.tabs.anisotropy_endpoints import anisotropy_endpoints
from explorer.tabs.attention_endpoints import attention_endpoints
from explorer.tabs.drawings import draw_once
from explorer.tabs.embedding_endpoints import embedding_endpoints
from explorer.tabs.endpoint_words import SUMMARIES, explain_parameters
from explorer.tabs.head_endpoints import head_endpoints
from explorer.tabs.messages import fault_message
from explorer.tabs.scoring_endpoints import scoring_endpoints
from explorer.tabs.tuning_endpoints import tuning_endpoints
from explorer.tabs.visitors import ask_model
from explorer.tabs.writing_endpoints import writing_endpoints

Answer = dict[str, Any]


def add_endpoints(registry: Registry) -> None:
    """Add the endpoints to the page being built. Each returns the result, and its drawing as a plotly figure."""

    def run(model: str, ask: Callable, draw: Callable[[Any], go.Figure] | None = None) -> Answer:
        result = ask_model(registry, model, ask)
        return to_json(result) | ({"figure": json.loads(draw_once(draw, result).plot)} if draw else {})

    def fill_blanks(
        text: str, model: str = DEFAULT_MODEL, top_k: int = 5, count: int = 5, strategy: str = "joint"
    ) -> Answer:
        ask = partial(analysis.fill_blanks, text=text, top_k=top_k, count=count, strategy=strategy)
        return run(model, ask, blank_bars)

    def reveal_blanks(
        text: str, model: str = DEFAULT_MODEL, strategy: str = "most_confident_first", top_k: int = 5
    ) -> Answer:
        return run(model, partial(analysis.reveal_blanks, text=text, strategy=strategy, top_k=top_k))

    def rank_candidates(text: str, candidates: list[list[str]], model: str = DEFAULT_MODEL, top_k: int = 5) -> Answer:
        return run(model, partial(analysis.rank_candidates, text=text, candidates=candidates, top_k=top_k),
                   candidate_bars)  # fmt: skip

    def contrast_texts(
        text: str, other_text: str, model: str = DEFAULT_MODEL, top_k: int = 20, blank: int = 1
    ) -> Answer:
        ask = partial(analysis.contrast_texts, text=text, other_text=other_text, top_k=top_k, blank=blank)
        return run(model, ask, contrast_bars)

    def tokenize_text(text: str, model: str = DEFAULT_MODEL) -> Answer:
        return run(model, partial(analysis.tokenize_text, text=text))

    def fill_spans(
        text: str, model: str = SPAN_MODEL, count: int = 5, most_tokens: int = 10, method: str = "beams", seed: int = 0
    ) -> Answer:
        options = {"count": count, "most_tokens": most_tokens, "method": method, "seed": seed}
        return run(model, partial(analysis.fill_spans, text=text, **options))

    def compute_loss(
        text: str,
        model: str = DEFAULT_MODEL,
        objective: str = "masked",
        seed: int = 0,
        noise: str = "text_infilling",
        other_text: str = "",
        generator: str = "",
    ) -> Answer:
        drawn = None
        if generator:  # a masked model that draws what ELECTRA is to detect
            drawn = ask_model(registry, generator, partial(analysis.draw_replacements, text=text, seed=seed))
        options = {"objective": objective, "seed": seed, "noise": noise, "other_text": other_text}
        return run(model, partial(analysis.compute_loss, text=text, replacements=drawn, **options))

    def show_objective(
        text: str,
        model: str = DEFAULT_MODEL,
        objective: str = "next_sentence",
        seed: int = 0,
        noise: str = "text_infilling",
        other_text: str = "",
    ) -> Answer:
        options = {"objective": objective, "seed": seed, "noise": noise, "other_text": other_text}
        return run(model, partial(analysis.show_objective, text=text, **options))

    def find_telling_example(text: str, model: str = DEFAULT_MODEL, objective: str = "masked", seed: int = 0) -> Answer:
        ask = partial(analysis.find_telling_example, text=text, objective=objective, seed=seed)
        return to_json(found_telling(ask_model(registry, model, ask), objective))

    def draw_replacements(text: str, model: str = DEFAULT_MODEL, seed: int = 0) -> Answer:
        return run(model, partial(analysis.draw_replacements, text=text, seed=seed))

    def sample_languages(alpha: float = XLM_R_ALPHA) -> list[Answer]:
        return to_json(list_shares(alpha))

    fills = (fill_blanks, reveal_blanks, rank_candidates, contrast_texts, fill_spans)
    for endpoint in (
        *fills,
        tokenize_text,
        compute_loss,
        show_objective,
        find_telling_example,
        draw_replacements,
        sample_languages,
        *scoring_endpoints(registry),
        *attention_endpoints(registry),
        *writing_endpoints(registry),
        *head_endpoints(registry),
        *embedding_endpoints(registry),
        *anisotropy_endpoints(registry),
        *tuning_endpoints(registry),
    ):
        _add(endpoint)


def _add(endpoint: Callable) -> None:
    name, asked = endpoint.__name__, _explained(endpoint)
    added = gr.api(asked, api_name=name, api_description=getdoc(endpoint) or SUMMARIES[name],
                   concurrency_limit=None)  # fmt: skip
    inputs = [get_blocks_context().blocks[number] for number in added["inputs"]]
    explain_parameters(name, zip(signature(endpoint).parameters, inputs, strict=True))


def _explained(endpoint: Callable) -> Callable:
    """Turn the explorer's errors into messages for the caller; a fault of ours becomes a reference."""

    @contextmanager
    def explaining() -> Iterator[None]:
        try:
            yield
        except ExplorerError as error:
            raise gr.Error(str(error), print_exception=False) from error
        except Exception as error:
            raise gr.Error(fault_message(), print_exception=False) from error

    @wraps(endpoint)
    def explained(*args: Any, **kwargs: Any) -> Answer:
        with explaining():
            return endpoint(*args, **kwargs)

    @wraps(endpoint)
    def explained_steps(*args: Any, **kwargs: Any) -> Iterator[Answer]:
        with explaining():
            yield from endpoint(*args, **kwargs)

    return explained_steps if isgeneratorfunction(endpoint) else explained
