"""Which vector of a use: a layer, the sum of the last four, a weighted sum; as it is, centred or z-scored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from explorer.analysis.embedding_results import INPUT_EMBEDDINGS, Occurrences
from explorer.errors import UnsuitableText

COMBINATIONS = ("layer", "last_four", "weighted", "weighted_normalised")
ADJUSTMENTS = ("none", "centred", "z_scored")
LAST = 4  # layers that "last_four" sums
NORM_EPSILON = 1e-5  # as layer normalization adds it to a variance


def choose_vectors(
    occurrences: Occurrences,
    *,
    combine: str = "layer",
    layer: int = -1,
    weights: Sequence[float | int] = (),
    softmax: bool = False,
    scale: float | int = 1.0,
    adjust: str = "none",
) -> Float[np.ndarray, "point dim"]:
    """One vector for each use.

    Args:
        occurrences: With the layers that are needed: the one, the last four, or one for each weight.
        combine: "layer" = one layer; "last_four" = the sum of the last four, as Devlin et al. found it good; "weighted"
            = as ELMo joins its layers: scale * sum of weight times layer.
        layer: Of "layer": 0 = input embeddings, negative ones counted from the last.
        weights: Of "weighted": one for each layer of the occurrences, in their order.
        softmax: Of "weighted": whether the weights are exp(weight) divided by the sum of these, as ELMo learns them;
            otherwise they are taken as they are.
        scale: Of "weighted": ELMo's gamma.
        adjust: "none"; "centred" = less the mean of all uses; "z_scored" = that, divided by the standard deviation of
            each number over all uses; a number that is the same in all uses becomes 0.

    Returns:
        Float32.

    Raises:
        UnsuitableText: There is no such layer or way, the weights do not fit, or there are too few uses to adjust by.

    Source: Peters et al. 2018, equation 1 and section 3.2, https://arxiv.org/abs/1802.05365; Devlin et al. 2019,
        table 7, https://arxiv.org/abs/1810.04805; Timkey and van Schijndel 2021, https://arxiv.org/abs/2109.04404
    """
    for name, value, known in (("combine", combine, COMBINATIONS), ("adjust", adjust, ADJUSTMENTS)):
        if value not in known:
            raise UnsuitableText(f"{name} must be one of: {', '.join(known)}; it is {value!r}.")
    if combine == "layer":
        vectors = layer_of(occurrences, layer)
    elif combine == "last_four":
        vectors = sum_last_layers(occurrences)
    else:
        layers = normalise_layers(occurrences.vectors) if combine == "weighted_normalised" else occurrences.vectors
        vectors = weigh_layers(layers, weights, softmax=softmax, scale=scale)
    return vectors if adjust == "none" else adjust_vectors(vectors, deviations=adjust == "z_scored")


def describe_vectors(occurrences: Occurrences, *, combine: str = "layer", layer: int = -1, adjust: str = "none") -> str:
    """What choose_vectors chooses, in words.

    Args:
        occurrences: As choose_vectors takes them.
        combine: Likewise.
        layer: Likewise.
        adjust: Likewise.
    """
    last = occurrences.layer_count - 1
    number = layer + occurrences.layer_count if layer < 0 else layer
    chosen = {
        "layer": f"layer {number}" if number else INPUT_EMBEDDINGS,
        "last_four": f"sum of layers {last - LAST + 1} to {last}",
        "weighted": "weighted sum of layers",
        "weighted_normalised": "weighted sum of normalised layers",
    }[combine]
    in_pieces = any(len(tokens) > 1 for tokens in occurrences.tokens)
    pieces = f", {occurrences.pieces} pieces" if in_pieces and occurrences.pieces != "mean" else ""
    return chosen + {"none": "", "centred": ", centred", "z_scored": ", z-scored"}[adjust] + pieces


def layer_of(occurrences: Occurrences, layer: int) -> Float[np.ndarray, "point dim"]:
    """The vectors of one layer.

    Args:
        occurrences: With that layer.
        layer: 0 = input embeddings, negative ones counted from the last of the model.

    Raises:
        UnsuitableText: It was not embedded.
    """
    number = layer + occurrences.layer_count if layer < 0 else layer
    if number not in occurrences.layers:
        known = ", ".join(map(str, occurrences.layers))
        raise UnsuitableText(f"There are no vectors of layer {layer}. Choose one of: {known}.")
    return occurrences.vectors[occurrences.layers.index(number)]


def sum_last_layers(occurrences: Occurrences) -> Float[np.ndarray, "point dim"]:
    """The sum of the model's last four layers.

    Args:
        occurrences: With these layers.

    Raises:
        UnsuitableText: The model has fewer, or one of them was not embedded.
    """
    above = occurrences.layer_count - 1
    if above < LAST:
        raise UnsuitableText(
            f"{occurrences.model} has only {above} layers above its input embeddings, and the sum is of {LAST}. "
            f"Choose one layer, or a weighted sum."
        )
    summed = np.zeros(occurrences.vectors.shape[1:], dtype=np.float64)
    for layer in range(-LAST, 0):
        summed += layer_of(occurrences, layer)
    return summed.astype(np.float32)


def weigh_layers(
    vectors: Float[np.ndarray, "layer point dim"],
    weights: Sequence[float | int],
    *,
    softmax: bool = False,
    scale: float | int = 1.0,
) -> Float[np.ndarray, "point dim"]:
    """A weighted sum of layers.

    Args:
        vectors: Of any layers.
        weights: One for each.
        softmax: As choose_vectors takes it.
        scale: Likewise.

    Raises:
        UnsuitableText: There are more or fewer weights than layers, or one is not finite.
    """
    shares = np.asarray(weights, dtype=np.float64)
    if shares.shape != (len(vectors),) or not np.isfinite(shares).all() or not np.isfinite(scale):
        raise UnsuitableText(f"Give {len(vectors)} finite weights, one for each layer, and a finite scale.")
    if softmax:
        shares = np.exp(shares - shares.max())
        shares /= shares.sum()
    return (scale * np.tensordot(shares, vectors, axes=1)).astype(np.float32)


def normalise_layers(vectors: Float[np.ndarray, "layer point dim"]) -> Float[np.ndarray, "layer point dim"]:
    """Each vector less the mean of its numbers, divided by their standard deviation; a vector of equal numbers is 0.

    Args:
        vectors: Of any layers.

    Source: Ba et al. 2016, https://arxiv.org/abs/1607.06450, without gain and bias
    """
    normalised = np.empty_like(vectors)
    for layer, given in enumerate(vectors):
        centred = given - given.mean(axis=-1, dtype=np.float64, keepdims=True)
        normalised[layer] = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + NORM_EPSILON)
    return normalised


def adjust_vectors(
    vectors: Float[np.ndarray, "point dim"], *, deviations: bool = False
) -> Float[np.ndarray, "point dim"]:
    """Vectors less their mean: what all of them share, a few large numbers above all, says nothing about a use.

    Args:
        vectors: Two or more.
        deviations: Whether to divide by the standard deviation of each number, too.

    Raises:
        UnsuitableText: There are fewer than two.
    """
    if len(vectors) < 2:
        raise UnsuitableText("One use alone cannot be centred. Give at least two, or take the vectors as they are.")
    centred = vectors - vectors.mean(axis=0, dtype=np.float64)
    if deviations:
        spread = centred.std(axis=0)
        least = 1e-6 * np.abs(vectors).max(axis=0)  # less is rounding
        centred = np.divide(centred, spread, out=np.zeros_like(centred), where=spread > least)
    return centred.astype(np.float32)


def adjust_layers(occurrences: Occurrences, adjust: str) -> Occurrences:
    """The vectors of every layer adjusted, each layer by itself.

    Args:
        occurrences: Two or more uses.
        adjust: As choose_vectors takes it.

    Raises:
        UnsuitableText: There is no such way, or there are too few uses to adjust by.
    """
    if adjust == "none":
        return occurrences
    layers = [choose_vectors(occurrences, layer=layer, adjust=adjust) for layer in occurrences.layers]
    vectors = np.stack(layers)
    vectors.flags.writeable = False
    return replace(occurrences, vectors=vectors)


def join_occurrences(one: Occurrences, other: Occurrences) -> Occurrences:
    """Uses and, behind them, further ones, embedded by the same model in the same way.

    Raises:
        UnsuitableText: They are of other models, layers or pieces.
    """
    if (one.model, one.layers, one.pieces) != (other.model, other.layers, other.pieces):
        raise UnsuitableText("Only uses that one model embedded, in the same layers and pieces, can be joined.")
    vectors = np.concatenate([one.vectors, other.vectors], axis=1)
    vectors.flags.writeable = False
    columns = ("sentences", "positions", "words", "tokens", "read", "remarks")
    joined = {name: getattr(one, name) + getattr(other, name) for name in columns}
    return replace(one, vectors=vectors, **joined | {"remarks": tuple(dict.fromkeys(joined["remarks"]))})


def take_uses(occurrences: Occurrences, numbers: Sequence[int]) -> Occurrences:
    """Some of the uses.

    Args:
        occurrences: Any.
        numbers: Which, counted from 0.
    """
    vectors = occurrences.vectors[:, list(numbers)]
    vectors.flags.writeable = False
    columns = ("sentences", "positions", "words", "tokens", "read")
    taken = {name: tuple(getattr(occurrences, name)[number] for number in numbers) for name in columns}
    return replace(occurrences, vectors=vectors, **taken)
