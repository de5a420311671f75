"""Before and after cures as drawn: numbers as measured, each cure in its colour, words true of the numbers."""

from dataclasses import replace

import numpy as np
import pytest

from explorer.analysis.anisotropy_metrics import METRICS
from explorer.analysis.anisotropy_results import Anisotropy, Protocol
from explorer.analysis.cures import CURES, apply_cure, fit_cure
from explorer.analysis.sense_results import CuredLayer, CuredSenses, PairedUses
from explorer.figures.anisotropy_charts import line_marks, metric_chart
from explorer.figures.cure_charts import cured_cosines_chart, cured_senses_chart, spectrum_chart
from explorer.figures.cure_words import (
    BY_CONSTRUCTION,
    SPECTRAL,
    construction_notes,
    cosines_words,
    cure_list,
    cured_metric_words,
    cured_senses_table,
    cured_senses_words,
    spectrum_words,
)
from explorer.figures.layer_lines import mark_of
from tests.analysis.test_cures import points_with, space_of
from tests.figures.test_sense_figures import EVIL, layer, scores, texts, trace

KEYS = list(CURES)
PROTOCOL = Protocol("ours", 9, 400, 40, "tokens", False, 5, 12, 12, 50, 100, 0)


def measured(cure="none", shift=0.0, **changes):
    """Two layers, four numbers each."""
    shares = np.array([[0.7, 0.2, 0.1, 0.0], [0.4, 0.3, 0.2, 0.1]])
    hills = np.array([[0.0, 0.5, 0.5, 0.0], [0.0, 0.25, 0.75, 0.0]])
    given = {
        "model": "M & M", "cure": cure, "protocol": PROTOCOL, "layers": (0, 1), "layer_count": 2, "dim": 4,
        "metrics": dict.fromkeys(METRICS, (0.5 + shift, 0.25 + shift)), "isotropic": dict.fromkeys(METRICS, 0.125),
        "spectrum": shares, "edges": np.linspace(-1, 1, 5), "random_pairs": hills, "same_word": hills[:, ::-1],
        "top_dimensions": np.array([[0, 1], [1, 0]]), "covariance": np.ones((2, 2, 2)), "remarks": (),
    }  # fmt: skip
    return Anisotropy(**(given | changes))


def cured(cure="none", share=0.5, gained=0, lost=0, p=1.0, model="M & M"):
    pair = PairedUses(gained, lost, p)
    scored = scores(model, layers=(layer(0, 0.2), layer(1, share)))
    taken = 3 if cure == "all_but_the_top" else None
    return CuredSenses(cure, taken, scored, (CuredLayer(0, PairedUses(0, 0, 1.0), pair), CuredLayer(1, pair, pair)))


def test_each_cure_keeps_its_colour_and_is_named():
    three = [measured(), measured("z_score", 0.1), measured("whitening", 0.2)]
    assert line_marks(three) == [0, KEYS.index("z_score"), KEYS.index("whitening")]
    figure = metric_chart(three, "mean_cosine", 1)
    lines = [one for one in figure.data if one.mode == "lines+markers"]
    assert [one.name for one in lines] == ["As they are", "Z-scores", "Whitening"]
    assert [tuple(one.y) for one in lines] == [(0.5, 0.25), (0.6, 0.35), (0.7, 0.45)]
    assert [one.line.color for one in lines] == [mark_of(mark)[0] for mark in line_marks(three)]
    other = metric_chart([measured(), three[2]], "mean_cosine", 1)
    assert trace(other, "Whitening").line.color == trace(figure, "Whitening").line.color
    assert len({mark_of(place)[:2] for place in range(len(CURES))}) == len(CURES), "each in its own colour and shape"
    assert any("isotropic 0.125" in text for text in texts(figure))


