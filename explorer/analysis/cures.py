"""What is done against anisotropy: fitted on one corpus, applied to any vectors of the same layer. A table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from explorer.analysis.vector_spaces import LayerSpace
from explorer.errors import UnsuitableText

COMPONENTS = 3  # that all-but-the-top takes away; Mu and Viswanath advise about a hundredth of the dimensions
LEAST_SHARE = 1e-10  # of the largest variance: along a direction with less there is only rounding


@dataclass(frozen=True, eq=False)
class FittedCure:
    """A cure, ready for vectors of a layer: (x - mean) * scale, less its part along some directions, turned; or ranks.

    Attributes:
        name: A key of CURES.
        mean: What is taken off.
        scale: What each number is then multiplied by.
        removed: Directions of length 1 that are then taken away.
        turned: What the vector is then multiplied by; None = nothing.
        by_rank: Whether each number is replaced by its rank among those of its vector instead.
    """

    name: str
    mean: Float[np.ndarray, " dim"]
    scale: Float[np.ndarray, " dim"]
    removed: Float[np.ndarray, "dim component"]
    turned: Float[np.ndarray, "dim dim"] | None = None
    by_rank: bool = False


@dataclass(frozen=True)
class Cure:
    """A cure, before it is fitted.

    Attributes:
        key: Its name in results.
        label: As a visitor chooses it.
        says: What it does, in one sentence.
        fit: Makes it ready, from a layer and a number of components.
        needs_fit: Whether it depends on the corpus at all.
        source: Paper and link; "" = none is needed.
    """

    key: str
    label: str
    says: str
    fit: Callable[[LayerSpace | None, int], FittedCure]
    needs_fit: bool
    source: str


def fit_cure(name: str, space: LayerSpace | None, *, components: int = COMPONENTS) -> FittedCure:
    """Make a cure ready for the vectors of a layer.

    Args:
        name: A key of CURES.
        space: The layer, on the corpus that the cure is fitted on; None is fine for one that needs none.
        components: How many principal components "all_but_the_top" takes away, from 1 up to one less than there are.

    Raises:
        UnsuitableText: There is no such cure, or no such number of components.
    """
    check_cure(name)
    if space is None and CURES[name].needs_fit:
        raise UnsuitableText(f"{CURES[name].label} is fitted on a corpus. Give some sentences.")
    whole = isinstance(components, int) and not isinstance(components, bool)
    if not whole or components < 1 or (space is not None and components >= space.dim):
        most = "" if space is None else f" to {space.dim - 1}"
        raise UnsuitableText(f"components must be a whole number from 1{most}; it is {components!r}.")
    return CURES[name].fit(space, components)


def check_cure(name: str) -> None:
    """Refuse a name that no cure has.

    Raises:
        UnsuitableText: There is none; the message names those there are.
    """
    if name not in CURES:
        raise UnsuitableText(f"There is no cure {name!r}. Choose one of: {', '.join(CURES)}.")


def check_cures(names: Sequence[str]) -> None:
    """Refuse what is no list of cures.

    Raises:
        UnsuitableText: It is none, or names one that there is not; the message names those there are.
    """
    if isinstance(names, str) or not names:
        raise UnsuitableText(f"Give a list of cures, of these: {', '.join(CURES)}.")
    for name in names:
        check_cure(name)


def remark_on_fit(name: str, count: int, dim: int) -> tuple[str, ...]:
    """What a cure cannot learn from so few vectors, in a sentence or two; none where there are enough.

    Args:
        name: A key of CURES.
        count: Of the vectors that it is fitted on.
        dim: Numbers of each.
    """
    if name != "whitening" or count > dim:
        return ()
    return (
        f"Whitening needs more vectors than a vector has numbers. From {count:,} vectors it learns {count - 1:,} of "
        f"{dim:,} directions at most: it brings these to the same variance, and takes the other {dim - count + 1:,} "
        "away.",
    )


def apply_cure(cure: FittedCure, vectors: Float[np.ndarray, "point dim"]) -> Float[np.ndarray, "point dim"]:
    """Vectors after a cure.

    Args:
        cure: As fit_cure makes it.
        vectors: Of the layer that it was fitted on; the corpus may be another.

    Returns:
        Float64, but for those that no cure changes.

    Raises:
        UnsuitableText: They are of another width.
    """
    if cure.by_rank:
        ranks = rank_numbers(vectors.astype(np.float64))
        return ranks - ranks.mean(axis=1, keepdims=True)
    if not len(cure.mean):
        return vectors
    if vectors.shape[1] != len(cure.mean):
        raise UnsuitableText(
            f"The cure was fitted on {len(cure.mean)} numbers, and the vectors have {vectors.shape[1]}."
        )
    cured = (vectors - cure.mean) * cure.scale
    if cure.removed.shape[1]:
        cured -= (cured @ cure.removed) @ cure.removed.T
    return cured if cure.turned is None else cured @ cure.turned


def cure_layers(
    ready: Sequence[FittedCure], vectors: Float[np.ndarray, "layer point dim"]
) -> Float[np.ndarray, "layer point dim"]:
    """Vectors of several layers after the cure of each: float32, not writeable.

    Args:
        ready: One for each layer.
        vectors: As apply_cure takes those of a layer.

    Raises:
        UnsuitableText: There are more or fewer layers than cures, or they are of another width.
    """
    if len(ready) != len(vectors):
        raise UnsuitableText(f"The cure was fitted on {len(ready)} layers, and the vectors are of {len(vectors)}.")
    pairs = zip(ready, vectors, strict=True)
    cured = np.stack([apply_cure(one, points).astype(np.float32) for one, points in pairs])
    cured.flags.writeable = False
    return cured


def rank_numbers(rows: Float[np.ndarray, "row number"]) -> Float[np.ndarray, "row number"]:
    """The rank of each number in its row, from 1; equal ones share the mean of their ranks."""
    order = np.argsort(rows, axis=1, kind="stable")
    sorted_rows = np.take_along_axis(rows, order, axis=1)
    places = np.arange(rows.shape[1])
    begins = np.ones(rows.shape, dtype=bool)
    begins[:, 1:] = sorted_rows[:, 1:] != sorted_rows[:, :-1]
    ends = np.ones(rows.shape, dtype=bool)
    ends[:, :-1] = begins[:, 1:]
    first = np.maximum.accumulate(np.where(begins, places, 0), axis=1)
    last = np.minimum.accumulate(np.where(ends, places, rows.shape[1])[:, ::-1], axis=1)[:, ::-1]
    ranks = np.empty(rows.shape)
    np.put_along_axis(ranks, order, (first + last) / 2 + 1, axis=1)
    return ranks


def _unchanged(space: LayerSpace | None, components: int) -> FittedCure:
    return FittedCure("none", np.empty(0), np.empty(0), np.empty((0, 0)))


def _ranked(space: LayerSpace | None, components: int) -> FittedCure:
    return FittedCure("rank", np.empty(0), np.empty(0), np.empty((0, 0)), by_rank=True)


def _centred(space: LayerSpace, components: int) -> FittedCure:
    return FittedCure("mean_removal", space.mean, np.ones(space.dim), np.empty((space.dim, 0)))


def _z_scored(space: LayerSpace, components: int) -> FittedCure:
    variances = np.diag(space.covariance)
    # a number that is the same in all vectors has no deviation, and becomes 0
    least = 1e-12 * space.mean**2
    deviations = np.sqrt(np.where(variances > least, variances, 0.0))
    scale = np.divide(1.0, deviations, out=np.zeros(space.dim), where=deviations > 0)
    return FittedCure("z_score", space.mean, scale, np.empty((space.dim, 0)))


def _without_top(space: LayerSpace, components: int) -> FittedCure:
    removed = np.ascontiguousarray(space.components[:, :components])
    return FittedCure("all_but_the_top", space.mean, np.ones(space.dim), removed)


def _whitened(space: LayerSpace, components: int) -> FittedCure:
    known = space.spectrum > LEAST_SHARE * space.spectrum[0]
    scale = np.divide(1.0, np.sqrt(space.spectrum), out=np.zeros(space.dim), where=known)
    none = np.empty((space.dim, 0))
    return FittedCure("whitening", space.mean, np.ones(space.dim), none, turned=space.components * scale)


CURES = {
    cure.key: cure
    for cure in (
        Cure("none", "As they are", "Nothing is done to the vectors.", _unchanged, False, ""),
        Cure(
            "mean_removal",
            "Mean removal",
            "The mean of all vectors of the corpus is taken off.",
            _centred,
            True,
            "Mu and Viswanath 2018, https://arxiv.org/abs/1702.01417",
        ),
        Cure(
            "z_score",
            "Z-scores",
            "Each number less its mean, divided by its standard deviation in the corpus; one that never changes is 0.",
            _z_scored,
            True,
            "Timkey and van Schijndel 2021, https://arxiv.org/abs/2109.04404",
        ),
        Cure(
            "all_but_the_top",
            "All but the top",
            "The mean is taken off, then what lies along the first principal components.",
            _without_top,
            True,
            "Mu and Viswanath 2018, https://arxiv.org/abs/1702.01417",
        ),
        Cure(
            "whitening",
            "Whitening",
            "The mean is taken off, then all directions are brought to the same variance.",
            _whitened,
            True,
            "Su et al. 2021, https://arxiv.org/abs/2103.15316",
        ),
        Cure(
            "rank",
            "Ranks",
            "Each number becomes its rank among those of its vector: the cosine becomes Spearman’s correlation.",
            _ranked,
            False,
            "Zhelezniak et al. 2019, https://arxiv.org/abs/1905.07790",
        ),
    )
}
