"""Searching a corpus and then one of ten times its size, each in a process of its own: time, and most memory held.

The corpora are made of generated sentences, one in ten with the word. The same number of uses is embedded of both; the
cache is a temporary folder. A second run of the same job tells what reusing its vectors takes. Memory is told before
the search, when torch and the model are there, and at its most.

    python benchmarks/corpus_jobs.py [--model NAME] [--sentences 100000] [--sample 1000] [--json]
"""

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from measuring import describe_machine, print_table

WORDS = (
    "the a of on with river garden teacher child musician evening morning old young quick small large stage ball piano "
    "drum stone window letter street winter"
).split()
FORMS = ("plays", "played", "playing")
TIMES = 10


def write_corpus(path: Path, count: int) -> None:
    """Different sentences, one in ten with the word."""
    draw = random.Random(0)
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            words = draw.choices(WORDS, k=draw.randint(6, 24))
            if number % 10 == 0:
                words[draw.randrange(len(words))] = draw.choice(("play", *FORMS))
            file.write(f"{' '.join(words).capitalize()} {number}.\n")


def search(corpus: Path, model: str, sample: int) -> dict[str, float]:
    """One job in this process: seconds of each stage, and memory in MiB."""
    import explorer
    from explorer.analysis import embed_occurrences
    from explorer.analysis.corpus_jobs import search_corpus
    from explorer.analysis.corpus_results import CorpusOccurrences

    registry = explorer.open_registry()
    warm = {"sentences": ["A play."] * 64, "positions": [(2, 6)] * 64}
    registry.run(model, partial(embed_occurrences, **warm))
    before = _memory_mib()
    seconds: dict[str, float] = {}
    stage, last = "checking", time.perf_counter()
    job = search_corpus(partial(registry.run, model), registry.card(model), corpus, "play", forms=FORMS, sample=sample)
    for event in job:
        now = time.perf_counter()
        seconds[stage] = seconds.get(stage, 0.0) + now - last
        stage, last = getattr(event, "stage", ""), now
    assert isinstance(event, CorpusOccurrences) and event.occurrences.vectors.shape[1] == sample
    return {
        "sentences": event.uses.sentences_read,
        "found": event.uses.found,
        "seconds": sum(seconds.values()),
        "embedding_seconds": seconds.get("embedding", 0.0),
        "before_mib": before,
        "most_mib": _memory_mib(),
    }


def _memory_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run_apart(corpus: Path, options: argparse.Namespace, folder: Path) -> dict[str, float]:
    """The same in a process of its own, whose memory is not that of the one before."""
    asked = ["--corpus", str(corpus), "--model", options.model, "--sample", str(options.sample)]
    environment = os.environ | {"HF_HUB_CACHE": str(folder / "hub")}
    done = subprocess.run(
        [sys.executable, __file__, *asked], env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="all-MiniLM-L6-v2")
    parser.add_argument("--sentences", type=int, default=100_000)
    parser.add_argument("--sample", type=int, default=1_000)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--corpus", type=Path, help=argparse.SUPPRESS)  # one job, in this process
    options = parser.parse_args()
    if options.corpus:
        print(json.dumps(search(options.corpus, options.model, options.sample)))
        return
    results = {}
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for count in (options.sentences, TIMES * options.sentences):
            corpus = folder / f"corpus-{count}.txt"
            write_corpus(corpus, count)
            for again in ("", ", again"):
                results[f"{count:,} sentences{again}"] = run_apart(corpus, options, folder)
    if options.json:
        print(json.dumps({"machine": describe_machine(), "results": results}))
        return
    for name, value in describe_machine().items():
        print(f"{name}: {value}")
    rows = [
        [name, f"{one['found']:,}", f"{one['seconds']:.1f}", f"{one['embedding_seconds']:.1f}",
         f"{one['before_mib']:,.0f}", f"{one['most_mib']:,.0f}"]
        for name, one in results.items()
    ]  # fmt: skip
    head = ["", "uses", "seconds", "of these embedding", "MiB before", "MiB at most"]
    print_table(f"{options.model}: {options.sample:,} uses of a word from a corpus, all layers", head, rows)


if __name__ == "__main__":
    main()
