"""Exact neighbours of one use among many, against the matrix product that no exact search can do without.

The vectors are random; the neighbours are asserted to be those of a float64 product. Taking turns with both is
scikit-learn's brute-force search where it is installed.

    python benchmarks/neighbours.py [--points 200000] [--dim 384] [-k 20] [--rounds 30]
"""

import argparse
import importlib
from importlib.util import find_spec

import numpy as np
from measuring import describe_machine, print_table, ratio_of, take_turns

from explorer.analysis.neighbours import find_neighbours, prepare_points

PEER = "sklearn"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=200_000)
    parser.add_argument("--dim", type=int, default=384)
    parser.add_argument("-k", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=30)
    options = parser.parse_args()
    random = np.random.default_rng(0)
    vectors = random.standard_normal((options.points, options.dim), dtype=np.float32)
    queries = random.standard_normal((options.rounds, options.dim), dtype=np.float32)
    points = prepare_points(vectors)
    exact = points.unit.astype(np.float64) @ queries[0]
    found = find_neighbours(queries[0], points, k=options.k).indices[0]
    assert found.tolist() == np.argsort(-exact, kind="stable")[: options.k].tolist()
    contestants = {
        "find_neighbours": lambda turn: find_neighbours(queries[turn], points, k=options.k),
        "the product alone": lambda turn: points.unit @ queries[turn],
    }
    if find_spec(PEER):
        search = importlib.import_module("sklearn.neighbors").NearestNeighbors(metric="cosine", algorithm="brute")
        search.fit(vectors)
        contestants["scikit-learn, brute force"] = lambda turn: search.kneighbors(queries[turn][None], options.k)
    seconds = take_turns(contestants, options.rounds)
    for name, value in describe_machine().items():
        print(f"{name}: {value}")
    rows = [
        [
            name,
            f"{1e3 * np.median(times):.0f}",
            f"{1e3 * min(times):.0f}",
            str(ratio_of(times, seconds["find_neighbours"])),
        ]
        for name, times in seconds.items()
    ]
    head = ["", "median, ms", "fastest, ms", "time, as multiples of find_neighbours"]
    print_table(f"One query, {options.points:,} points of {options.dim} numbers, {options.k} neighbours", head, rows)


if __name__ == "__main__":
    main()
