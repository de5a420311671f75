"""Writing with its choices against plain `generate()`: the same tokens, how fast alone, and how fast for sixteen.

Both use the same network and the same tokenizer, in one process and one run, and take turns. Ours tells the entropy and
ten alternatives at every token, theirs nothing. Equality is asserted, time never is.

    python benchmarks/generation.py [--model NAME] [--rounds 12] [--tokens 60] [--visitors 16] [--json]
"""

import argparse
import json
import time
from dataclasses import asdict
from functools import partial
from statistics import median
from threading import Barrier, Thread

import torch
from measuring import describe_machine, print_table, ratio_of, take_turns
from transformers import GenerationConfig
from transformers.utils import logging

import explorer
from explorer.analysis import continue_text
from explorer.analysis.prompts import encode_prompt
from explorer.models.backend import LoadedModel
from explorer.models.registry import Registry

MODEL = "MiniLM (causal)"
PROMPTS = (
    "Once upon a time there was a king who lived by the sea",
    "The river runs through the town and",
    "She opened the letter, and",
    "In the summer of that year he went to the north of the country, where",
)
STRATEGIES = {  # ours, and what generate calls it
    "greedy": ({}, {"do_sample": False}),
    "beams": ({"beams": 4}, {"do_sample": False, "num_beams": 4}),
    "sample": (
        {"temperature": 0.8, "top_p": 0.9, "repetition_penalty": 1.2},
        {"do_sample": True, "temperature": 0.8, "top_p": 0.9, "repetition_penalty": 1.2, "top_k": 0},
    ),
}


@torch.inference_mode()
def generate(model: LoadedModel, prompt: str, tokens: int, **options: object) -> list[int]:
    """What generate writes, its own settings left out."""
    ids = torch.tensor([encode_prompt(model, prompt)], device=model.network.device)
    config = GenerationConfig(
        max_new_tokens=tokens, eos_token_id=model.network.generation_config.eos_token_id, pad_token_id=0, **options
    )
    made = model.network.generate(ids, attention_mask=torch.ones_like(ids), generation_config=config)
    return made[0, ids.shape[1] :].tolist()


def check_same(model: LoadedModel, tokens: int) -> int:
    """How many tokens were compared; an error if one differs."""
    compared = 0
    for prompt in PROMPTS:
        for strategy, (ours, theirs) in STRATEGIES.items():
            torch.manual_seed(3)
            expected = generate(model, prompt, tokens, **theirs)
            steps = continue_text(model, prompt, strategy=strategy, max_new_tokens=tokens, seed=3, **ours)
            written = [step.token_id for step in steps]
            assert written == expected, (strategy, prompt, written, expected)
            compared += len(written)
    return compared


def compare(model: LoadedModel, rounds: int, tokens: int) -> tuple[dict[str, list[float]], int]:
    """Seconds of each run of one text, and how many tokens were compared."""
    compared = check_same(model, tokens)

    def ours(turn: int) -> None:
        steps = continue_text(model, PROMPTS[turn % len(PROMPTS)], strategy="greedy", max_new_tokens=tokens)
        assert sum(1 for _ in steps) == tokens

    def theirs(turn: int) -> None:
        assert len(generate(model, PROMPTS[turn % len(PROMPTS)], tokens, do_sample=False)) == tokens

    return take_turns({"ours": ours, "generate": theirs}, rounds), compared


def write_at_once(registry: Registry, model: str, visitors: int, tokens: int) -> None:
    """Have as many visitors as asked for write at the same time; each must get all of its tokens."""
    start, counts = Barrier(visitors), [0] * visitors

    def visit(visitor: int) -> None:
        prompt = PROMPTS[visitor % len(PROMPTS)]
        start.wait()
        for _ in registry.stream(
            model, partial(continue_text, prompt=prompt, strategy="greedy", max_new_tokens=tokens)
        ):
            counts[visitor] += 1

    threads = [Thread(target=visit, args=(visitor,)) for visitor in range(visitors)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [tokens] * visitors, counts


def first_token_seconds(registry: Registry, model: str, rounds: int) -> list[float]:
    """From the call to the first step."""
    seconds = []
    for turn in range(rounds):
        began = time.perf_counter()
        steps = registry.stream(model, partial(continue_text, prompt=PROMPTS[turn % len(PROMPTS)]))
        next(steps)
        seconds.append(time.perf_counter() - began)
        steps.close()
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default=MODEL)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--tokens", type=int, default=60)
    parser.add_argument("--visitors", type=int, default=16)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    logging.set_verbosity_error()
    registry = explorer.open_registry()
    alone, compared = registry.run(options.model, partial(compare, rounds=options.rounds, tokens=options.tokens))
    many = take_turns(
        {
            "one": lambda _: write_at_once(registry, options.model, 1, options.tokens),
            "many": lambda _: write_at_once(registry, options.model, options.visitors, options.tokens),
        },
        max(options.rounds // 2, 1),
        warm_up=1,
    )
    first = first_token_seconds(registry, options.model, options.rounds)
    speed = ratio_of(alone["generate"], alone["ours"])  # of tokens per second: ours over theirs
    gain = ratio_of([seconds * options.visitors for seconds in many["one"]], many["many"])
    rates = {name: options.tokens / median(runs) for name, runs in {**alone, "one": many["one"]}.items()}
    rates["many"] = options.visitors * options.tokens / median(many["many"])
    if options.json:
        told = {"machine": describe_machine(), "tokens_per_second": rates, "speed": asdict(speed), "gain": asdict(gain)}
        print(json.dumps({**told, "first_token_ms": [1000 * seconds for seconds in first], "compared": compared}))
        return
    rows = [
        ["one text: ours / generate()", f"{rates['ours']:.0f}", f"{rates['generate']:.0f}", str(speed)],
        [f"{options.visitors} texts at once / one", f"{rates['many']:.0f}", f"{rates['one']:.0f}", str(gain)],
    ]
    title = f"{options.model}: {compared} tokens compared, all the same; {options.rounds} rounds"
    print_table(title, ["tokens per second", "first", "second", "first / second [95 %]"], rows)
    print(
        f"\nFirst token: {1000 * median(first):.0f} ms (median), {1000 * max(first):.0f} ms (longest of {len(first)})"
    )
    print(f"Machine: {describe_machine()}")


if __name__ == "__main__":
    main()
