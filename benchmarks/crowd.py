"""A class at once over HTTP: equal questions, then different ones; seconds until the first, median and last answer.

python benchmarks/crowd.py [--equal 60] [--different 200] [--json]
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from statistics import median
from threading import Barrier

from measuring import describe_machine, print_table
from serving import fill, serving

WARM_UP = "A warm ___ for everyone."
EQUAL = "The teacher wrote the ___ on the board."
DIFFERENT = "Student number {} wrote the ___ on the board."


def ask_at_once(address: str, model: str, texts: Sequence[str]) -> list[float]:
    """Each text by a thread of its own, all let go together; seconds until each was answered, least first."""
    barrier = Barrier(len(texts))

    def ask(text: str) -> float:
        barrier.wait()
        start = time.perf_counter()
        answer = fill(address, model, text)
        assert answer[0]["blanks"], answer
        return time.perf_counter() - start

    with ThreadPoolExecutor(len(texts)) as pool:
        return sorted(pool.map(ask, texts))


def main() -> None:
    """Start the program, ask, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="MiniLM (masked)")
    parser.add_argument("--equal", type=int, default=60)
    parser.add_argument("--different", type=int, default=200)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    crowds = {
        f"{options.equal} equal questions": [EQUAL] * options.equal,
        f"{options.different} different questions": [DIFFERENT.format(n) for n in range(options.different)],
    }
    with serving() as address:
        fill(address, options.model, WARM_UP)
        waits = {name: ask_at_once(address, options.model, texts) for name, texts in crowds.items()}
    machine = describe_machine() | {"model": options.model}
    if options.json:
        json.dump({"machine": machine, "waits": waits}, sys.stdout, indent=2)
        print()
        return
    print("\n".join(f"{key}: {value}" for key, value in machine.items()))
    rows = [(name, *(f"{what(wait):.2f} s" for what in (min, median, max))) for name, wait in waits.items()]
    print_table("Asked at once, seconds until they were answered:", ("what", "first", "median", "last"), rows)


if __name__ == "__main__":
    main()