def test_histograms_before_and_after_share_their_axes():
    figure = cured_cosines_chart([measured(), measured("rank")], 1)
    random_pairs = trace(figure, "Ranks, random pairs")
    assert list(random_pairs.y) == [0, 0.25, 0.75, 0] and list(random_pairs.x) == [-0.75, -0.25, 0.25, 0.75]
    assert list(figure.layout.yaxis.range) == list(figure.layout.yaxis2.range) == [0, pytest.approx(0.9375)]
    assert figure.layout.xaxis.range == figure.layout.xaxis2.range
    assert sum("Ranks" in text and "layer 1" in text for text in texts(figure)) == 1


def test_the_spectrum_is_drawn_on_logarithmic_axes_beside_an_isotropic_one():
    figure = spectrum_chart([measured(), measured("whitening", spectrum=np.full((2, 4), 0.25))], 0)
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"
    before = trace(figure, "As they are")
    assert list(before.x) == [1, 2, 3, 4] and list(before.y) == [0.7, 0.2, 0.1, None], "0 has no logarithm"
    assert list(trace(figure, "Whitening").y) == [0.25] * 4
    even = np.random.default_rng(0).standard_normal((400, 4))
    sample = np.sort(np.linalg.eigvalsh(np.cov(even.T)))[::-1]
    np.testing.assert_allclose(trace(figure, "isotropic").y, sample / sample.sum(), atol=0.03)
    last = spectrum_chart([measured()], 9)
    assert list(trace(last, "As they are").y) == [0.4, 0.3, 0.2, 0.1], "a layer above the last is the last"


def test_senses_stand_in_a_line_for_each_cure():
    figure = cured_senses_chart([cured(), cured("rank", 0.7)], "nearest", 1)
    assert list(trace(figure, "As they are").y) == [0.2, 0.5] and list(trace(figure, "Ranks").y) == [0.2, 0.7]
    assert any("bag of words 30 %" in text for text in texts(figure))
    assert [shape.x0 for shape in figure.layout.shapes if shape.x0 == shape.x1] == [1]


def test_every_cure_is_explained_with_its_source():
    listed = cure_list(KEYS)
    for cure in CURES.values():
        if cure.key != "none":
            assert cure.says in listed and cure.source.rpartition(", ")[2] in listed
    assert "−" not in cured_metric_words([measured(shift=-0.2501)], "isoscore", 1), "no minus 0"
    assert listed.count("<li>") == len(CURES) - 1
    assert "No cure is chosen" in cure_list(["none"])


def test_words_say_the_numbers_of_the_layer():
    said = cured_metric_words([measured(model=EVIL), measured("rank", 0.1, model=EVIL)], "mean_cosine", 1)
    assert "layer 1" in said and ">0.250</b>" in said and ">0.350</b>" in said and "isotropic 0.125" in said
    assert EVIL not in said
    assert "are nearer than any two tokens, in mean cosine, by: as they are 0.250, ranks 0.350." in cosines_words(
        [measured(), measured("rank", 0.1)], 1
    )
    farther = cosines_words([measured(), measured("rank", -0.4)], 1)
    assert "nearer (below 0: farther) than any two tokens" in farther and "ranks −0.150." in farther
    empty = measured(metrics=dict.fromkeys(METRICS, (None, None)))
    assert "by:" not in cosines_words([empty], 1) and "–" in cured_metric_words([empty], "self_similarity", 0)
    assert "lies on that of" in spectrum_words([measured(), measured("mean_removal")], 1)
    assert "as they are 40 %; all alike it would be 25 %" in spectrum_words([measured()], 1)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"gained": 9, "lost": 1, "p": 0.02}, "<b>helps</b>: ranks (60 %)"),
        ({"gained": 1, "lost": 9, "p": 0.02}, "<b>hurts</b>: ranks (60 %)"),
        ({"gained": 5, "lost": 4, "p": 1.0}, "<b>makes no clear difference</b>: ranks (60 %)"),
    ],
)
def test_the_verdict_follows_the_numbers(changed, said):
    found = [cured(), cured("rank", 0.6, **changed), cured("all_but_the_top", 0.5)]
    words = cured_senses_words(found, 1, EVIL)
    assert said in words and EVIL not in words
    assert "By the nearest other use, 50 % right as they are" in words and "all but the top 3 (50 %)" in words
    assert words.count("<li>") == 2 and "Choose a cure" not in words
    table = cured_senses_table(found, 1)
    assert f"+{changed['gained']} / −{changed['lost']}" in table and "All but the top 3" in table
    assert "Choose a cure" in cured_senses_words([cured()], 1, "play")


