"""The endpoints that have a model write; see endpoints.py."""

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial

from explorer import analysis
from explorer.analysis.beam_results import BeamSearch
from explorer.analysis.exporting import to_json
from explorer.analysis.generation_results import join_steps
from explorer.models.catalogue import CAUSAL_MODEL
from explorer.models.registry import Registry
from explorer.tabs.scoring_endpoints import Answer
from explorer.tabs.visitors import find_model

UPDATE_SECONDS = 0.25


def writing_endpoints(registry: Registry) -> tuple[Callable, ...]:
    """The functions to be called by name, with keyword parameters; each returns the whole result as JSON.

    continue_text tells what is written so far, too, from time to time, and ends when nobody listens any more.
    """

    def continue_text(
        prompt: str,
        model: str = CAUSAL_MODEL,
        strategy: str = "sample",
        max_new_tokens: int = 40,
        temperature: float = 1.0,
        top_k: int = 0,
        top_p: float = 1.0,
        min_p: float = 0.0,
        typical_p: float = 1.0,
        repetition_penalty: float = 1.0,
        beams: int = 4,
        penalty_alpha: float = 0.6,
        contrast_k: int = 4,
        seed: int = 0,
        alternatives: int = 10,
        written: list[int] | None = None,
    ) -> Iterator[Answer]:
        question = partial(
            analysis.continue_text,
            prompt=prompt,
            strategy=strategy,
            max_new_tokens=max_new_tokens,
            temperature=temperature,
            top_k=top_k,
            top_p=top_p,
            min_p=min_p,
            typical_p=typical_p,
            repetition_penalty=repetition_penalty,
            beams=beams,
            penalty_alpha=penalty_alpha,
            contrast_k=contrast_k,
            seed=seed,
            alternatives=alternatives,
            written=written or (),
        )
        models, name = find_model(registry, model)
        steps, told = [], time.monotonic()
        with closing(models.stream(name, question)) as stream:
            for step in stream:
                steps.append(step)
                if time.monotonic() - told >= UPDATE_SECONDS:
                    yield to_json(join_steps(name, prompt, strategy, steps))
                    told = time.monotonic()
        yield to_json(join_steps(name, prompt, strategy, steps))

    def search_beams(
        prompt: str,
        model: str = CAUSAL_MODEL,
        beams: int = 4,
        max_new_tokens: int = 20,
        repetition_penalty: float = 1.0,
        written: list[int] | None = None,
    ) -> Answer:
        options = {"beams": beams, "max_new_tokens": max_new_tokens, "repetition_penalty": repetition_penalty}
        question = partial(analysis.search_beams, prompt=prompt, written=written or (), **options)
        models, name = find_model(registry, model)
        return to_json(BeamSearch(name, prompt, tuple(models.stream(name, question))))

    return continue_text, search_beams
