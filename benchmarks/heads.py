"""Measuring every head on 1,000 sentences, against a loop over single sentences; and which heads find which relation.

The loop is what one writes with transformers alone: an eager copy of the same network, output_attentions=True, one
sentence at a time, the same measures by slices of the weights. Both tokenize, both score induction on the same random
tokens, and their numbers are compared before they are timed.

    python benchmarks/heads.py [--model NAME] [--sentences N] [--rounds N] [--no-relations]
"""

import argparse
import gzip
import math
import os
from copy import deepcopy
from functools import partial
from itertools import cycle, islice
from pathlib import Path

import numpy as np
import torch
from measuring import describe_machine, print_table, ratio_of, take_turns

import explorer
from explorer.analysis import match_relations, measure_heads
from explorer.analysis.head_patterns import head_name
from explorer.analysis.head_texts import EncodedText, encode_texts, find_punctuation
from explorer.analysis.induction import repeated_tokens
from explorer.analysis.treebank import ParsedSentence, read_conllu, read_own_sentences
from explorer.models.backend import LoadedModel

EVAL_DATA = Path(os.environ.get("EXPLORER_EVAL_DATA", Path(__file__).parents[1] / "../shared/eval"))
TREEBANK = EVAL_DATA / "ud_ewt_dev.conllu.gz"
LEAST_WORDS = 100  # of a relation of the treebank
TOLERANCE = 1e-5
GOAL = 3.0


def read_treebank() -> tuple[ParsedSentence, ...]:
    """UD English EWT dev, where it is at hand."""
    if not TREEBANK.is_file():
        return ()
    with gzip.open(TREEBANK, "rt", encoding="utf-8") as lines:
        return read_conllu(lines)


@torch.inference_mode()
def loop_over_sentences(network: torch.nn.Module, model: LoadedModel, texts: list[str]) -> dict[str, np.ndarray]:
    """The same measures one sentence at a time, for an encoder that puts one token before a text and one behind it."""
    points = find_punctuation(model, encode_texts(model, texts))
    sums: dict[str, torch.Tensor] = {}
    counts: dict[str, int] = {}

    def add(key: str, value: torch.Tensor, count: int) -> None:
        sums[key] = sums.get(key, 0) + value.double()
        counts[key] = counts.get(key, 0) + count

    for text in texts:
        ids = model.tokenizer(text, return_tensors="pt")["input_ids"]
        weights = torch.stack(network(ids, output_attentions=True).attentions)[:, 0]  # layer head query key
        rows, inner = weights[:, :, 1:-1], weights[:, :, 1:-1, 1:-1]
        count = rows.shape[2]
        add("previous", inner.diagonal(-1, 2, 3).sum(-1), count - 1)
        add("next", inner.diagonal(1, 2, 3).sum(-1), count - 1)
        add("same", inner.diagonal(0, 2, 3).sum(-1), count)
        add("first", rows[..., 0].sum(-1), count)
        add("end", rows[..., -1].sum(-1), count)
        marks = torch.tensor([token_id in points for token_id in ids[0].tolist()[1:-1]])
        if marks.any():
            add("punctuation", inner[..., marks].sum((-1, -2)), count)
        add("entropy", torch.special.entr(rows).sum((-1, -2)) / math.log(2), count)
        steps = torch.arange(count)
        add("far", (inner * (steps[:, None] - steps).abs()).sum((-1, -2)), 0)
        add("near", inner.sum((-1, -2)), 0)
    for one in repeated_tokens(model, 0):
        weights = torch.stack(network(torch.tensor([one.ids]), output_attentions=True).attentions)[:, 0]
        half = (len(one.ids) - 2) // 2
        add("induction", weights[..., 1:-1, 1:-1].diagonal(1 - half, 2, 3)[..., -half:].sum(-1), half)
    means = {key: (value / counts[key]).numpy() for key, value in sums.items() if counts[key]}
    return means | {"distance": (sums["far"] / sums["near"]).numpy()}


