"""The map of uses: which point is where, what it says, and what the page gets to move it."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from explorer.analysis.embedding_results import Occurrences
from explorer.analysis.paired_maps import pair_projections
from explorer.analysis.projection_results import MapQuality
from explorer.analysis.projections import project_occurrences
from explorer.figures.map_words import quality_words
from explorer.figures.sense_map import COLOURINGS, group_points, pack_map, places_in_sentences, sense_map
from explorer.figures.sense_marks import mark_senses

SENTENCES = (
    "They play chess.",
    "Plays bore me.",
    "He <b>plays</b> </script> the oboe & sings.",
    "A play.",
    "إنهم play الشطرنج",
    "We " + "really " * 60 + "play it.",
)
POSITIONS = ((5, 9), (0, 5), (6, 11), (2, 6), (5, 9), (423, 427))
SENSES = ("sport", "stage", "<i>music</i>", "stage", "", "sport")


def projection(dimensions=2, layers=3, senses=SENSES):
    words = tuple(sentence[start:end] for sentence, (start, end) in zip(SENTENCES, POSITIONS, strict=True))
    vectors = np.random.default_rng(0).standard_normal((layers, 6, 8)).astype(np.float32)
    read = tuple((0, len(sentence)) for sentence in SENTENCES)
    of = Occurrences(
        "tiny", SENTENCES, POSITIONS, words, ((),) * 6, read, "mean", tuple(range(layers)), layers, vectors, ()
    )
    return project_occurrences(of, senses=senses, dimensions=dimensions)


def places(figure, dimensions):
    """Use -> where it is drawn."""
    found = {}
    for trace in figure.data:
        if trace.mode == "markers" and trace.name != "query":
            columns = [trace.x, trace.y, *([trace.z] if dimensions == 3 else [])]
            found |= {use: tuple(column[at] for column in columns) for at, use in enumerate(trace.customdata)}
    return found


@pytest.mark.parametrize("dimensions", [2, 3])
@pytest.mark.parametrize("colour", COLOURINGS)
def test_every_use_is_drawn_once_and_keeps_its_shape(dimensions, colour):
    drawn = projection(dimensions)
    figure, packed = sense_map(drawn, colour=colour, key="k"), json.loads(pack_map(drawn, colour=colour, key="k"))
    at = places(figure, dimensions)
    assert sorted(at) == list(range(6)) == sorted(use for group in packed["groups"] for use in group)
    assert figure.layout.meta == packed["key"] == "k"
    for layer, points in enumerate(np.array(packed["points"])):
        shown = np.array([[np.linalg.norm(a - b) for b in points] for a in points])
        real = drawn.maps.coordinates[layer].astype(float)
        real = np.array([[np.linalg.norm(a - b) for b in real] for a in real])
        np.testing.assert_allclose(shown / shown.max(), real / real.max(), atol=1e-3)
        assert np.abs(points).max() <= 1.6 + 1e-4
    np.testing.assert_allclose([at[use] for use in range(6)], packed["points"][-1], atol=1e-4)


def test_colour_and_shape_say_the_sense():
    drawn = projection()
    marks = mark_senses(SENSES)
    for trace, group in zip(sense_map(drawn).data, group_points(drawn, "sense"), strict=False):
        senses = {SENSES[use] for use in trace.customdata}
        assert len(senses) == 1
        assert (trace.marker.color, trace.marker.symbol) == (
            marks[min(senses)].colour,
            marks[min(senses)].shape,
        )
        assert group.points == tuple(trace.customdata)
    names = [group.name for group in group_points(drawn, "sense")]
    assert names == ["sport", "stage", "<i>music</i>", "no label"]


def test_forms_without_regard_to_capitals():
    assert [(group.name, group.points) for group in group_points(projection(), "form")] == [
        ("play", (0, 3, 4, 5)),
        ("plays", (1, 2)),
    ]


def test_places_in_sentences():
    places = places_in_sentences(projection())
    assert places[1] == 0 and places[0] == pytest.approx(5 / 12) and 0.98 < places[5] < 1


def test_hover_says_the_sentence_with_its_use_and_is_escaped():
    texts = {}
    for trace in sense_map(projection()).data:
        if trace.customdata is not None:
            texts |= dict(zip(trace.customdata, trace.text, strict=True))
    assert texts[0] == "They <b>play</b> chess.<br><i>sport</i>"
    assert "&lt;b&gt;<b>plays</b>&lt;/b&gt; &lt;/script&gt;" in texts[2].replace("<br>", " ")
    assert "&lt;i&gt;music&lt;/i&gt;" in texts[2] and "إنهم <b>play</b> الشطرنج" in texts[4]
    assert texts[5].startswith("…") and "<b>play</b> it." in texts[5]
    assert max(len(line) for line in texts[5].split("<br>")) < 60


def test_labels_stand_at_the_middle_of_their_points():
    drawn = projection()
    packed = json.loads(pack_map(drawn))
    for layer in range(3):
        for group, centre in zip(packed["groups"], packed["centres"][layer], strict=True):
            points = np.array([packed["points"][layer][use] for use in group])
            assert np.abs(points - centre).max(axis=1).min() < 2e-4  # one of its own
    texts, marks = sense_map(drawn).data[-1].text, mark_senses(drawn.senses)
    names = [re.sub("<[^>]*>", "", text) for text in texts]
    assert names == ["(●) sport", "(◆) stage", "(■) &lt;i&gt;music&lt;/i&gt;", "(●) no label"]
    assert texts[0].startswith(f"(<span style='color:{marks['sport'].colour}'>"), "as its points are drawn"


def test_what_goes_into_the_page_is_escaped_and_says_how_far_to_believe_it():
    packed = pack_map(projection())
    assert "<" not in packed
    words = json.loads(packed)
    assert "<i>music" not in words["legend"] and "&lt;i&gt;music" in words["legend"]
    assert all("So few uses" in says and "of the variance" in says for says in words["says"])
    assert "Trustworthiness" not in words["says"][0] and "nearest use" not in words["says"][0]
    assert words["titles"][1] == "tiny, layer 1, PCA, n = 6"


def test_one_use_and_one_sense_need_no_labels():
    drawn = projection(senses=("stage",) * 6)
    assert json.loads(pack_map(drawn))["centres"] is None
    assert json.loads(pack_map(projection(), colour="place"))["legend"] == ""


def test_two_models_are_told_apart_and_stand_for_the_same_uses():
    one, other = projection(), replace(projection(), model="<other>")
    both = pair_projections(one, other)
    groups = group_points(both, "model")
    assert [(group.name, len(group.points)) for group in groups] == [("tiny", 6), ("<other>", 6)]
    figure, packed = sense_map(both, colour="model"), json.loads(pack_map(both, colour="model"))
    assert [list(trace.customdata) for trace in figure.data[:2]] == [list(range(6))] * 2
    assert packed["uses"] == 6 and len(packed["points"][0]) == 12 and "Procrustes" in packed["says"][0]
    assert "&lt;other&gt;" in figure.data[1].text[0] and figure.data[0].marker.symbol != figure.data[1].marker.symbol


def test_quality_says_what_is_high_and_what_is_low():
    drawn = projection()
    quality = MapQuality(0.881, 10, 0.0, 0.5, 40, tied=0.25)
    says = quality_words(replace(drawn, quality=(quality,) * 3), 1)
    assert "Islands" not in says, "of PCA, far apart is far apart"
    by_umap = replace(drawn, quality=(quality,) * 3, maps=replace(drawn.maps, method="umap"))
    assert "Islands need not be senses: UMAP keeps" in quality_words(by_umap, 1)
    assert "0.88</b> (1 = every neighbour on the map is one in the model, about 0.5 = by chance; k = 10)" in says
    assert "<b>0 %</b> on the map" in says and "shows less" in says and "For 25 % of the uses" in says
    even = quality_words(replace(drawn, quality=(replace(quality, nearest_on_map=0.45, tied=0.0),) * 3), 1)
    assert "shows less" not in even and "equally near" not in even


def test_all_of_a_cloud_is_in_sight_when_it_opens():
    drawn = projection(dimensions=3)
    lopsided = np.abs(drawn.maps.coordinates)
    lopsided[..., 2] *= -1  # below the middle, and to one side of it
    camera = sense_map(replace(drawn, maps=replace(drawn.maps, coordinates=lopsided))).layout.scene.camera
    eye, centre = (np.array([at.x, at.y, at.z]) for at in (camera.eye, camera.center))
    distance = np.linalg.norm(eye - centre)
    towards = (eye - centre) / distance
    right = np.cross([0, 0, 1], towards) / np.linalg.norm(np.cross([0, 0, 1], towards))
    packed = json.loads(pack_map(replace(drawn, maps=replace(drawn.maps, coordinates=lopsided))))
    seen = np.array(packed["points"]).reshape(-1, 3) / 2 - centre
    half = np.tan(np.pi / 8) * (distance - seen @ towards)
    across, up = (seen @ axis / half for axis in (right, np.cross(towards, right)))
    assert np.abs(across).max() < 0.83 and np.abs(up).max() < 1, "plotly sees 45° of height; on a telephone less across"
    assert max((across.max() - across.min()) / 0.83, up.max() - up.min()) > 1.5, "it fills the picture"


def test_a_picture_says_the_word_escaped():
    packed = json.loads(pack_map(projection(), word="<play>"))
    assert packed["titles"][1] == "“&lt;play&gt;”, tiny, layer 1, PCA, n = 6"
    in_space = json.loads(pack_map(projection(dimensions=3)))
    assert in_space["titles"][1] == "tiny, layer 1, PCA in 3 dimensions, n = 6"


def test_umap_fills_the_frame_along_both_axes_and_pca_keeps_its_shape():
    drawn = projection()
    by_umap = replace(drawn, maps=replace(drawn.maps, method="umap"))
    for points in np.array(json.loads(pack_map(by_umap))["points"]):
        np.testing.assert_allclose(np.abs(points).max(axis=0), [1.6, 1], atol=1e-3)
    assert sense_map(drawn).layout.yaxis.scaleanchor == "x" and sense_map(by_umap).layout.yaxis.scaleanchor is None


def test_a_cloud_has_small_see_through_points_and_no_labels():
    figure = sense_map(projection(3))
    assert [trace.mode for trace in figure.data] == ["markers"] * len(figure.data)
    assert figure.data[0].marker.size <= 3 and figure.data[0].marker.opacity < 0.7
    ratio, scene = figure.layout.scene.aspectratio, figure.layout.scene
    assert scene.xaxis.range[1] / ratio.x == pytest.approx(scene.zaxis.range[1] / ratio.z)  # one scale


def test_a_cloud_draws_no_mark_that_fonts_lack_and_its_legend_has_the_same():
    senses = ("a", "b", "c", "d", "e", "")
    assert sense_map(projection(2, senses=senses)).data[4].marker.symbol == "x"
    cloud = projection(3, senses=senses)
    assert sense_map(cloud).data[4].marker.symbol == "diamond-open"
    assert "◇" in json.loads(pack_map(cloud))["legend"] and "✖" not in json.loads(pack_map(cloud))["legend"]
