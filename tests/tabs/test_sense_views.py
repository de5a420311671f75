"""What the views "Senses in numbers" and "Quiz" measure, against the analyses themselves."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from explorer.analysis import embed_occurrences, score_senses
from explorer.analysis.labelled_uses import gather_uses, leave_out, shipped_uses
from explorer.analysis.sense_quiz import QuizAnswer, make_question
from explorer.analysis.sense_scoring import score_vectors
from explorer.analysis.vectors import choose_vectors
from explorer.errors import UnsuitableText
from explorer.figures.quiz import question_key
from explorer.tabs.neighbours.material import Vectors
from explorer.tabs.neighbours.measuring import SEED, Measured, read_labels
from explorer.tabs.neighbours.quiz import MOST_ROUNDS, add_round, read_guess
from explorer.tabs.neighbours.which_vector import Vector

MODEL = "MiniLM (masked)"
OWN = gather_uses(
    [
        "stage\tThe {play} was long.", "stage\tShe wrote a {play} about bees.", "stage\tA {play} in three acts.",
        "game\tThe children {play} in the yard.", "game\tThey {play} chess at night.", "game\tWe {play} cards.",
        "Nobody labelled this {play}.",
    ]
)  # fmt: skip
VALUES = ("layer", "", "none", "mean")


@pytest.fixture(scope="module")
def measured():
    return Measured(Vectors(64))


def alike(one, other):
    numbers = [
        [getattr(layer, name).value for name in ("nearest", "centroid", "silhouette", "self_similarity", "baseline")]
        for layer in (*one.layers, *other.layers)
    ]
    np.testing.assert_allclose(numbers[: len(one.layers)], numbers[len(one.layers) :], atol=2e-5)
    return True


def test_scores_are_those_of_the_analysis_and_are_kept(measured, shipped_registry):
    labelled = leave_out(OWN, [""])
    assert read_labels(OWN, without_foreign=False).unlabelled == 1
    assert read_labels(OWN, without_foreign=False).senses == labelled.senses
    found = measured.scores(shipped_registry, MODEL, labelled, Vector(6))
    ask = partial(score_senses, sentences=labelled.sentences, positions=labelled.positions, senses=labelled.senses)
    assert alike(found, shipped_registry.run(MODEL, partial(ask, seed=SEED)))
    assert measured.scores(shipped_registry, MODEL, labelled, Vector(2, "last_four")) is found, "of all layers"
    first = measured.scores(shipped_registry, MODEL, labelled, Vector(6, pieces="first"))
    assert first is not found and first.pieces == "first"
    unlabelled = measured.scores(shipped_registry, MODEL, OWN, Vector(6))
    assert unlabelled.uses == 6 and [layer.nearest for layer in unlabelled.layers] == [
        layer.nearest for layer in found.layers
    ]


def test_the_adjustment_is_of_the_uses_that_are_scored(measured, shipped_registry):
    uses = leave_out(OWN, [""])
    found = measured.scores(shipped_registry, MODEL, OWN, Vector(6, adjust="centred"))
    embedded = shipped_registry.run(
        MODEL, partial(embed_occurrences, sentences=uses.sentences, positions=uses.positions)
    )
    vectors = np.stack([choose_vectors(embedded, layer=layer, adjust="centred") for layer in range(7)])
    alone = score_vectors(replace(embedded, vectors=vectors), uses.senses)
    for one, other in zip(found.layers, alone.layers, strict=True):
        assert one.centroid.value == pytest.approx(other.centroid.value)
        assert one.silhouette.value == pytest.approx(other.silhouette.value, abs=1e-4)


def test_a_sum_of_layers_is_scored_beside_them(measured, shipped_registry):
    uses = leave_out(OWN, [""])
    labels = read_labels(uses, without_foreign=False)
    none, confusion = measured.chosen(shipped_registry, MODEL, uses, labels, 4, *VALUES)
    assert none is None and confusion.vector == "layer 4"
    one, confusion = measured.chosen(shipped_registry, MODEL, uses, labels, 4, "last_four", *VALUES[1:])
    embedded = shipped_registry.run(
        MODEL, partial(embed_occurrences, sentences=uses.sentences, positions=uses.positions)
    )
    summed = choose_vectors(embedded, combine="last_four")[None]
    alone = score_vectors(replace(embedded, vectors=summed, layers=(6,)), uses.senses).layers[0]
    assert (one.nearest.value, one.centroid.value) == (alone.nearest.value, alone.centroid.value)
    right = sum(row[place] for place, row in enumerate(confusion.centroid))
    assert confusion.vector == "sum of layers 3 to 6" and right / 6 == pytest.approx(one.centroid.value)


def test_german_sentences_are_left_out_where_that_is_wanted():
    uses = shipped_uses("die")
    every, english = (read_labels(uses, without_foreign=wanted) for wanted in (False, True))
    assert every.foreign == english.foreign == ("article (German)",)
    assert english.senses == leave_out(uses, every.foreign).senses and len(every.kept) == len(uses.sentences)
    assert read_labels(shipped_uses("play"), without_foreign=True).foreign == ()


def test_without_labels_likeness_is_measured(measured, shipped_registry):
    uses = gather_uses(["a {play} here", "another {play} there", "the last {play}"])
    assert not read_labels(uses, without_foreign=False).suffice
    found = measured.similarity(shipped_registry, MODEL, uses, Vector(6))
    embedded = shipped_registry.run(
        MODEL, partial(embed_occurrences, sentences=uses.sentences, positions=uses.positions)
    )
    for layer, vectors in zip(found.layers, embedded.vectors, strict=True):
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        cosines = unit @ unit.T
        assert layer.self_similarity.value == pytest.approx((cosines.sum() - 3) / 6, abs=1e-5)
        assert layer.self_similarity.low > 0, "a sample of one use thrice has no pairs, and counts for nothing"
        assert layer.baseline is not None
    alone = gather_uses(["{play}", "{plays}"])
    assert measured.similarity(shipped_registry, MODEL, alone, Vector(6)).layers[0].baseline is None
    with pytest.raises(UnsuitableText, match="one use alone"):
        measured.similarity(shipped_registry, MODEL, gather_uses(["a {play} here"]), Vector(6))


def test_a_guess_counts_for_its_own_question():
    uses = shipped_uses("bank")
    question = make_question(uses, seed=5)
    key = question_key("bank", question)
    assert [read_guess(f"{key}:{place}", "bank", question) for place in range(4)] == [0, 1, 2, 3]
    other = make_question(uses, seed=6)
    for guess, word, asked in [
        (f"{key}:1", "bank", other), (f"{key}:1", "mouse", question), (f"{key}:4", "bank", question),
        (f"{key}:-1", "bank", question), (f"{key}:", "bank", question), ("", "bank", question),
        (None, "bank", question), (7, "bank", question),
    ]:  # fmt: skip
        assert read_guess(guess, word, asked) is None


def test_the_first_guess_counts():
    def answer(choice, same=False, tied=()):
        return QuizAnswer("M", "layer 1", 1, "q", ("a", "b"), (0.1, 0.2), choice, 1, same, tied)

    rounds = add_round((), "one", True, answer(0), answer(1))
    assert [(one.visitor, one.model) for one in rounds] == [(True, False)]
    assert add_round(rounds, "one", False, answer(1), answer(1)) is rounds, "another model, the same question"
    rounds = add_round(rounds, "two", False, answer(1), answer(0))
    rounds = add_round(rounds, "three", False, answer(1, same=True), answer(1, tied=(0, 1)))
    assert [(one.visitor, one.model) for one in rounds] == [(True, False), (False, True), (False, False)]
    assert [one.words for one in rounds] == [True, False, False] and {one.choices for one in rounds} == {2}
    assert not add_round((), "four", True, answer(1, tied=(0, 1)), answer(0))[0].model, "a tie is no point"
    for number in range(MOST_ROUNDS):
        rounds = add_round(rounds, str(number), True, answer(1), answer(0))
    assert len(rounds) == MOST_ROUNDS and rounds[0].key == "0"
