"""The control "Which vector": what it makes of what the page sends, in whatever model."""

import gradio as gr
import numpy as np
import pytest

from explorer.analysis.embedding_results import Occurrences
from explorer.errors import UnsuitableText
from explorer.tabs.neighbours import which_vector
from explorer.tabs.neighbours.which_vector import Vector, build_which, choose, read_vector, show_combine

USES, DIM = 7, 5


def occurrences(layers: int) -> Occurrences:
    vectors = np.random.default_rng(3).normal(size=(layers, USES, DIM)).astype(np.float32)
    return Occurrences(
        "Tiny", ("a play",) * USES, ((2, 6),) * USES, ("play",) * USES, (("play",),) * USES, ((0, 6),) * USES, "mean",
        tuple(range(layers)), layers, vectors, (),
    )  # fmt: skip


def values(layer=0, combine="layer", weights="", adjust="none", pieces="mean"):
    return layer, combine, weights, adjust, pieces


def test_one_layer_is_taken_as_it_is_and_one_above_the_last_is_the_last():
    found = occurrences(5)
    for asked, got in ((0, 0), (2, 2), (2.0, 2), (4, 4), (24, 4)):
        vectors, words = choose(found, *values(asked))
        assert np.array_equal(vectors, found.vectors[got])
        assert words == ("input embeddings" if got == 0 else f"layer {got}")


def test_the_last_four_are_summed():
    found = occurrences(6)
    vectors, words = choose(found, *values(combine="last_four"))
    np.testing.assert_allclose(vectors, sum(found.vectors[layer] for layer in (2, 3, 4, 5)), atol=1e-6)
    assert words == "sum of layers 2 to 5"


@pytest.mark.parametrize("typed", ["0.2, 0.5, -0.3", "0.2 0.5\n-0.3", "0.2;0.5; -0.3 "])
def test_weights_are_read_however_they_are_separated(typed):
    found = occurrences(3)
    vectors, words = choose(found, *values(combine="weighted", weights=typed))
    by_hand = [
        [0.2 * found.vectors[0, use, dim] + 0.5 * found.vectors[1, use, dim] - 0.3 * found.vectors[2, use, dim]
         for dim in range(DIM)] for use in range(USES)
    ]  # fmt: skip
    np.testing.assert_allclose(vectors, by_hand, atol=1e-6)
    assert words == "weighted sum of layers (0.2, 0.5, -0.3)"


def test_softmax_makes_shares_of_the_weights_as_elmo_does():
    found = occurrences(3)
    vectors, words = choose(found, *values(combine="softmax", weights="1, 2, 0"))
    shares = np.exp([1, 2, 0]) / sum(np.exp([1, 2, 0]))
    np.testing.assert_allclose(
        vectors, sum(s * layer for s, layer in zip(shares, found.vectors, strict=True)), atol=1e-6
    )
    assert words.endswith("(1, 2, 0, by softmax)")


def test_normalised_layers_count_by_their_weights_alone():
    found = occurrences(3)
    longer = Occurrences(**vars(found) | {"vectors": found.vectors * np.float32([[[1]], [[50]], [[3]]])})
    vectors, words = choose(found, *values(combine="normalised", weights="0.2, 0.5, 0.3"))
    again, _ = choose(longer, *values(combine="normalised", weights="0.2, 0.5, 0.3"))
    np.testing.assert_allclose(vectors, again, atol=1e-4)
    assert words == "weighted sum of normalised layers (0.2, 0.5, 0.3)"


def test_no_weights_are_equal_ones():
    found = occurrences(4)
    mean, words = choose(found, *values(combine="softmax"))
    np.testing.assert_allclose(mean, found.vectors.mean(axis=0), atol=1e-6)
    assert words.endswith("(all weights alike, by softmax)")
    zeros, words = choose(found, *values(combine="softmax", weights="0, 0, 0, 0"))
    np.testing.assert_allclose(zeros, mean, atol=1e-6)
    assert words.endswith("(0, 0, 0, 0, by softmax)")
    total, _ = choose(found, *values(combine="weighted", weights="  "))
    np.testing.assert_allclose(total, found.vectors.sum(axis=0), atol=1e-5)