def test_probabilities_are_never_rounded_to_nothing():
    assert "&lt; 0.01" in cured_senses_table([cured(), cured("rank", gained=30, lost=2, p=1e-7)], 1)


def test_what_is_said_to_be_so_by_construction_is_so():
    """Each claim, on vectors that are far from isotropic."""
    points = points_with(count=600)
    space = space_of(points)
    after = {key: space_of(apply_cure(fit_cure(key, space), points)) for key in CURES}
    values = {cure: {key: METRICS[key].measure(one) for key in SPECTRAL} for cure, one in after.items()}
    for key in values["none"]:  # measured about the mean
        assert values["mean_removal"][key] == pytest.approx(values["none"][key], rel=1e-6)
    for cure in ("mean_removal", "z_score", "all_but_the_top", "whitening"):
        cured_points = apply_cure(fit_cure(cure, space), points)
        alike = cured_points / np.linalg.norm(cured_points, axis=1, keepdims=True)
        lengths = np.linalg.norm(cured_points, axis=1)
        total = (alike * lengths[:, None]).sum(axis=0)
        np.testing.assert_allclose(total, 0, atol=1e-6 * lengths.sum(), err_msg="weighed by lengths they cancel out")
    white = after["whitening"].spectrum
    np.testing.assert_allclose(white[white > 1e-6], 1, atol=1e-6)
    assert (white > 1e-6).sum() == (space.spectrum > 1e-6).sum()
    assert values["whitening"]["isoscore"] == pytest.approx((11 - 1) / (12 - 1)), "11 of 12 numbers ever change"
    np.testing.assert_allclose(after["all_but_the_top"].spectrum[:9], space.spectrum[3:], atol=1e-8)
    assert after["rank"].norm_spread < 1e-6 * after["rank"].mean_norm


def test_notes_on_construction_stand_where_they_belong():
    assert "cancel out" in construction_notes("mean_cosine", ["none", "mean_removal"], 9_000)
    assert construction_notes("mean_cosine", ["none", "rank"], 9_000) == ""
    assert "proves nothing by itself" in construction_notes("isoscore", ["none", "whitening"], 9_000)
    assert construction_notes("isoscore", ["none", "rank", "z_score"], 9_000) == ""
    assert "adjusted" in construction_notes("self_similarity", ["z_score"], 9_000)
    assert construction_notes("self_similarity_adjusted", list(CURES), 9_000) == ""
    assert all(key in METRICS for keys, _, _ in BY_CONSTRUCTION for key in keys)
    assert all(cure in CURES for _, after, _ in BY_CONSTRUCTION for cure in after)


def test_few_vectors_that_cancel_out_are_not_at_cosine_0():
    points = points_with(8).astype(np.float64)
    points -= points.mean(axis=0)
    white = apply_cure(fit_cure("whitening", space_of(points)), points)
    assert space_of(white).mean_cosine == pytest.approx(-1 / 7), "all of one length"
    said = construction_notes("mean_cosine", ["whitening"], 8)
    assert "their mean cosine is −1/7, or −0.143, as there are only 8 of them, whatever" in said
    assert "mean cosine is 0, whatever" in construction_notes("mean_cosine", ["whitening"], 9_000)
    few = [measured(dim=4, protocol=replace(PROTOCOL, points=3))]
    assert "all alike it would be 50 %" in spectrum_words(few, 1), "three vectors have two directions"
