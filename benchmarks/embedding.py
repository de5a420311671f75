"""Uses of words embedded by embed_occurrences against what else gives token vectors or embeds sentences, taking turns.

One word of each of many sentences; all see the same sentences and the same network in the same process. The vectors are
asserted to be those of the pipeline; times are only reported, in tokens per second. Every round takes another part of
the sentences, so that all of them are embedded once by each. sentence-transformers is compared where it is installed.

    python benchmarks/embedding.py [--model NAME] [--sentences 20000] [--rounds 20] [--json]
"""

import argparse
import importlib
import json
import resource
import sys
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec

import numpy as np
from corpora import read_sentences
from measuring import Ratio, describe_machine, print_table, ratio_of, take_turns
from transformers import pipeline
from transformers.utils import logging

import explorer
from explorer.analysis import embed_occurrences
from explorer.analysis.uses import find_uses
from explorer.models.backend import LoadedModel

BATCH = 32
TOLERANCE = 1e-5
PEER = "sentence_transformers"
OURS, PIPELINE = "embed_occurrences, all layers", "feature-extraction pipeline"


@dataclass(frozen=True)
class Speeds:
    """What all took.

    Attributes:
        model: Its name.
        sentences: How many were embedded by each.
        tokens: How many tokens these are, special ones included.
        tokens_per_second: Of each contestant, over all rounds.
        ratios: How many times as long each takes as embed_occurrences with all layers, and the 95 % interval.
        largest_difference: Of a number of a vector from the pipeline's.
        memory_mib: Most memory the process held.
    """

    model: str
    sentences: int
    tokens: int
    tokens_per_second: dict[str, float]
    ratios: dict[str, Ratio]
    largest_difference: float
    memory_mib: float


def uses_of(sentences: list[str], rounds: int) -> list[tuple[list[str], list[tuple[int, int]]]]:
    """The sentences dealt out to rounds, each with the place of its middle word."""
    dealt = []
    for turn in range(rounds):
        some = sentences[turn::rounds]
        words = [sentence.split() for sentence in some]
        spans = [
            find_uses(s, w[len(w) // 2].strip(".,;:!?'\"()") or w[0])[:1] for s, w in zip(some, words, strict=True)
        ]
        kept = [(sentence, span[0]) for sentence, span in zip(some, spans, strict=True) if span]
        dealt.append(([sentence for sentence, _ in kept], [span for _, span in kept]))
    return dealt


def measure(model: LoadedModel, sentences: list[str], rounds: int) -> Speeds:
    """Embed all sentences by each contestant, a part at a time."""
    parts = uses_of(sentences, rounds)
    body = model.network.base_model
    extract = pipeline("feature-extraction", model=body, tokenizer=model.tokenizer, batch_size=BATCH, device="cpu")

    def ours(turn: int) -> object:
        return embed_occurrences(model, sentences=parts[turn][0], positions=parts[turn][1])

    contestants = {OURS: ours, PIPELINE: lambda turn: extract(parts[turn][0])}
    if find_spec(PEER):
        contestants[f"sentence-transformers {version(PEER.replace('_', '-'))}, encode"] = _encoder(model, parts)
    difference = _compare(model, extract, *parts[0])
    seconds = take_turns(contestants, rounds, warm_up=1)
    tokens = sum(len(model.tokenizer(sentence)["input_ids"]) for part, _ in parts for sentence in part)
    return Speeds(
        model=model.card.name,
        sentences=sum(len(part) for part, _ in parts),
        tokens=tokens,
        tokens_per_second={name: tokens / sum(times) for name, times in seconds.items()},
        ratios={name: ratio_of(times, seconds[OURS]) for name, times in seconds.items()},
        largest_difference=difference,
        memory_mib=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    )


def _encoder(model: LoadedModel, parts: list) -> object:
    """The same network inside a SentenceTransformer: token vectors, their mean, length 1."""
    from tempfile import TemporaryDirectory

    peer = importlib.import_module(PEER)
    with TemporaryDirectory() as folder:
        model.network.base_model.save_pretrained(folder)
        model.tokenizer.save_pretrained(folder)
        encoder = peer.SentenceTransformer(folder, device="cpu")
    encoder.max_seq_length = model.limit_tokens
    return lambda turn: encoder.encode(parts[turn][0], batch_size=BATCH, show_progress_bar=False)


def _compare(model: LoadedModel, extract: object, sentences: list[str], spans: list[tuple[int, int]]) -> float:
    """The largest difference from the pipeline's vectors, for a few sentences."""
    some, few = sentences[:BATCH], spans[:BATCH]
    ours = embed_occurrences(model, sentences=some, positions=few, layers=[-1]).vectors[0]
    largest = 0.0
    for sentence, (start, end), vector in zip(some, few, ours, strict=True):
        offsets = model.tokenizer(sentence, return_offsets_mapping=True)["offset_mapping"]
        places = [place for place, (first, last) in enumerate(offsets) if first < end and last > start]
        theirs = np.array(extract(sentence)[0])[places].mean(axis=0)
        largest = max(largest, float(np.abs(theirs - vector).max()))
    assert largest < TOLERANCE, f"vectors differ by {largest}"
    return largest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="all-MiniLM-L6-v2", help="an encoder, or a causal model with a pad token")
    parser.add_argument("--sentences", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    logging.set_verbosity_error()
    sentences = read_sentences(options.sentences)
    if not find_spec(PEER):
        print("sentence-transformers is not installed: it is not compared.", file=sys.stderr)
    ask = partial(measure, sentences=sentences, rounds=min(options.rounds, len(sentences)))
    result = explorer.open_registry().run(options.model, ask)
    if options.json:
        print(json.dumps({"machine": describe_machine(), **asdict(result)}))
        return
    for name, value in describe_machine().items():
        print(f"{name}: {value}")
    title = (
        f"{result.model}: one use in each of {result.sentences:,} sentences ({result.tokens:,} tokens); "
        f"largest difference {result.largest_difference:.0e}; most memory {result.memory_mib:,.0f} MiB"
    )
    rows = [[name, f"{speed:,.0f}", str(result.ratios[name])] for name, speed in result.tokens_per_second.items()]
    print_table(title, ["", "tokens per second", f"time, as multiples of {OURS}"], rows)


if __name__ == "__main__":
    main()
