"""Vectors on a map of two or three dimensions: PCA, UMAP or t-SNE, the maps of all layers turned alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from threading import Lock

import numpy as np
from jaxtyping import Float

from explorer.analysis.embedding_results import Occurrences
from explorer.analysis.map_quality import measure_map
from explorer.analysis.projection_results import PointMaps, Projection
from explorer.analysis.vectors import choose_vectors, describe_vectors
from explorer.errors import UnsuitableText

METHODS = {"pca": "PCA", "umap": "UMAP", "tsne": "t-SNE"}
DIMENSIONS = (2, 3)
FEWEST_POINTS = 5  # UMAP fails on fewer than four, and says nothing with four
MOST_POINTS = 2_000  # of UMAP and t-SNE, which take seconds for each layer of so many
NEIGHBOURS = 15  # UMAP's own
PERPLEXITY = 30.0  # scikit-learn's own
TSNE_START = 1e-4  # the spread of a first map that Kobak and Berens advise
LEAST = 1e-6  # of the largest number of the vectors: what spreads less is rounding

# numba's threads may not be entered by two threads of ours at once: on some systems that ends the process.
_ONE_AT_A_TIME = Lock()

Map = Float[np.ndarray, "point axis"]


def project_points(
    vectors: Float[np.ndarray, "layer point dim"],
    *,
    method: str = "pca",
    dimensions: int = 2,
    seed: int = 0,
    on_layer: Callable[[int, int], None] | None = None,
) -> PointMaps:
    """A map for each layer of the same points.

    The first map is turned by nothing; each other one is rotated, and mirrored where needed, to the map of the layer
    before (orthogonal Procrustes). All have the same size: a size that fits the layer before best would shrink a map
    the less it is like that one. UMAP and t-SNE also begin from the map of the layer before, the first from PCA.

    Args:
        vectors: Finite; one point or more.
        method: "pca" = the principal components, exactly; "umap" and "tsne" = by cosine, with the neighbourhoods that
            umap-learn and scikit-learn take by themselves, fewer where there are fewer points. Of fewer than 5 points
            or more than 2,000 a map is made by PCA, and a remark says so.
        dimensions: 2 or 3.
        seed: Of UMAP and t-SNE, from 0 to 2**32 - 1.
        on_layer: Is told how many layers are done and how many there are, before each; what it raises ends the work.

    Raises:
        UnsuitableText: There is no such method, or nothing to draw, or a number is not finite.

    Source: McInnes, Healy and Melville 2018, https://arxiv.org/abs/1802.03426; van der Maaten and Hinton 2008,
        https://jmlr.org/papers/v9/vandermaaten08a.html; on where they begin: Kobak and Linderman 2021,
        https://doi.org/10.1038/s41587-020-00809-z
    """
    _check(vectors, method, dimensions, seed)
    count = vectors.shape[1]
    used, remarks = _possible(method, count)
    maps: list[np.ndarray] = []
    shares = np.zeros((len(vectors), dimensions))
    for layer, points in enumerate(vectors):
        if on_layer:
            on_layer(layer, len(vectors))
        before = maps[-1] if maps else None
        if used == "pca" or before is None or not before.any():
            drawn, shares[layer] = principal_components(points, dimensions)
            before_or_pca = same_size(drawn)
        else:
            before_or_pca = before
        if used != "pca" and before_or_pca.any():
            start = _spread(before_or_pca, seed)
            drawn = _by_umap(points, start, seed) if used == "umap" else _by_tsne(points, start, seed)
        drawn = same_size(drawn)
        maps.append(drawn if before is None else turn_to(drawn, before))
    coordinates = np.stack(maps).astype(np.float32)
    coordinates.flags.writeable = False
    if not all(one.any() for one in coordinates):
        remarks += ("Where all points lie on one another, their vectors are the same.",) if count > 1 else ()
    if count == 1:
        remarks += ("One use alone has nothing to be near or far from. Give several sentences.",)
    return PointMaps(used, seed, coordinates, shares if used == "pca" else None, remarks)


def project_occurrences(
    occurrences: Occurrences,
    *,
    senses: Sequence[str] = (),
    method: str = "pca",
    dimensions: int = 2,
    combine: str = "layer",
    weights: Sequence[float | int] = (),
    softmax: bool = False,
    adjust: str = "none",
    seed: int = 0,
    on_layer: Callable[[int, int], None] | None = None,
) -> Projection:
    """Uses on maps, one for each of their layers, or one of a sum of layers.

    Args:
        occurrences: One use or more.
        senses: A label for each use, "" = none; or none at all.
        method: As project_points takes it.
        dimensions: Likewise.
        combine: As vectors.choose_vectors takes it; "layer" = a map for each layer.
        weights: Likewise.
        softmax: Likewise.
        adjust: Likewise, in each layer.
        seed: As project_points takes it.
        on_layer: Likewise.

    Raises:
        UnsuitableText: As project_points and choose_vectors do, or there is not one sense for each use.
    """
    count = len(occurrences.sentences)
    if senses and len(senses) != count:
        raise UnsuitableText(f"There are {count} uses and {len(senses)} senses. Give one sense for each use.")
    layers = occurrences.layers if combine == "layer" else ()
    options = {"combine": combine, "weights": weights, "softmax": softmax, "adjust": adjust}
    points = np.stack([choose_vectors(occurrences, layer=layer, **options) for layer in layers or (-1,)])
    maps = project_points(points, method=method, dimensions=dimensions, seed=seed, on_layer=on_layer)
    labels = tuple(senses) or ("",) * count
    return Projection(
        model=occurrences.model,
        pieces=occurrences.pieces,
        vectors=tuple(
            describe_vectors(occurrences, combine=combine, layer=layer, adjust=adjust) for layer in layers or (-1,)
        ),
        layers=layers,
        sentences=occurrences.sentences,
        positions=occurrences.positions,
        words=occurrences.words,
        senses=labels,
        maps=maps,
        quality=tuple(
            measure_map(layer, drawn, labels, seed=seed) for layer, drawn in zip(points, maps.coordinates, strict=True)
        ),
        remarks=occurrences.remarks + maps.remarks,
    )


def principal_components(
    points: Float[np.ndarray, "point dim"], count: int
) -> tuple[Float[np.ndarray, "point axis"], Float[np.ndarray, " axis"]]:
    """The points along the directions of their largest variance, and the share of the variance that each has.

    Args:
        points: Of any dimensions; they are centred here.
        count: How many directions; those without variance are 0.

    Returns:
        Float64. A direction points to where its largest number is positive.
    """
    centred = points - points.mean(axis=0, dtype=np.float64)
    total = float((centred * centred).sum())
    projected, shares = np.zeros((len(points), count)), np.zeros(count)
    rounding = (LEAST * np.abs(points).max(initial=0)) ** 2 * points.size
    if total <= rounding:
        return projected, shares
    is_wide = points.shape[1] > len(points)
    products = centred @ centred.T if is_wide else centred.T @ centred  # the smaller of the two has all there is
    values, vectors = np.linalg.eigh(products)
    for axis, place in enumerate(range(len(values) - 1, max(-1, len(values) - 1 - count), -1)):
        if values[place] <= max(rounding / points.shape[1], total * 1e-12):
            break
        direction = centred.T @ vectors[:, place] / np.sqrt(values[place]) if is_wide else vectors[:, place]
        direction = direction * np.sign(direction[np.abs(direction).argmax()])
        projected[:, axis] = centred @ direction
        shares[axis] = values[place] / total
    return projected, shares


def same_size(points: Map) -> Map:
    """Points moved and scaled: their mean is 0, the root mean square of their distances from it 1; or all are 0."""
    centred = points - points.mean(axis=0, dtype=np.float64)
    size = float(np.sqrt((centred * centred).sum(axis=1).mean()))
    return centred / size if size > LEAST * np.abs(points).max(initial=0) else np.zeros_like(centred)


def turn_to(points: Map, reference: Map) -> Map:
    """Points rotated about 0, and mirrored where needed, so that the squares of their distances from others are least.

    Args:
        points: Around 0.
        reference: One for each.

    Source: Schönemann 1966, https://doi.org/10.1007/BF02289451
    """
    left, _, right = np.linalg.svd(points.T @ reference)
    return points @ (left @ right)


def warm_up() -> None:
    """Import UMAP and have it compiled, which takes half a minute the first time in a process."""
    import_module("transformers.generation")  # imports parts of scikit-learn, too: never two threads in two orders
    _by_umap(np.eye(FEWEST_POINTS + 1), np.eye(FEWEST_POINTS + 1)[:, :2], 0)


def _check(vectors: np.ndarray, method: str, dimensions: int, seed: int) -> None:
    if method not in METHODS:
        raise UnsuitableText(f"method must be one of: {', '.join(METHODS)}; it is {method!r}.")
    if isinstance(dimensions, bool) or dimensions not in DIMENSIONS:
        raise UnsuitableText(f"dimensions must be 2 or 3; it is {dimensions!r}.")
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**32:
        raise UnsuitableText(f"seed must be a whole number from 0 to {2**32 - 1}; it is {seed!r}.")
    if not vectors.size:
        raise UnsuitableText("There are no points to draw. Give at least one.")
    if not np.isfinite(vectors).all():
        raise UnsuitableText("A vector holds a number that is not finite.")


def _possible(method: str, count: int) -> tuple[str, tuple[str, ...]]:
    """The method, or PCA and why."""
    if method == "pca" or FEWEST_POINTS <= count <= MOST_POINTS:
        return method, ()
    bound = f"at least {FEWEST_POINTS}" if count < FEWEST_POINTS else f"at most {MOST_POINTS:,}"
    return "pca", (f"The map is by PCA: {METHODS[method]} needs {bound} uses here, and there are {count:,}.",)


def _spread(start: Map, seed: int) -> Map:
    """A map to begin from, with a little noise along axes on which all points are at 0: extents are divided by."""
    noise = np.random.default_rng(seed).standard_normal(start.shape) * TSNE_START
    return np.where(np.ptp(start, axis=0) > 0, start, noise)


def _by_umap(points: Float[np.ndarray, "point dim"], start: Map, seed: int) -> Map:
    from threadpoolctl import threadpool_limits

    with _ONE_AT_A_TIME:
        from umap import UMAP  # takes seconds to import

        fit = UMAP(
            n_neighbors=min(NEIGHBOURS, len(points) - 1),
            n_components=start.shape[1],
            metric="cosine",
            init=start.astype(np.float32),
            random_state=seed,
            n_jobs=1,  # what random_state asks for, without its warning
        )
        with threadpool_limits(1, user_api="openmp"):  # numba sets it, for torch too, and does not set it back
            return fit.fit_transform(np.asarray(points, dtype=np.float32))


def _by_tsne(points: Float[np.ndarray, "point dim"], start: Map, seed: int) -> Map:
    from sklearn.manifold import TSNE  # takes seconds to import
    from threadpoolctl import threadpool_limits

    fit = TSNE(
        n_components=start.shape[1],
        perplexity=min(PERPLEXITY, (len(points) - 1) / 3),
        metric="cosine",
        init=(start / start[:, 0].std() * TSNE_START).astype(np.float32),
        random_state=seed,
    )
    with (
        _ONE_AT_A_TIME,
        threadpool_limits(1, user_api="openmp"),
    ):  # for so few points several wait for each other, ten times as long
        return fit.fit_transform(np.asarray(points, dtype=np.float32))
