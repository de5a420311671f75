"""What a cure does to the senses of a word, against plain counts; and what a cure cannot do on few uses."""

from dataclasses import replace
from math import factorial

import numpy as np
import pytest

from explorer.analysis import embed_occurrences, score_cured_senses, score_senses
from explorer.analysis.anisotropy import sum_spaces
from explorer.analysis.cured_occurrences import cure_occurrences
from explorer.analysis.cured_senses import pair_uses, score_cured
from explorer.analysis.cures import CURES, apply_cure, cure_layers, fit_cure
from explorer.analysis.exporting import to_json, to_tables
from explorer.analysis.intervals import sign_test
from explorer.errors import UnsuitableText
from tests.analysis import tiny_models
from tests.analysis.test_cures import points_with, space_of
from tests.analysis.test_embeddings import embedding
from tests.analysis.test_senses import plain_centroids, plain_nearest, uses_of


def hidden_senses(count=48, dim=12, layers=2):
    """Two senses apart in two small numbers, beside a large one of no meaning."""
    random = np.random.default_rng(3)
    labels = np.arange(count) % 2
    vectors = random.standard_normal((layers, count, dim)) * 0.2
    vectors[:, :, 0] += labels
    vectors[:, :, 1] -= 0.8 * labels
    vectors[:, :, 5] += 2 + 12 * random.standard_normal((layers, count))
    return vectors.astype(np.float32), labels


@pytest.mark.parametrize("cure", CURES)
def test_changes_are_those_of_each_use(cure):
    vectors, labels = hidden_senses()
    corpus = points_with(dim=12)
    spaces = [space_of(corpus), space_of(corpus * 2 + 1)]
    senses = [f"sense {label}" for label in labels]
    found = score_cured(uses_of(vectors), senses, cure=cure, components=2, spaces=spaces)
    assert found.cure == cure and found.components == (2 if cure == "all_but_the_top" else None)
    for layer, (space, points) in enumerate(zip(spaces, vectors, strict=True)):
        after = apply_cure(fit_cure(cure, space, components=2), points).astype(np.float32)
        for measure, judge in (("nearest", plain_nearest), ("centroid", plain_right)):
            was, now = judge(points, labels), judge(after, labels)
            changed = getattr(found.layers[layer], measure)
            assert changed.gained == sum(b and not a for a, b in zip(was, now, strict=True))
            assert changed.lost == sum(a and not b for a, b in zip(was, now, strict=True))
            assert getattr(found.scores.layers[layer], measure).value == pytest.approx(sum(now) / len(now))


def plain_right(points, labels):
    return [guess == label for guess, label in zip(plain_centroids(points, labels), labels, strict=True)]


def test_a_cure_that_helps_gains_and_nothing_changes_without_one():
    vectors, labels = hidden_senses(layers=1)
    senses = [f"sense {label}" for label in labels]
    helped = score_cured(uses_of(vectors), senses, cure="z_score", spaces=[space_of(vectors[0])])
    assert helped.layers[0].centroid.gained > helped.layers[0].centroid.lost
    assert helped.layers[0].centroid.p < 0.05
    same = score_cured(uses_of(vectors), senses, cure="none", spaces=[space_of(vectors[0])])
    assert [(one.gained, one.lost, one.p) for one in (same.layers[0].nearest, same.layers[0].centroid)] == [
        (0, 0, 1.0)
    ] * 2


@pytest.mark.parametrize(("gained", "lost"), [(0, 0), (5, 0), (0, 6), (3, 3), (9, 2), (1, 4), (30, 12)])
def test_the_sign_test_is_the_binomial_written_out(gained, lost):
    changed = gained + lost
    ways = [factorial(changed) // (factorial(k) * factorial(changed - k)) for k in range(changed + 1)]
    as_uneven = sum(way for k, way in enumerate(ways) if abs(2 * k - changed) >= abs(gained - lost))
    assert sign_test(gained, lost) == pytest.approx(as_uneven / 2**changed)
    before = np.array([False] * gained + [True] * lost + [True, False])
    after = np.array([True] * gained + [False] * lost + [True, False])
    assert (pair_uses(before, after).gained, pair_uses(before, after).lost) == (gained, lost)


def test_few_uses_whitened_on_themselves_are_all_equally_near():
    vectors = np.random.default_rng(0).standard_normal((1, 7, 12)).astype(np.float32)
    [white] = cure_occurrences(uses_of(vectors), cure="whitening").vectors
    unit = white / np.linalg.norm(white, axis=1, keepdims=True)
    np.testing.assert_allclose((unit @ unit.T)[~np.eye(7, dtype=bool)], -1 / 6, atol=1e-5)
    [other] = cure_layers([fit_cure("whitening", space_of(points_with()))], vectors)
    unit = other / np.linalg.norm(other, axis=1, keepdims=True)
    assert np.ptp((unit @ unit.T)[~np.eye(7, dtype=bool)]) > 0.05, "fitted on a corpus it leaves them apart"


def test_spaces_of_other_layers_are_refused():
    vectors, labels = hidden_senses()
    senses = [f"sense {label}" for label in labels]
    with pytest.raises(UnsuitableText, match="fitted on 1 layers, and the vectors are of 2"):
        score_cured(uses_of(vectors), senses, cure="z_score", spaces=[space_of(vectors[0])])


def test_changes_are_taken_away_as_a_table():
    vectors, labels = hidden_senses()
    senses = [f"sense {label}" for label in labels]
    found = score_cured(
        uses_of(vectors), senses, cure="all_but_the_top", spaces=list(map(space_of, vectors)), components=1
    )
    rows = to_tables((found, replace(found, cure="rank")))["cured_senses"]
    assert len(rows) == 1 + 2 * 2 * 2 and rows[0][-3:] == ["became_right", "became_wrong", "p"]
    first = dict(zip(*rows[:2], strict=True))
    assert first["right"] == found.scores.layers[0].nearest.value and first["components"] == 1
    assert first["became_right"] == found.layers[0].nearest.gained and rows[-1][2] == "rank"
    assert to_json(found)["layers"][1]["centroid"]["lost"] == found.layers[1].centroid.lost


def test_a_model_is_judged_with_cures_fitted_on_a_corpus():
    model = embedding(tiny_models.word_piece())
    sentences = ["The cat sat.", "A cat ran.", "The cat ate.", "A cat saw the dog."]
    uses = {"sentences": sentences, "positions": [(4, 7), (2, 5), (4, 7), (2, 5)], "senses": ["a", "b", "a", "b"]}
    corpus = ["The dog ran.", "A king saw the cat.", "The queen ate.", "A dog sat."]
    found = score_cured_senses(model, **uses, corpus=corpus, cures=["none", "z_score"])
    occurrences = embed_occurrences(model, sentences=uses["sentences"], positions=uses["positions"])
    spaces = sum_spaces(model, sentences=corpus)
    for one, cure in zip(found, ("none", "z_score"), strict=True):
        assert one == score_cured(occurrences, uses["senses"], cure=cure, spaces=spaces)
    assert found[0].scores.layers[-1].nearest.value == score_senses(model, **uses).layers[-1].nearest.value
    refused = [
        ({"cures": ["luck"]}, "no cure 'luck'"),
        ({"cures": "none"}, "list of cures"),
        ({"corpus": ["cat"]}, "Give more"),
        ({"senses": ["a"] * 4}, "two"),
    ]
    for options, message in refused:
        with pytest.raises(UnsuitableText, match=message):
            score_cured_senses(model, **({**uses, "corpus": corpus} | options))
