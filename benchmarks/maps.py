"""Maps of the uses of a word in all layers of a model: how long they take, how far points jump, what they keep.

Ours begins each layer's UMAP and t-SNE at the map of the layer before, and turns it there. Beside it: the same methods
as their libraries do them by themselves, each layer alone, and umap-learn's own AlignedUMAP (with --aligned, as it
compiles for a minute). Every map is brought to one size before movement is measured.

    python benchmarks/maps.py [--word play] [--model "MiniLM (masked)"] [--rounds 3] [--aligned]
"""

import argparse
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from measuring import describe_machine, print_table
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE
from threadpoolctl import threadpool_limits
from umap import UMAP, AlignedUMAP

import explorer
from explorer.analysis import embed_occurrences
from explorer.analysis.labelled_uses import LabelledUses, shipped_uses
from explorer.analysis.map_quality import measure_map
from explorer.analysis.projections import METHODS, project_points, same_size, warm_up
from explorer.models.catalogue import VECTOR_MODEL

Draw = Callable[[np.ndarray], np.ndarray]  # [layer point dim] -> [layer point axis]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--word", default="play")
    parser.add_argument("--model", default=VECTOR_MODEL)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--aligned", action="store_true")
    options = parser.parse_args()
    uses = shipped_uses(options.word)
    ask = partial(embed_occurrences, sentences=uses.sentences, positions=uses.positions)
    vectors = explorer.open_registry().run(options.model, ask).vectors
    start = time.perf_counter()
    warm_up()
    print(f"UMAP imported and compiled: {time.perf_counter() - start:.1f} s")
    contestants: dict[str, Draw] = {}
    for key, words in METHODS.items():
        contestants[f"{words}, ours"] = lambda layers, key=key: project_points(layers, method=key).coordinates
        contestants[f"{words}, each layer alone"] = partial(draw_alone, LIBRARIES[key])
    if options.aligned:
        contestants["AlignedUMAP"] = draw_aligned
    rows = [describe(name, draw, vectors, uses, options.rounds) for name, draw in contestants.items()]
    for name, value in describe_machine().items():
        print(f"{name}: {value}")
    head = [
        "",
        "median, s",
        "mean movement between layers",
        "trustworthiness, last layer",
        "same sense nearest, last layer",
    ]
    print_table(f"{vectors.shape[1]} uses of “{options.word}”, {len(vectors)} layers of {options.model}", head, rows)


def describe(name: str, draw: Draw, vectors: np.ndarray, uses: LabelledUses, rounds: int) -> list[str]:
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        maps = draw(vectors)
        seconds.append(time.perf_counter() - start)
    maps = np.stack([same_size(np.asarray(layer, dtype=np.float64)) for layer in maps])
    moved = np.linalg.norm(maps[1:] - maps[:-1], axis=2).mean()
    quality = measure_map(vectors[-1], maps[-1], uses.senses)
    return [
        name,
        f"{np.median(seconds):.2f}",
        f"{moved:.2f}",
        f"{quality.trustworthiness:.3f}",
        f"{quality.nearest_on_map:.2f} (in full {quality.nearest_in_space:.2f})",
    ]


def draw_alone(fit: Callable[[np.ndarray], np.ndarray], vectors: np.ndarray) -> np.ndarray:
    return np.stack([fit(layer) for layer in vectors])


def draw_by_tsne(points: np.ndarray) -> np.ndarray:
    with threadpool_limits(1, user_api="openmp"):  # as ours: with two cores in use, several threads wait for each other
        return TSNE(metric="cosine", init="random", random_state=0).fit_transform(points)


def draw_aligned(vectors: np.ndarray) -> np.ndarray:
    same = {point: point for point in range(vectors.shape[1])}
    fit = AlignedUMAP(metric="cosine", random_state=0).fit(list(vectors), relations=[same] * (len(vectors) - 1))
    return np.stack(list(fit.embeddings_))


LIBRARIES = {
    "pca": lambda points: PCA(2).fit_transform(points),
    "umap": lambda points: UMAP(metric="cosine", random_state=0, n_jobs=1).fit_transform(points),
    "tsne": draw_by_tsne,
}

if __name__ == "__main__":
    main()
