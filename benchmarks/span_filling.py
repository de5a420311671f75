"""Span filling against five `generate()` calls of one candidate each: same beams, same scores, and how fast.

Both use the same network and the same tokenizer, in one process and one run. Equality is asserted, time never is.

    python benchmarks/span_filling.py [--model NAME] [--rounds 20] [--json]
"""

import argparse
import json
from dataclasses import asdict
from functools import partial
from statistics import median

import torch
from measuring import Ratio, describe_machine, print_table, ratio_of, take_turns
from transformers.utils import logging

import explorer
from explorer.analysis import fill_spans
from explorer.analysis.corruption.sentinels import find_sentinels
from explorer.analysis.spans_by_writing import LEAST_BEAMS
from explorer.models.backend import LoadedModel
from explorer.models.catalogue import SPAN_MODEL

CANDIDATES, MOST_TOKENS = 5, 10
TOLERANCES = {torch.float32: 1e-4, torch.bfloat16: 5e-2}  # of log-probabilities, in nats
TEXTS = (
    "The children were playing in the ___ when it began to rain.",
    "She opened the ___ and looked at the letter.",
    "In the summer of that year he ___ to the north of the country.",
    "The river runs through ___ before it reaches the sea.",
)


def generate(model: LoadedModel, text: str, beams: int, returned: int) -> list[tuple[str, float]]:
    """Fills and scores of one blank, as generate gives them by itself."""
    network, tokenizer = model.network, model.tokenizer
    sentinels = find_sentinels(tokenizer)
    ends = [network.config.eos_token_id, *sentinels]
    made = network.generate(
        tokenizer(text.replace("___", "<extra_id_0>"), return_tensors="pt").input_ids.to(network.device),
        decoder_input_ids=torch.tensor([[network.config.decoder_start_token_id, sentinels[0]]], device=network.device),
        num_beams=beams,
        num_return_sequences=returned,
        do_sample=False,
        length_penalty=0.0,
        max_new_tokens=MOST_TOKENS + 1,
        eos_token_id=ends,
        pad_token_id=tokenizer.pad_token_id,
        return_dict_in_generate=True,
        output_scores=True,
    )
    fills: dict[str, float] = {}
    for ids, score in zip(made.sequences[:, 2:].tolist(), made.sequences_scores.tolist(), strict=True):
        kept = [token for token in ids if token not in ends]
        fills.setdefault(tokenizer.decode(kept, skip_special_tokens=True).strip(), score)
    return list(fills.items())


def check_same(model: LoadedModel) -> int:
    """How many candidates were compared; an error if one differs."""
    compared = 0
    for text in TEXTS:
        ours = [(c.text, c.log_probability) for c in fill_spans(model, text, count=CANDIDATES).spans[0].choices]
        theirs = generate(model, text, LEAST_BEAMS, LEAST_BEAMS)[:CANDIDATES]
        assert [fill for fill, _ in ours] == [fill for fill, _ in theirs], (ours, theirs)
        assert all(abs(a - b) < TOLERANCES[model.network.dtype] for (_, a), (_, b) in zip(ours, theirs, strict=True))
        compared += len(ours)
    return compared


def compare(model: LoadedModel, rounds: int) -> tuple[dict[str, float], Ratio, int]:
    """Medians in milliseconds per text; our time over theirs; how many candidates were compared."""

    def five_calls(turn: int) -> None:
        for _ in range(CANDIDATES):
            generate(model, TEXTS[turn % len(TEXTS)], LEAST_BEAMS, 1)

    with torch.inference_mode():
        compared = check_same(model)
        seconds = take_turns(
            {
                "ours": lambda turn: fill_spans(model, TEXTS[turn % len(TEXTS)], count=CANDIDATES),
                "five calls": five_calls,
            },
            rounds,
        )
    medians = {name: 1000 * median(runs) for name, runs in seconds.items()}
    return medians, ratio_of(seconds["ours"], seconds["five calls"]), compared


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default=SPAN_MODEL)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    logging.set_verbosity_error()
    registry = explorer.open_registry()
    medians, ratio, compared = registry.run(options.model, partial(compare, rounds=options.rounds))
    if options.json:
        print(json.dumps({"machine": describe_machine(), "ms": medians, "ratio": asdict(ratio), "compared": compared}))
        return
    tolerance = registry.run(options.model, lambda model: TOLERANCES[model.network.dtype])
    rows = [[options.model, f"{medians['ours']:.0f} ms", f"{medians['five calls']:.0f} ms", str(ratio)]]
    title = f"Same {compared} candidates, scores within {tolerance:g} nats, {options.rounds} rounds"
    print_table(title, ["model", "fill_spans, 5 candidates", "five generate() calls", "ours / theirs [95 %]"], rows)


if __name__ == "__main__":
    main()
