"""Which vector: layers, sums and adjustments against their definitions, number by number."""

import math

import numpy as np
import pytest
import torch

from explorer.analysis.embedding_results import Occurrences
from explorer.analysis.vectors import adjust_layers, choose_vectors, describe_vectors, normalise_layers
from explorer.errors import UnsuitableText
from explorer.training.tuning.mixing import LayerMix


def occurrences(layers=(0, 1, 2, 3, 4, 5), layer_count=6, uses=7):
    vectors = np.random.default_rng(0).standard_normal((len(layers), uses, 3)).astype(np.float32) * 5 + 2
    same = (uses, "tiny", ("a play",) * uses, ((2, 6),) * uses, ("play",) * uses, (("play",),) * uses, ((0, 6),) * uses)
    return Occurrences(*same[1:], "mean", layers, layer_count, vectors, ())


def test_one_layer():
    of = occurrences()
    assert (choose_vectors(of, layer=2) == of.vectors[2]).all()
    assert (choose_vectors(of) == of.vectors[5]).all()
    some = occurrences(layers=(1, 4))
    assert (choose_vectors(some, layer=-2) == some.vectors[1]).all()


def test_the_sum_of_the_last_four():
    of = occurrences()
    expected = [[sum(float(of.vectors[l, p, d]) for l in (2, 3, 4, 5)) for d in range(3)] for p in range(7)]  # noqa: E741
    np.testing.assert_allclose(choose_vectors(of, combine="last_four"), expected, rtol=1e-6)


def test_a_weighted_sum_as_elmo_makes_it():
    of = occurrences(layers=(0, 1, 2), layer_count=3)
    by_hand = choose_vectors(of, combine="weighted", weights=(1, 0.5, -2), scale=3)
    raw = (0.2, -1.0, 2.0)
    shares = [math.exp(one) / sum(map(math.exp, raw)) for one in raw]
    learned = choose_vectors(of, combine="weighted", weights=raw, softmax=True, scale=1.5)
    for p in range(7):
        for d in range(3):
            numbers = [float(of.vectors[layer, p, d]) for layer in range(3)]
            assert by_hand[p, d] == pytest.approx(3 * (numbers[0] + 0.5 * numbers[1] - 2 * numbers[2]), rel=1e-5)
            expected = 1.5 * sum(share * number for share, number in zip(shares, numbers, strict=True))
            assert learned[p, d] == pytest.approx(expected, rel=1e-5)


def test_a_weighted_sum_of_normalised_layers_is_the_mix_that_fine_tuning_learns():
    of = occurrences(layers=(0, 1, 2), layer_count=3)
    of.vectors[1] *= 100  # no layer counts for more by its length
    of.vectors[2, 4] = 0.1  # a vector of equal numbers
    mix = LayerMix(3)
    with torch.no_grad():
        mix.weights.copy_(torch.tensor([0.5, -1.0, 2.0]))
        learned = mix(torch.from_numpy(of.vectors)).numpy()
    vectors = choose_vectors(of, combine="weighted_normalised", weights=mix.shares())
    np.testing.assert_allclose(vectors, learned, atol=1e-5)
    raw = choose_vectors(of, combine="weighted_normalised", weights=(0.5, -1, 2), softmax=True, scale=2)
    np.testing.assert_allclose(raw, 2 * learned, atol=1e-5)
    layer, use = of.vectors[1], 3
    numbers = [float(one) for one in layer[use]]
    mean = sum(numbers) / 3
    deviation = math.sqrt(sum((one - mean) ** 2 for one in numbers) / 3)
    expected = [(one - mean) / deviation for one in numbers]
    np.testing.assert_allclose(normalise_layers(of.vectors)[1, use], expected, atol=1e-4)
    words = describe_vectors(of, combine="weighted_normalised", adjust="centred")
    assert words == "weighted sum of normalised layers, centred"


def test_centred_and_z_scored():
    of = occurrences()
    of.vectors[5, :, 1] = 0.1  # the same in all uses
    centred, scored = choose_vectors(of, adjust="centred"), choose_vectors(of, adjust="z_scored")
    for d in range(3):
        column = [float(one) for one in of.vectors[5, :, d]]
        mean = sum(column) / 7
        deviation = math.sqrt(sum((one - mean) ** 2 for one in column) / 7)
        np.testing.assert_allclose(centred[:, d], [one - mean for one in column], atol=1e-5)
        expected = [0.0] * 7 if d == 1 else [(one - mean) / deviation for one in column]
        np.testing.assert_allclose(scored[:, d], expected, atol=1e-5)


@pytest.mark.parametrize(
    "of, options, message",
    [
        (occurrences(), {"combine": "mean"}, "combine must be one of: layer, last_four, weighted"),
        (occurrences(), {"adjust": "whitened"}, "adjust must be one of: none, centred, z_scored"),
        (occurrences(), {"layer": 6}, "Choose one of: 0, 1, 2, 3, 4, 5"),
        (occurrences(layers=(0, 5)), {"combine": "last_four"}, "no vectors of layer -4"),
        (occurrences(layers=(0, 1), layer_count=2), {"combine": "last_four"}, "only 1 layers above"),
        (occurrences(), {"combine": "weighted", "weights": (1, 2)}, "Give 6 finite weights"),
        (occurrences(), {"combine": "weighted_normalised"}, "Give 6 finite weights"),
        (occurrences(), {"combine": "weighted", "weights": (1,) * 5 + (math.nan,)}, "Give 6 finite weights"),
        (occurrences(uses=1), {"adjust": "centred"}, "One use alone cannot be centred"),
    ],
)
def test_what_cannot_be_chosen_is_refused(of, options, message):
    with pytest.raises(UnsuitableText, match=message):
        choose_vectors(of, **options)


@pytest.mark.parametrize("adjust", ["centred", "z_scored"])
def test_every_layer_is_adjusted_by_itself(adjust):
    of = occurrences()
    adjusted = adjust_layers(of, adjust)
    for layer in of.layers:
        assert np.array_equal(adjusted.vectors[layer], choose_vectors(of, layer=layer, adjust=adjust))
        np.testing.assert_allclose(adjusted.vectors[layer].mean(axis=0), 0, atol=1e-5)
    assert adjusted.sentences == of.sentences and not adjusted.vectors.flags.writeable
    assert adjust_layers(of, "none") is of
    with pytest.raises(UnsuitableText, match="adjust must be one of"):
        adjust_layers(of, "softened")
