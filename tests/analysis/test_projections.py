"""Maps of points: each method against its library, sizes and turns by their definitions, few and equal points."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE, trustworthiness
from threadpoolctl import threadpool_limits

from explorer.analysis.embedding_results import Occurrences
from explorer.analysis.map_quality import measure_map
from explorer.analysis.paired_maps import pair_projections
from explorer.analysis.projections import (
    principal_components,
    project_occurrences,
    project_points,
    same_size,
    turn_to,
)
from explorer.errors import UnsuitableText

METHODS = ["pca", pytest.param("umap", marks=pytest.mark.slow), "tsne"]  # numba compiles UMAP for 20 s


def clouds(layers=4, points=60, dim=12, groups=3, seed=0):
    """Groups of points that drift from layer to layer, each layer turned at random."""
    random = np.random.default_rng(seed)
    centres, drift = random.standard_normal((groups, dim)) * 3, random.standard_normal((groups, dim))
    group = np.arange(points) % groups
    noise = random.standard_normal((points, dim))
    stack = []
    for layer in range(layers):
        turn, _ = np.linalg.qr(random.standard_normal((dim, dim)))
        stack.append((centres[group] + 0.5 * layer * drift[group] + noise) @ turn)
    return np.stack(stack).astype(np.float32), group


def distances(points):
    return np.array([[np.linalg.norm(a - b) for b in points] for a in points.astype(np.float64)])


@pytest.mark.parametrize("points, dim", [(60, 12), (9, 40), (12, 12), (5, 1000)])
@pytest.mark.parametrize("count", [2, 3])
def test_principal_components_are_those_of_scikit_learn(points, dim, count):
    vectors = np.random.default_rng(1).standard_normal((points, dim)).astype(np.float32) + 5
    mine, shares = principal_components(vectors, count)
    reference = PCA(count, svd_solver="full")
    expected = reference.fit_transform(vectors.astype(np.float64))
    np.testing.assert_allclose(mine, expected, atol=1e-5)
    np.testing.assert_allclose(shares, reference.explained_variance_ratio_, atol=1e-8)


def test_shares_of_variance_against_the_sum_over_dimensions():
    (vectors,), _ = clouds(layers=1)
    maps = project_points(vectors[None], dimensions=3)
    whole = sum(float(np.var(column.astype(np.float64))) for column in vectors.T)
    projected, _ = principal_components(vectors, 3)
    for axis in range(3):
        assert maps.shares[0, axis] == pytest.approx(np.var(projected[:, axis]) / whole)
    assert maps.shares[0, 0] > maps.shares[0, 1] > maps.shares[0, 2] > 0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dimensions", [2, 3])
def test_maps_are_centred_of_one_size_and_repeatable(method, dimensions):
    vectors, _ = clouds(layers=2, points=30)
    told = []
    maps = project_points(vectors, method=method, dimensions=dimensions, seed=3, on_layer=lambda *at: told.append(at))
    again = project_points(vectors, method=method, dimensions=dimensions, seed=3)
    assert maps.coordinates.shape == (2, 30, dimensions) and maps.coordinates.dtype == np.float32
    assert not maps.coordinates.flags.writeable
    assert (maps.coordinates == again.coordinates).all()
    for drawn in maps.coordinates.astype(np.float64):
        np.testing.assert_allclose(drawn.mean(axis=0), 0, atol=1e-5)
        assert np.sqrt((drawn**2).sum(axis=1).mean()) == pytest.approx(1, abs=1e-5)
    assert maps.method == method and (maps.shares is None) == (method != "pca")
    assert told == [(0, 2), (1, 2)]


@pytest.mark.slow
def test_umap_is_that_of_umap_learn():
    from umap import UMAP

    vectors, _ = clouds(layers=1, points=40)
    start = same_size(principal_components(vectors[0], 2)[0]).astype(np.float32)
    theirs = UMAP(n_neighbors=15, metric="cosine", init=start, random_state=7, n_jobs=1).fit_transform(vectors[0])
    mine = project_points(vectors, method="umap", seed=7).coordinates[0]
    np.testing.assert_allclose(mine, same_size(theirs), atol=1e-4)


def test_tsne_is_that_of_scikit_learn():
    vectors, _ = clouds(layers=1, points=40)
    start = same_size(principal_components(vectors[0], 2)[0])
    start = (start / start[:, 0].std() * 1e-4).astype(np.float32)
    with threadpool_limits(1):
        theirs = TSNE(perplexity=13, metric="cosine", init=start, random_state=7).fit_transform(vectors[0])
    mine = project_points(vectors, method="tsne", seed=7).coordinates[0]
    np.testing.assert_allclose(mine, same_size(theirs), atol=1e-3)


@pytest.mark.parametrize("method", METHODS)
def test_turning_keeps_shapes_and_points_in_their_places(method):
    vectors, _ = clouds()
    maps = project_points(vectors, method=method).coordinates
    if method == "pca":
        alone = [same_size(principal_components(layer, 2)[0]) for layer in vectors]
    else:
        alone = [project_points(layer[None], method=method).coordinates[0] for layer in vectors]
    moved = [np.linalg.norm(maps[layer + 1] - maps[layer], axis=1).mean() for layer in range(3)]
    unturned = [np.linalg.norm(alone[layer + 1] - alone[layer], axis=1).mean() for layer in range(3)]
    assert np.mean(moved) < 0.7 * np.mean(unturned)
    if method == "pca":
        for turned, before in zip(maps, alone, strict=True):
            np.testing.assert_allclose(distances(turned), distances(before), atol=1e-5)


def test_no_other_turn_is_nearer():
    random = np.random.default_rng(5)
    points, reference = random.standard_normal((2, 20, 2))
    best = ((turn_to(points, reference) - reference) ** 2).sum()
    for angle in np.linspace(0, 2 * np.pi, 721):
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        for mirror in (np.eye(2), np.diag([1, -1])):
            assert best <= ((points @ mirror @ turn - reference) ** 2).sum() + 1e-9


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dimensions", [2, 3])
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6])
def test_few_points_are_drawn(method, dimensions, count):
    vectors = np.random.default_rng(2).standard_normal((2, count, 8)).astype(np.float32)
    maps = project_points(vectors, method=method, dimensions=dimensions)
    assert np.isfinite(maps.coordinates).all() and maps.coordinates.shape == (2, count, dimensions)
    assert maps.method == (method if count >= 5 else "pca")
    said = " ".join(maps.remarks)
    assert ("needs at least 5 uses here" in said) == (count < 5 and method != "pca")
    assert ("One use alone" in said) == (count == 1)
    if count in (2, 3) and dimensions == 2:  # so few points lie as they do in space
        real = distances(vectors[0])
        np.testing.assert_allclose(distances(maps.coordinates[0]) / real.max() * real.max(), distances(
            same_size(vectors[0])), atol=1e-4)  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["identical", "zeros", "identical then not", "some zeros", "one number", "doubled"])
def test_odd_points_are_drawn(method, kind):
    random = np.random.default_rng(3)
    vectors = random.standard_normal((2, 20, 6)).astype(np.float32)
    if kind == "identical":
        vectors[:] = vectors[:, :1]
    elif kind == "zeros":
        vectors[:] = 0
    elif kind == "identical then not":
        vectors[0] = 0.1
    elif kind == "some zeros":
        vectors[:, ::3] = 0
    elif kind == "one number":
        vectors = vectors[:, :, :1]
    elif kind == "doubled":
        vectors[:, 10:] = vectors[:, :10]
    maps = project_points(vectors, method=method)
    assert np.isfinite(maps.coordinates).all()
    assert kind in ("identical", "zeros") or maps.coordinates[1].any()
    if kind in ("identical", "zeros"):
        assert not maps.coordinates.any() and "their vectors are the same" in maps.remarks[-1]
    if kind == "identical then not":
        assert not maps.coordinates[0].any() and maps.coordinates[1].any()


def test_too_many_points_are_drawn_by_pca():
    vectors = np.random.default_rng(2).standard_normal((1, 2_001, 4)).astype(np.float32)
    maps = project_points(vectors, method="umap")
    assert maps.method == "pca" and "at most 2,000 uses here, and there are 2,001" in maps.remarks[0]


@pytest.mark.parametrize(
    "change, message",
    [
        ({"method": "som"}, "method must be one of: pca, umap, tsne"),
        ({"dimensions": 4}, "dimensions must be 2 or 3"),
        ({"dimensions": True}, "dimensions must be 2 or 3"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"vectors": np.zeros((1, 0, 3), np.float32)}, "no points to draw"),
        ({"vectors": np.full((1, 3, 3), np.nan, np.float32)}, "not finite"),
    ],
)
def test_what_cannot_be_drawn_is_refused(change, message):
    options = {"vectors": np.ones((1, 3, 3), np.float32)} | change
    with pytest.raises(UnsuitableText, match=message):
        project_points(options.pop("vectors"), **options)


def test_work_ends_where_it_is_told_to():
    def stop(done, of):
        if done == 1:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        project_points(clouds()[0], on_layer=stop)


def test_quality_against_scikit_learn_and_by_counting():
    vectors, group = clouds(layers=1, points=50)
    drawn = project_points(vectors).coordinates[0]
    senses = [f"sense {one}" if index % 5 else "" for index, one in enumerate(group)]
    quality = measure_map(vectors[0], drawn, senses)
    expected = trustworthiness(vectors[0].astype(np.float64), drawn, n_neighbors=10, metric="cosine")
    assert quality.trustworthiness == pytest.approx(expected, abs=1e-9) and quality.k == 10
    labelled = [index for index, sense in enumerate(senses) if sense]

    def agreeing(distance):
        same = 0
        for one in labelled:
            nearest = min((distance(one, other), other) for other in labelled if other != one)[1]
            same += senses[one] == senses[nearest]
        return same / len(labelled)

    def cosine_distance(a, b):
        x, y = vectors[0, a].astype(float), vectors[0, b].astype(float)
        return 1 - x @ y / np.linalg.norm(x) / np.linalg.norm(y)

    assert quality.nearest_on_map == pytest.approx(agreeing(lambda a, b: np.linalg.norm(drawn[a] - drawn[b])))
    assert quality.nearest_in_space == pytest.approx(agreeing(cosine_distance))


def test_points_that_lie_on_one_another_give_no_sense_away():
    vectors = np.ones((20, 4), np.float32)
    senses = ["a"] * 10 + ["b"] * 10  # in the order of their senses, as the files have them
    quality = measure_map(vectors, np.zeros((20, 2), np.float32), senses)
    assert quality.nearest_on_map == quality.nearest_in_space == pytest.approx(9 / 19)
    alone = measure_map(vectors[:1], np.zeros((1, 2), np.float32), [""])
    assert alone.trustworthiness is None and alone.nearest_on_map is None


def occurrences(uses=12, layers=5):
    vectors = np.random.default_rng(0).standard_normal((layers, uses, 6)).astype(np.float32)
    same = (("a play",) * uses, ((2, 6),) * uses, ("play",) * uses, (("play",),) * uses, ((0, 6),) * uses)
    return Occurrences("tiny", *same, "mean", tuple(range(layers)), layers, vectors, ("as read",))


def test_uses_on_maps():
    of = occurrences()
    found = project_occurrences(of, senses=["a", "b"] * 6, adjust="centred")
    assert found.layers == (0, 1, 2, 3, 4) and found.vectors[2] == "layer 2, centred"
    assert found.maps.coordinates.shape == (5, 12, 2) and len(found.quality) == 5
    assert found.senses == ("a", "b") * 6 and found.remarks == ("as read",)
    expected = project_points(of.vectors - of.vectors.mean(axis=1, keepdims=True)).coordinates
    np.testing.assert_allclose(found.maps.coordinates, expected, atol=1e-5)


def test_a_sum_of_layers_is_one_map():
    of = occurrences()
    found = project_occurrences(of, combine="last_four")
    assert found.layers == () and found.vectors == ("sum of layers 1 to 4",)
    expected = project_points(of.vectors[1:].sum(axis=0)[None]).coordinates
    np.testing.assert_allclose(found.maps.coordinates, expected, atol=1e-4)
    with pytest.raises(UnsuitableText, match="12 uses and 1 senses"):
        project_occurrences(of, senses=["a"])


def test_two_models_on_one_map():
    first, second = project_occurrences(occurrences(layers=5)), project_occurrences(occurrences(layers=3))
    both = pair_projections(first, second)
    assert both.maps.coordinates.shape == (5, 24, 2) and both.models == ("tiny",) * 24
    np.testing.assert_array_equal(both.maps.coordinates[:, :12], first.maps.coordinates)
    for place, there in enumerate((0, 0, 1, 2, 2)):  # as deep
        here, turned = both.maps.coordinates[place, :12], both.maps.coordinates[place, 12:]
        np.testing.assert_allclose(distances(turned), distances(second.maps.coordinates[there]), atol=1e-5)
        a, b = here.astype(float), turned.astype(float)
        scaled = b * (a * b).sum() / (b * b).sum()
        left = ((a - scaled) ** 2).sum() / (a * a).sum()
        assert both.quality[place].alike == pytest.approx(1 - left)
    assert both.vectors[2] == "layer 2, beside layer 1" and "centred and of one size" in both.remarks[-1]


def test_a_model_beside_itself_is_the_same_map():
    one = project_occurrences(occurrences())
    both = pair_projections(one, one)
    np.testing.assert_allclose(both.maps.coordinates[:, :12], both.maps.coordinates[:, 12:], atol=1e-6)
    assert all(quality.alike == pytest.approx(1) for quality in both.quality)
    with pytest.raises(UnsuitableText, match="the same uses"):
        pair_projections(one, project_occurrences(occurrences(uses=11)))
    with pytest.raises(UnsuitableText, match="made the same way"):
        pair_projections(one, project_occurrences(occurrences(), dimensions=3))
