"""Seconds from a bundled model's files on the disk to its first answer.

Each round is a new process, in which torch and what loads models are imported already, as they are once the page has
answered anybody. Before every load the files are dropped from the system's memory (where it can be told to, as on
Linux), so that they are read from the disk. "First" includes the check of their checksums and whatever transformers
imports for that architecture; "again" is the same after the model was let go.

    python benchmarks/first_answers.py [--model NAME ...] [--rounds 5] [--json]
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

from measuring import describe_machine, print_table

from explorer.models.card import Ability, Bundled, ModelCard
from explorer.models.catalogue import CATALOGUE
from explorer.models.folders import find_base, find_folder
from explorer.models.local import LocalBackend
from explorer.models.registry import Registry

WANTED_SECONDS = 1.0
BUNDLED = {card.name: card for card in CATALOGUE if isinstance(card.source, Bundled)}


def question_for(card: ModelCard) -> Callable[..., object]:
    """The shortest question that uses what the model was trained for."""
    from explorer.analysis import compute_loss, fill_blanks, fill_spans, next_tokens

    questions = {
        Ability.FILL_BLANKS: partial(fill_blanks, text="The cat ___ on the mat."),
        Ability.FILL_SPANS: partial(fill_spans, text="The cat ___ on the mat."),
        Ability.GENERATE: partial(next_tokens, prompt="The cat sat on"),
        Ability.DETECT_REPLACED: partial(compute_loss, text="The cat sat on the mat.", objective="replaced"),
        Ability.PREDICT_BOTH_WAYS: partial(compute_loss, text="The cat sat on the mat.", objective="bilm"),
    }
    return next(question for ability, question in questions.items() if ability in card.abilities)


def forget(card: ModelCard) -> None:
    """Let the system read a model's files from the disk the next time."""
    if not hasattr(os, "posix_fadvise"):
        return
    for folder in filter(None, (find_folder(card, lambda *_: None), find_base(card))):
        for file in Path(folder).iterdir():
            descriptor = os.open(file, os.O_RDONLY)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)


def measure(card: ModelCard) -> tuple[float, float]:
    """Seconds until the first answer, and until the first after the model was let go."""
    question, backend = question_for(card), LocalBackend(cards=CATALOGUE)
    registry, seconds = Registry(CATALOGUE, lambda: backend), []
    for _ in range(2):
        forget(card)
        start = time.perf_counter()
        registry.run(card.name, question)
        seconds.append(time.perf_counter() - start)
        registry.unload(card.name)
    return seconds[0], seconds[1]


def measure_apart(name: str) -> tuple[float, float]:
    """As measure, in a process of its own."""
    done = subprocess.run([sys.executable, __file__, "--alone", name], check=True, capture_output=True, text=True)
    first, again = json.loads(done.stdout.splitlines()[-1])
    return first, again


def main() -> None:
    """Take turns, and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", nargs="+", choices=BUNDLED, default=list(BUNDLED), metavar="NAME")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--alone", choices=BUNDLED, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone:
        print(json.dumps(measure(BUNDLED[options.alone])))
        return
    machine = describe_machine()
    turns = [{name: measure_apart(name) for name in options.model} for _ in range(options.rounds)]
    measured = {name: [turn[name] for turn in turns] for name in options.model}
    if options.json:
        json.dump({"machine": machine, "seconds": measured}, sys.stdout, indent=2)
        print()
        return
    print("\n".join(f"{key}: {value}" for key, value in machine.items()))
    rows = [
        (name, *(f"{of([pair[which] for pair in pairs]):.2f} s" for which in (0, 1) for of in (median, max)))
        for name, pairs in measured.items()
    ]
    head = ("model", "first, median", "slowest", "again, median", "slowest")
    print_table(f"From disk to answer, {options.rounds} processes each:", head, rows)
    in_time = sum(median(first for first, _ in pairs) < WANTED_SECONDS for pairs in measured.values())
    print(f"\nFirst answer within {WANTED_SECONDS:g} s (median): {in_time} of {len(measured)} models.")


if __name__ == "__main__":
    main()
