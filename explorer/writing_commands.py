"""Commands of the shell that have a model write."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from explorer.analysis.beam_results import BeamSearch, BeamStep
from explorer.analysis.decoding_strategies import CONTROLS, STRATEGIES
from explorer.analysis.generation_results import STOPS, Continuation, join_steps
from explorer.models.catalogue import CAUSAL_MODEL
from explorer.scoring_commands import PromptArgument
from explorer.shell import JsonOption, ModelOption, find_model, print_result, read
from explorer.terminal import columns, percent

if TYPE_CHECKING:
    from explorer.analysis.generation_results import GenerationStep

Tokens = Annotated[int, typer.Option("--max-new-tokens", "-n", help="Most tokens to write.")]
Beams = Annotated[int, typer.Option(help=CONTROLS["beams"].hint)]
RepetitionPenalty = Annotated[float, typer.Option(help=CONTROLS["repetition_penalty"].hint)]
StepsOption = Annotated[bool, typer.Option("--steps", help="Show each token with what else might have stood there.")]


def continue_text(
    prompt: PromptArgument,
    model: ModelOption = CAUSAL_MODEL,
    strategy: Annotated[str, typer.Option("--strategy", "-s", help=f"One of: {', '.join(STRATEGIES)}.")] = "sample",
    max_new_tokens: Tokens = 40,
    temperature: Annotated[float, typer.Option(help=CONTROLS["temperature"].hint)] = 1.0,
    top_k: Annotated[int, typer.Option(help=CONTROLS["top_k"].hint)] = 0,
    top_p: Annotated[float, typer.Option(help=CONTROLS["top_p"].hint)] = 1.0,
    min_p: Annotated[float, typer.Option(help=CONTROLS["min_p"].hint)] = 0.0,
    typical_p: Annotated[float, typer.Option(help=CONTROLS["typical_p"].hint)] = 1.0,
    repetition_penalty: RepetitionPenalty = 1.0,
    beams: Beams = 4,
    penalty_alpha: Annotated[float, typer.Option(help=CONTROLS["penalty_alpha"].hint)] = 0.6,
    contrast_k: Annotated[int, typer.Option(help=CONTROLS["contrast_k"].hint)] = 4,
    seed: Annotated[int, typer.Option(help=CONTROLS["seed"].hint)] = 0,
    alternatives: Annotated[int, typer.Option(help="Of the likeliest tokens, how many stand beside each.")] = 5,
    steps: StepsOption = False,
    as_json: JsonOption = False,
) -> None:
    """Go on writing a text; it appears token by token."""
    from explorer.analysis import continue_text

    options = {
        "strategy": strategy,
        "max_new_tokens": max_new_tokens,
        "temperature": temperature,
        "top_k": top_k,
        "top_p": top_p,
        "min_p": min_p,
        "typical_p": typical_p,
        "repetition_penalty": repetition_penalty,
        "beams": beams,
        "penalty_alpha": penalty_alpha,
        "contrast_k": contrast_k,
        "seed": seed,
        "alternatives": alternatives,
    }
    prompt = read(prompt)
    written: list[GenerationStep] = []
    registry, model = find_model(model)
    for step in registry.stream(model, partial(continue_text, prompt=prompt, **options)):
        if not as_json:
            typer.echo(step.text if written else prompt + step.text, nl=False)
            sys.stdout.flush()
        written.append(step)
    describe: Callable[[Continuation], str] = _describe_steps if steps else _describe_end
    print_result(join_steps(model, prompt, strategy, written), as_json, describe)


def search_beams(
    prompt: PromptArgument,
    model: ModelOption = CAUSAL_MODEL,
    beams: Beams = 4,
    max_new_tokens: Tokens = 10,
    repetition_penalty: RepetitionPenalty = 1.0,
    as_json: JsonOption = False,
) -> None:
    """Show the beams of a beam search as they live, end and are dropped."""
    from explorer.analysis import search_beams

    prompt = read(prompt)
    options = {"beams": beams, "max_new_tokens": max_new_tokens, "repetition_penalty": repetition_penalty}
    found: list[BeamStep] = []
    registry, model = find_model(model)
    for step in registry.stream(model, partial(search_beams, prompt=prompt, **options)):
        found.append(step)
        if not as_json:
            typer.echo(_describe_beams(len(found), step))
    print_result(BeamSearch(model, prompt, tuple(found)), as_json, _describe_best)


def _describe_end(result: Continuation) -> str:
    return f"\n\n{len(result.steps)} tokens. {STOPS[result.stop]}\nModel: {result.model} · {result.strategy}"


def _describe_steps(result: Continuation) -> str:
    rows: list[Sequence[object]] = [["token", "probability", "chance", "rank", "entropy", "likeliest"]]
    for step in result.steps:
        likeliest = ", ".join(f"{option.text!r} {percent(option.probability)}" for option in step.alternatives)
        numbers = [percent(step.probability), percent(step.chance), step.rank, f"{step.entropy:.2f} nats"]
        rows.append([repr(step.text), *numbers, likeliest])
    return "\n\n" + columns(rows, right=[1, 2, 3, 4]) + _describe_end(result)


def _describe_beams(number: int, step: BeamStep) -> str:
    rows = [[beam.fate, f"{beam.log_probability:.2f}", f"{beam.score:.2f}", beam.text] for beam in step.beams]
    return f"Token {number}\n" + columns([["", "nats", "per token", ""], *rows], right=[1, 2]) + "\n"


def _describe_best(result: BeamSearch) -> str:
    last = result.steps[-1]
    best = last.ended[0]
    numbers = f"{best.log_probability:.2f} nats, {best.score:.2f} per token"
    return f"Best: {result.prompt}{best.text}\n{numbers}. {STOPS[last.stop]}\nModel: {result.model}"


COMMANDS = (continue_text, search_beams)
