"""Anisotropy of many vectors by sums, against the plain computation over all pairs.

The vectors are random, of a space with a mean and a few large dimensions; no model is run, so that the time is what the
measures take beyond the forward passes. The plain computation is that of the papers, layer by layer: the cosines of all
pairs, of all uses of a word, the singular values of the vectors and of the uses of each word. It is timed for fewer
vectors, asserted to give the same numbers, and extrapolated: its pairs grow with the square of the number of vectors.

    python benchmarks/anisotropy.py [--points 100000] [--plain 5000] [--layers 7] [--dim 384]
"""

import argparse
import resource
import time

import numpy as np
from measuring import describe_machine, print_table

from explorer.analysis.anisotropy_metrics import METRICS
from explorer.analysis.vector_spaces import describe_space, start_sums
from explorer.analysis.vector_sums import accumulate

BATCH = 1_024
SENTENCE = 16
WORDS = 3_000
KEPT_WORDS, KEPT_USES = 200, 50
PAIRWISE = ("mean_cosine", "self_similarity", "intra_sentence_similarity", "isoscore", "top_1_variance", "mean_norm")


def make_batch(number: int, layers: int, dim: int, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vectors, words and sentences of one batch, the same for the same number."""
    random = np.random.default_rng(number)
    vectors = random.standard_normal((layers, size, dim), dtype=np.float32) + 0.2
    vectors[:, :, :3] *= 10
    words = (random.random(size) ** 3 * WORDS).astype(np.int64)  # a few are frequent, as in texts
    return vectors, words, number * BATCH + np.arange(size) // SENTENCE


def measure_by_sums(points: int, layers: int, dim: int) -> tuple[dict[str, list[float]], float]:
    """Every metric of each layer, and seconds; making the vectors is not counted, for a model makes them."""
    seconds = 0.0
    sums, kept = None, [np.empty((layers, 0, dim), dtype=np.float32) for _ in range(KEPT_WORDS)]
    for number, first in enumerate(range(0, points, BATCH)):
        vectors, words, sentences = make_batch(number, layers, dim, min(BATCH, points - first))
        start = time.perf_counter()
        sums = sums or start_sums(layers, dim, words=WORDS)
        accumulate(sums, vectors, words, sentences)
        for word in range(KEPT_WORDS):
            if kept[word].shape[1] < KEPT_USES and (words == word).any():
                kept[word] = np.concatenate([kept[word], vectors[:, words == word]], axis=1)[:, :KEPT_USES]
        seconds += time.perf_counter() - start
    start = time.perf_counter()
    spaces = [describe_space(sums, layer, [uses[layer] for uses in kept]) for layer in range(layers)]
    found = {key: [metric.measure(space) for space in spaces] for key, metric in METRICS.items()}
    return found, seconds + time.perf_counter() - start


def measure_by_pairs(points: int, layers: int, dim: int) -> tuple[dict[str, list[float]], float, float]:
    """The metrics of PAIRWISE as their papers have them; seconds for all pairs, and for the rest."""
    batches = [
        make_batch(number, layers, dim, min(BATCH, points - first))
        for number, first in enumerate(range(0, points, BATCH))
    ]
    words, sentences = (np.concatenate([batch[place] for batch in batches]) for place in (1, 2))
    found: dict[str, list[float]] = {key: [] for key in PAIRWISE}
    pairs = rest = 0.0
    for layer in range(layers):
        exact = np.concatenate([batch[0][layer] for batch in batches]).astype(np.float64)
        start = time.perf_counter()
        unit = exact / np.linalg.norm(exact, axis=1, keepdims=True)
        total = 0.0
        for first in range(0, points, BATCH):  # a matrix product for many rows: the fastest way to all pairs
            cosines = unit[first : first + BATCH] @ unit[first:].T
            total += np.triu(cosines, 1).sum()
        found["mean_cosine"].append(total / (points * (points - 1) / 2))
        pairs += time.perf_counter() - start
        start = time.perf_counter()
        own = [unit[words == word] for word in np.flatnonzero(np.bincount(words) > 1)]
        found["self_similarity"].append(np.mean([(one @ one.T)[np.triu_indices(len(one), 1)].mean() for one in own]))
        inside = []
        for sentence in np.unique(sentences):
            mean = exact[sentences == sentence].mean(axis=0)
            inside.append((unit[sentences == sentence] @ mean / np.linalg.norm(mean)).mean())
        found["intra_sentence_similarity"].append(np.mean(inside))
        variances = np.linalg.svd(exact - exact.mean(axis=0), compute_uv=False) ** 2
        shares = variances / variances.sum()
        found["isoscore"].append((1 / (shares**2).sum() - 1) / (dim - 1))
        found["top_1_variance"].append(shares[0])
        found["mean_norm"].append(np.linalg.norm(exact, axis=1).mean())
        rest += time.perf_counter() - start
    return found, pairs, rest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=100_000)
    parser.add_argument("--plain", type=int, default=5_000)
    parser.add_argument("--layers", type=int, default=7)
    parser.add_argument("--dim", type=int, default=384)
    options = parser.parse_args()
    shape = options.layers, options.dim
    machine = describe_machine()
    few, seconds_few = measure_by_sums(options.plain, *shape)
    plain, pairs, rest = measure_by_pairs(options.plain, *shape)
    for key, values in plain.items():
        np.testing.assert_allclose(few[key], values, rtol=1e-6, atol=1e-9, err_msg=key)
    _, seconds = measure_by_sums(options.points, *shape)
    times = options.points / options.plain
    extrapolated = pairs * times**2 + rest * times
    for name, value in machine.items():
        print(f"{name}: {value}")
    memory_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rows = [
        ["by sums", f"{options.plain:,}", f"{seconds_few:.2f}", ""],
        ["over all pairs", f"{options.plain:,}", f"{pairs + rest:.2f}", f"{(pairs + rest) / seconds_few:.0f}"],
        ["by sums", f"{options.points:,}", f"{seconds:.1f}", ""],
        ["over all pairs, extrapolated", f"{options.points:,}", f"{extrapolated:.0f}", f"{extrapolated / seconds:.0f}"],
    ]
    head = ["", "vectors", "seconds beyond the forward passes", "times as long"]
    print_table(f"All metrics of {options.layers} layers, {options.dim} numbers a vector", head, rows)
    print(f"\nmost memory of this process, both ways: {memory_mib:,.0f} MiB; the numbers agree within 1e-6")


if __name__ == "__main__":
    main()