def compare(model: LoadedModel, texts: list[str], rounds: int) -> None:
    """Compare numbers, then times."""
    eager = deepcopy(model.network.base_model)
    eager.set_attn_implementation("eager")
    ours, loop = measure_heads(model, texts), loop_over_sentences(eager, model, texts)
    worst = max(float(np.abs(ours.values[key] - loop[key]).max()) for key in ours.values)
    assert set(ours.values) <= set(loop) and worst < TOLERANCE, worst
    seconds = take_turns(
        {
            "measure_heads": lambda turn: measure_heads(model, texts),
            "loop": lambda turn: loop_over_sentences(eager, model, texts),
        },
        rounds,
        warm_up=1,
    )
    rows = [
        [name, f"{np.median(times):.2f}", f"{len(texts) / np.median(times):,.0f}"] for name, times in seconds.items()
    ]
    print_table(
        f"{model.card.name}: {len(texts):,} sentences, {ours.tokens:,} tokens, {rounds} rounds in turns; "
        f"largest difference of any number {worst:.1e}",
        ["", "seconds, median", "sentences/s"],
        rows,
    )
    ratio = ratio_of(seconds["loop"], seconds["measure_heads"])
    print(f"\nThe loop takes {ratio} times as long; bar: {GOAL:g}. {'Met.' if ratio.value >= GOAL else 'MISSED.'}")


def show_relations(model: LoadedModel, sentences: tuple[ParsedSentence, ...]) -> None:
    """The best head of each relation."""
    lengths = [len(text.ids) for text in _encoded(model, sentences)]
    kept = [one for one, length in zip(sentences, lengths, strict=True) if length <= model.limit_tokens]
    found = match_relations(model, sentences=kept, source="UD English EWT dev", least_count=LEAST_WORDS)
    rows = []
    for one in found.relations:
        layer, head = divmod(int(one.accuracy.argmax()), one.accuracy.shape[1])
        way = "to" if one.to_head[layer, head] >= one.from_head[layer, head] else "from"
        rows.append(
            [one.relation, f"{one.count:,}", head_name(layer, head), way, f"{100 * one.accuracy[layer, head]:.1f}"]
            + [f"{100 * one.baseline:.1f}", f"{one.offset:+d}"]
        )
    left_out = ", ".join(f"{name} {count}" for name, count in found.left_out.items())
    print_table(
        f"{model.card.name}: best head of each relation, {found.sentences:,} sentences, {found.words:,} words of "
        f"{found.source}. UD, not comparable with the paper's (Stanford Dependencies, Wall Street Journal).",
        ["relation", "n", "head", "direction", "accuracy, %", "best fixed distance, %", "distance"],
        rows,
    )
    print(f"\nLeft out, with fewer than {LEAST_WORDS} words: {left_out or 'none'}.")


def _encoded(model: LoadedModel, sentences: tuple[ParsedSentence, ...]) -> list[EncodedText]:
    with model.tokenizer_lock:
        rows = model.tokenizer([one.text for one in sentences], verbose=False)["input_ids"]
    return [EncodedText(tuple(ids), 0, 0) for ids in rows]


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--model", default="MiniLM (masked)")
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--no-relations", action="store_true")
    given = parser.parse_args()
    for name, value in describe_machine().items():
        print(f"{name}: {value}")
    treebank = read_treebank()
    print(f"sentences: {'UD English EWT dev' if treebank else 'our own, repeated (no treebank at hand)'}")
    source = [one.text for one in treebank or read_own_sentences() if 2 <= len(one.words) <= 100]
    texts = list(islice(cycle(source), given.sentences))
    registry = explorer.open_registry()
    registry.run(given.model, partial(compare, texts=texts, rounds=given.rounds))
    if treebank and not given.no_relations:
        registry.run(given.model, partial(show_relations, sentences=treebank))


if __name__ == "__main__":
    main()
