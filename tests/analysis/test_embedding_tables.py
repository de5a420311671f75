"""Tables of uses, neighbours and senses: every number of the result, under its name."""

import json
from dataclasses import replace

import pytest

from explorer.analysis import embed_occurrences, find_static_neighbours, score_senses
from explorer.analysis.exporting import to_csv, to_json, to_tables
from explorer.analysis.neighbours import find_near_uses, prepare_points
from explorer.analysis.projections import project_occurrences
from explorer.analysis.sense_results import Estimate
from tests.analysis.test_embeddings import own

USES = {"sentences": ["=the cat", "a cat walks", "the dog"], "positions": [(5, 8), (2, 5), (4, 7)]}


@pytest.fixture(scope="module")
def found():
    return embed_occurrences(own("word_piece"), **USES, layers=[0, 2])


def named(table):
    return [dict(zip(table[0], row, strict=True)) for row in table[1:]]


def test_uses_and_their_vectors(found):
    tables = to_tables(found)
    assert named(tables["uses"])[1] == {
        "model": "tiny bert", "pieces": "mean", "use": 1, "sentence": "a cat walks", "start": 2, "end": 5,
        "word": "cat", "tokens": "cat",
    }  # fmt: skip
    rows = named(tables["vectors"])
    assert [(row["layer"], row["use"]) for row in rows] == [(0, 0), (0, 1), (0, 2), (2, 0), (2, 1), (2, 2)]
    assert rows[4]["number_23"] == found.vectors[1, 1, 23]
    assert "'=the cat" in to_csv(tables["uses"])
    assert json.loads(json.dumps(to_json(found)))["vectors"] == found.vectors.tolist()


def test_neighbours(found):
    near = find_near_uses(found, prepare_points(found.vectors[1]), use=1, vector="layer 2", senses=("a", "b", "c"))
    rows = named(to_tables(near)["neighbours"])
    assert [row["cosine"] for row in rows] == [one.cosine for one in near.neighbours] and rows[0]["rank"] == 1
    assert {row["sense"] for row in rows} == {"a", "c"} and rows[0]["query"] == "a cat walks"
    static = find_static_neighbours(own("word_piece"), word="cat", k=3)
    rows = named(to_tables(static)["neighbours"])
    assert [row["neighbour"] for row in rows] == [one.text for one in static.neighbours]


def test_maps(found):
    drawn = project_occurrences(found, senses=("a", "b", "a"), adjust="centred")
    tables = to_tables(drawn)
    rows = named(tables["points"])
    assert [(row["layer"], row["use"]) for row in rows] == [(0, 0), (0, 1), (0, 2), (2, 0), (2, 1), (2, 2)]
    assert (rows[4]["x"], rows[4]["y"]) == tuple(drawn.maps.coordinates[1, 1].tolist())
    assert rows[4]["vector"] == "layer 2, centred" and rows[4]["sense"] == "b" and rows[4]["sentence"] == "a cat walks"
    quality = named(tables["quality"])[1]
    assert quality["trustworthiness"] == drawn.quality[1].trustworthiness and quality["method"] == "pca"
    assert quality["variance"] == pytest.approx(drawn.maps.shares[1].sum())
    assert json.loads(json.dumps(to_json(drawn)))["maps"]["coordinates"] == drawn.maps.coordinates.tolist()


def test_senses():
    scores = score_senses(own("word_piece"), **USES, senses=["x", "x", "y"], layers=[1])
    tables = to_tables(scores)
    (row,) = named(tables["layers"])
    assert row["centroid"] == scores.layers[0].centroid.value and row["nearest_low"] == scores.layers[0].nearest.low
    assert row["bag_of_words"] == scores.bag_of_words and row["baseline_high"] == scores.layers[0].baseline.high
    assert tables["senses"] == [["model", "sense", "uses"], [scores.model, "x", 2], [scores.model, "y", 1]]
    mixed = replace(
        scores, joined=("weighted sum (0.5, 0.5)", replace(scores.layers[0], centroid=Estimate(0.9, 0.8, 1.0)))
    )
    one, other = named(to_tables(mixed)["layers"])
    assert (one["vector"], one["layer"]) == ("layer 1", 1)
    assert (other["vector"], other["layer"]) == ("weighted sum (0.5, 0.5)", None)
    assert other["centroid"] == 0.9 and to_json(mixed)["joined"][0] == "weighted sum (0.5, 0.5)"