def test_adjustment_is_of_the_chosen_vectors():
    found = occurrences(4)
    centred, words = choose(found, *values(1, adjust="centred"))
    np.testing.assert_allclose(centred, found.vectors[1] - found.vectors[1].mean(axis=0), atol=1e-6)
    assert words == "layer 1, centred"
    scored, words = choose(found, *values(combine="weighted", adjust="z_scored"))
    np.testing.assert_allclose(scored.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(scored.std(axis=0), 1, atol=1e-5)
    assert words == "weighted sum of layers, z-scored (all weights alike)"


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (values(combine="weighted", weights="1, 2"), "There are 2 weights, and Tiny has 3 layers"),
        (values(combine="weighted", weights="1"), "There is one weight"),
        (values(combine="softmax", weights="1, 2, 3, 4"), "There are 4 weights"),
        (values(combine="weighted", weights="1, nan, 2"), "“nan” is no weight"),
        (values(combine="softmax", weights="1, inf, 2"), "“inf” is no weight"),
        (values(combine="weighted", weights="a, lot, of"), "“a” is no weight"),
        (values(combine="weighted", weights="0, 0, 0"), "All weights are 0"),
        (values(combine="normalised", weights="1, 2"), "There are 2 weights, and Tiny has 3 layers"),
        (values(combine="last_four"), "only 2 layers above its input embeddings"),
        (values(combine="mean"), "There is no 'mean'"),
        (values(adjust=["centred"]), "There is no ['centred']"),
        (values(pieces="middle"), "There is no 'middle'"),
        (values(weights=None), "Which vector is asked for by"),
        (values(layer="last"), "A layer is a whole number"),
        (values(layer=-1), "A layer is a whole number"),
        (values(layer=1.5), "A layer is a whole number"),
        (values(layer=float("nan")), "A layer is a whole number"),
        (values(layer=None), "A layer is a whole number"),
        (values()[:3], "Which vector is asked for by"),
    ],
)  # fmt: skip
def test_what_does_not_suit_is_said(sent, words):
    with pytest.raises(UnsuitableText) as raised:
        choose(occurrences(3), *sent)
    assert words in str(raised.value)


def test_one_use_cannot_be_centred():
    one = occurrences(3)
    alone = Occurrences(**vars(one) | {"vectors": one.vectors[:, :1]})
    with pytest.raises(UnsuitableText, match="cannot be centred"):
        choose(alone, *values(adjust="centred"))


def test_the_components_stand_in_the_order_of_what_is_read():
    with gr.Blocks():
        which = build_which(6)
    sent = [component.value for component in which.inputs]
    assert read_vector(*sent) == Vector(6, "layer", "", "none", "mean")
    assert (which.layer.minimum, which.layer.maximum) == (0, 6)
    assert {*which.fields.values(), which.chosen} == {*which.inputs, which.layer}
    assert len(which.changed) == len(which.inputs)


def test_only_what_has_an_effect_can_be_set():
    for combine, moves, weighs in (
        ("layer", True, False), ("last_four", False, False), ("softmax", False, True), ("normalised", False, True),
    ):  # fmt: skip
        slider, weights = show_combine(combine)
        assert (slider.interactive, weights.visible) == (moves, weighs)
    assert len({show_combine(combine)[1].label for combine in which_vector.WEIGHED}) == 3


def test_every_choice_is_one_that_the_engine_takes():
    found = occurrences(5)
    for _, combine in which_vector.COMBINE_CHOICES:
        for _, adjust in which_vector.ADJUST_CHOICES:
            for _, pieces in which_vector.PIECES_CHOICES:
                vectors, words = choose(found, *values(combine=combine, adjust=adjust, pieces=pieces))
                assert vectors.shape == (USES, DIM) and words
