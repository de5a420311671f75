"""What attention on demand costs: those who do not ask for it, and those who do.

Plain passes and decoding steps of one network, under transformers' fast attention and under ours; then the weights of
12 layers of 12 heads over 512 tokens, beside transformers' eager attention, with what they take in memory.

    python benchmarks/attention_cost.py [--rounds 200]
"""

import argparse
import os
import time
from functools import partial
from pathlib import Path
from statistics import median
from threading import Event, Thread

import torch
from measuring import describe_machine, print_table, ratio_of, take_turns
from transformers import BertConfig, BertModel

import explorer
from explorer.models.attention import read_weights
from explorer.models.backend import LoadedModel
from explorer.models.decoding import begin_draft, extend_drafts
from explorer.models.fast_attention import IMPLEMENTATION, configs_of

TOKENS, MIB = 512, 2**20
BASE = {"num_hidden_layers": 12, "num_attention_heads": 12, "hidden_size": 768, "intermediate_size": 3072}


def switch(network: torch.nn.Module, implementation: str) -> None:
    """Have all parts of a network run an attention implementation of transformers."""
    for config in configs_of(network):
        config._attn_implementation = implementation


def in_both_ways(network: torch.nn.Module, work: object, rounds: int) -> list[object]:
    """Medians in milliseconds with fast attention by either name, and their ratio."""

    def run(turn: int, implementation: str) -> None:
        switch(network, implementation)
        work()

    seconds = take_turns({name: partial(run, implementation=name) for name in ("sdpa", IMPLEMENTATION)}, rounds, 20)
    medians = [f"{1000 * median(seconds[name]):.2f} ms" for name in ("sdpa", IMPLEMENTATION)]
    return [*medians, str(ratio_of(seconds[IMPLEMENTATION], seconds["sdpa"]))]


def plain_pass(model: LoadedModel, tokens: int, rounds: int) -> list[object]:
    """One row through the whole network."""
    ids = torch.arange(tokens)[None] + 1000
    return in_both_ways(model.network, lambda: model.network(input_ids=ids), rounds)


def decode_step(model: LoadedModel, rounds: int) -> list[object]:
    """One token behind a text of up to 256, as the tab Generate writes it."""
    drafts = []

    def step() -> None:
        if not drafts or len(drafts[0].ids) == drafts[0].room_tokens:
            for draft in drafts:
                draft.close()
            drafts[:] = [begin_draft(model, [101, *range(500, 510)], 256)[0]]
        extend_drafts(model, drafts, [700])

    return in_both_ways(model.network, step, rounds)


def peak_mib(work: object) -> tuple[float, float]:
    """Resident memory that some work takes at most, in MiB, and its seconds; Linux only."""
    page = os.sysconf("SC_PAGE_SIZE")
    done, seen = Event(), []

    def look() -> None:
        while not done.is_set():
            seen.append(int(Path("/proc/self/statm").read_text().split()[1]) * page / MIB)
            time.sleep(0.002)

    watcher = Thread(target=look)
    watcher.start()
    time.sleep(0.05)
    before, start = seen[-1], time.perf_counter()
    kept = work()
    seconds = time.perf_counter() - start
    done.set()
    watcher.join()
    del kept
    return max(seen) - before, seconds


@torch.inference_mode()
def reading() -> list[list[object]]:
    """Rows of the second table."""
    torch.manual_seed(0)
    network = BertModel(BertConfig(**BASE)).eval()
    inputs = {"input_ids": torch.randint(1000, 2000, (1, TOKENS))}
    read_weights(network, inputs, layers=[0])
    rows = []
    for name, implementation, work in (
        ("plain pass, no weights", IMPLEMENTATION, lambda: network(**inputs)),
        ("all layers, on demand", IMPLEMENTATION, lambda: read_weights(network, inputs)),
        ("layer 0 alone", IMPLEMENTATION, lambda: read_weights(network, inputs, layers=[0])),
        ("layer 11 alone", IMPLEMENTATION, lambda: read_weights(network, inputs, layers=[11])),
        ("transformers, eager", "eager", lambda: network(**inputs, output_attentions=True)),
    ):
        switch(network, implementation)
        work()
        runs = [peak_mib(work) for _ in range(5)]
        rows.append([name, f"{min(s for _, s in runs):.2f} s", f"{max(mib for mib, _ in runs):.0f} MiB"])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    rounds = parser.parse_args().rounds
    registry = explorer.open_registry()
    rows = [
        ["MiniLM (masked), 12 tokens", *registry.run("MiniLM (masked)", partial(plain_pass, tokens=12, rounds=rounds))],
        ["MiniLM (masked), 128", *registry.run("MiniLM (masked)", partial(plain_pass, tokens=128, rounds=rounds))],
        ["MiniLM (causal), a step", *registry.run("MiniLM (causal)", partial(decode_step, rounds=rounds))],
        ["GPT mini, a step", *registry.run("GPT mini", partial(decode_step, rounds=rounds))],
    ]
    print(", ".join(f"{name}: {value}" for name, value in describe_machine().items()))
    print_table("Who does not ask for weights", ["pass", "sdpa", "ours", "ours / sdpa [95 %]"], rows)
    print_table(f"12 x 12 heads, {TOKENS} tokens", ["asked for", "fastest of 5", "peak above before"], reading())


if __name__ == "__main__":
    main()
