"""Rogue dimensions as drawn: numbers as measured, what is said true of them, nothing by colour alone."""

import re
from dataclasses import replace

import numpy as np
import pytest

from explorer.analysis.anisotropy_results import (
    AblatedPrediction,
    Anisotropy,
    DimensionAblation,
    Protocol,
    RogueDimensions,
)
from explorer.analysis.one_layer import find_layer, take_layer, take_rogue_layer
from explorer.figures.covariance_map import covariance_map, covariance_words
from explorer.figures.layer_lines import layer_chart
from explorer.figures.rogue import ablation_chart, contribution_bars, layer_lines, share_words, without_chart
from explorer.figures.rogue_tables import (
    ablation_table,
    ablation_words,
    layers_table,
    layers_words,
    rogue_words,
    top_table,
)

EVIL = "</script><b>"
PROTOCOL = Protocol("own", 3, 40, 20, "tokens", False, 2, 0, 0, 2, 9, 0)
# two layers of six dimensions: in the first number 4 dominates, in the second none does
CONTRIBUTIONS = np.array([[0.02, -0.01, 0.05, 0.01, 0.4, 0.03], [0.06, 0.07, 0.05, 0.05, 0.06, 0.05]])
TOP = np.argsort(-CONTRIBUTIONS, axis=1, kind="stable")[:, :3]
ABLATION = DimensionAblation(
    1, 50, "zero", tuple(AblatedPrediction(tuple(range(n)), 0.2 * n, 1 - n / 10, 0.15 * n, 0.3 * n) for n in (1, 2, 3)),
    (0.1, 0.2, 0.3), (0.9, 0.85, 0.5), 5, (0.05, 0.1, 0.2), (0.12, 0.25, 0.4),
)  # fmt: skip


def rogues(contributions=CONTRIBUTIONS, top=TOP, **changes):
    cosines = contributions.sum(axis=1)
    own = np.take_along_axis(contributions, top, axis=1)
    shares = own / np.where(cosines > 1e-9, cosines, np.nan)[:, None]
    given = {
        "model": f"M & {EVIL}", "protocol": PROTOCOL, "layers": (0, 1), "layer_count": 2, "mean_cosine": cosines,
        "contributions": contributions, "centre": -contributions,
        "top": top, "shares": shares, "means": -2.0 - np.arange(6.0).reshape(2, 3),
        "deviations": 0.5 + np.arange(6.0).reshape(2, 3), "r_squared": np.array([[0.2, 0.1, 0.05], [0.9, 0.8, 0.7]]),
        "spearman": np.array([[0.3, 0.2, -0.1], [0.95, np.nan, np.nan]]), "pairs": 36, "ablation": ABLATION,
        "remarks": (),
    }  # fmt: skip
    return RogueDimensions(**(given | changes))


def space(covariance, dims=(4, 2)):
    return Anisotropy(
        "M", "none", PROTOCOL, (0, 1), 2, 6, {"mean_cosine": (0.5, 0.3)}, {"mean_cosine": 0.0}, np.ones((2, 6)) / 6,
        np.linspace(-1, 1, 5), np.ones((2, 4)) / 4, np.ones((2, 4)) / 4, np.array([dims, dims]),
        np.stack([np.eye(len(dims)), np.array(covariance)]), (),
    )  # fmt: skip


def trace(figure, name):
    return next(one for one in figure.data if one.name == name)


def rows(table):
    return re.findall(r"<tr(?: class=at)?><th scope='row'>(.*?)</th>(.*?)</tr>", table)


def test_bars_are_the_contributions_and_add_up_to_the_mean_cosine():
    [bars] = contribution_bars(rogues(), 0, 2).data
    assert list(bars.x) == pytest.approx([0.4, 0.05, 0.05]) and sum(bars.x) == pytest.approx(0.5)
    assert list(bars.text) == ["80 %", "10 %", "10 %"]
    assert bars.marker.pattern.shape == ("", "", "/"), "all others are told apart without colour"
    figure = contribution_bars(rogues(), 9, 3)
    assert list(figure.layout.yaxis.ticktext) == ["1", "0", "4", "3 others"], "a layer above the last is the last"
    assert "dimension 4<br>adds 0.400000 to the mean cosine, 80 % of it<br>mean −2.00" in bars.customdata[0]
    assert "4 others together" in bars.customdata[2]


def test_without_a_mean_cosine_there_are_no_shares():
    flat = rogues(np.array([[0.1, -0.1, 0.02, -0.02, 0.01, -0.05], [0.0] * 6]), np.array([[0, 2, 4], [0, 1, 2]]))
    [bars] = contribution_bars(flat, 0, 2).data
    assert list(bars.text) == ["0.1000", "0.0200", "−0.1600"]
    assert "no dimension has a share" in rogue_words(flat, 0, 2) and "–</td>" in top_table(flat, 0, 2)
    assert "–" in layers_table(flat, 0, 1)
    assert contribution_bars(flat, 1, 2).layout.xaxis.range[1] > 0


def test_shares_below_nothing_and_above_all_are_said():
    assert [share_words(one) for one in (0.5, -0.031, 1.2, float("nan"))] == ["50 %", "−3.1 %", "120 %", "–"]


def test_similarities_without_them_start_at_one():
    figure = without_chart(rogues(), 0, 2)
    assert list(trace(figure, "r²").y) == [1.0, 0.2, 0.1] and list(trace(figure, "r²").x) == [0, 1, 2]
    assert list(trace(figure, "rank correlation").y) == [1.0, 0.3, 0.2]
    assert len({(one.marker.symbol, one.line.dash) for one in figure.data}) == 2
    assert trace(figure, "r²").customdata[2] == "without dimensions 4, 2"
    sides = {note.text: note.yanchor for note in figure.layout.annotations}
    assert sides == {"r²": "top", "rank correlation": "bottom"}, "each name on its own line's side"
    assert without_chart(rogues(), 0, 3).layout.yaxis.range[0] < -0.1, "a negative correlation is in sight"
    [at] = [note.x for note in without_chart(rogues(), 1, 3).layout.annotations if note.text == "rank correlation"]
    assert at == 1, "named where it ends"


def test_predictions_stand_beside_those_without_random_dimensions():
    figure = ablation_chart(ABLATION, 2)
    assert list(trace(figure, "top").y) == [0.2, 0.4] and list(trace(figure, "random").y) == [0.1, 0.2]
    assert "dimensions 0, 1 set to 0<br>same first choice 80 %" in trace(figure, "top").customdata[1]
    assert "2 random, mean of 5 draws<br>same first choice 85 %" in trace(figure, "random").customdata[1]
    found = rows(ablation_table(ABLATION, 2))
    assert [name for name, _ in found] == ["1", "2"]
    assert re.findall(r">([^<>]+)</td>", found[1][1]) == ["0.4000", "0.2000", "80 %", "85 %"]
    interval, draws = trace(figure, "interval"), trace(figure, "draws")
    assert np.allclose(np.subtract(interval.y, interval.error_y.array), [0.15, 0.3])
    assert np.allclose(np.add(draws.y, draws.error_y.array), [0.12, 0.25])
    said = ablation_words(ABLATION, 3)
    assert "Without the top 3, predictions move by 0.6000 bits (95 % interval 0.4500 to 0.9000, the 50 pre" in said
    assert "by 0.3000 bits (5 draws, from 0.2000 to 0.4000), and 50 % keep it" in said
    assert "about 2.0 times as far as the mean of the draws, and farther than any" in said
    assert "times" not in ablation_words(replace(ABLATION, random=(0.0,) * 3), 1)
    assert "overlap: the top one is not told" in ablation_words(replace(ABLATION, random_most=(0.2,) * 3), 1)
    more = replace(ABLATION, random_least=(0.4,) * 3, random_most=(0.5,) * 3)
    assert "less than any of the draws" in ablation_words(more, 1)
    still = replace(ABLATION, rogue=(AblatedPrediction((0,), 0.0, 1.0, 0.0, 0.0),), random=(0.0,), random_kept=(1.0,),
                    random_least=(0.0,), random_most=(0.0,))  # fmt: skip
    assert ablation_chart(still, 1).layout.yaxis.range[1] > 0


def test_words_say_who_dominates():
    one = rogue_words(rogues(), 0, 3)
    assert "M &amp; &lt;/script&gt;&lt;b&gt;, layer 0" in one and EVIL not in one and ">0.50</b>" in one
    assert "One dimension makes most of it: number 4 of 6 has <b title='0.8'>80 %</b>" in one.replace(
        repr(float(rogues().shares[0, 0])), "0.8"
    )
    assert "each would have 17 %" in one and "small here" not in one
    few = rogue_words(rogues(), 1, 3)
    assert "but 3 of 6 do together: 1, 0 and 4 have" in few and ">56 %</b>" in few and ">21 %</b>" in few
    assert "It is not made by so few: the top 2 of 6 have" in rogue_words(rogues(), 1, 2)
    assert "It is not made by one alone: the top one of 6 has" in rogue_words(rogues(), 1, 1)
    assert "small here" in rogue_words(rogues(CONTRIBUTIONS / 10), 0, 1)


def test_the_top_dimensions_stand_by_name():
    found = rows(top_table(rogues(), 0, 2))
    assert [name for name, _ in found] == ["4", "2"]
    assert re.findall(r">([^<>]+)</td>", found[0][1]) == ["0.4000", "80 %", "−2.000", "0.500", "0.200", "0.300"]
    assert re.findall(r">([^<>]+)</td>", found[1][1])[2:] == ["−3.000", "1.500", "0.100", "0.200"]


def test_the_same_dimension_is_followed_from_layer_to_layer():
    table = layers_table(rogues(), 0, 2)
    found = dict(rows(table))
    assert list(found) == ["4", "1", "0", "2"], "those that add most first"
    assert "80 % <small>#1</small>" in found["4"] and ">·</td>" in found["4"], "not among the top two of layer 1"
    assert "10 % <small>#2</small>" in found["2"] and found["2"].index("10 %") < found["2"].index("·")
    assert table.count("<tr class=at>") == 2, "the top two of the layer looked at"
    numbers = np.ones((2, 10))
    arrays = dict.fromkeys(("means", "deviations", "r_squared", "spearman"), numbers)
    many = rogues(np.tile(np.linspace(1, 0.1, 30), (2, 1)), np.array([range(10), range(10, 20)]), **arrays)
    assert len(rows(layers_table(many, 0, 10))) == 10 and "10 more are among" in layers_table(many, 0, 10)


def test_the_top_of_the_layer_looked_at_is_always_in_the_table():
    numbers = np.ones((4, 5))
    arrays = dict.fromkeys(("means", "deviations", "r_squared", "spearman"), numbers)
    top = np.array([range(5), range(5), range(5, 10), [10, 11, 12, 13, 0]])
    many = rogues(np.tile(np.linspace(1, 0.1, 30), (4, 1)), top, layers=(0, 1, 2, 3), layer_count=4, **arrays)
    table = layers_table(many, 3, 5)
    assert [int(dim) for dim, _ in rows(table)] == [0, 1, 2, 3, 4, 5, 10, 11, 12, 13], "the most lasting first"
    assert "4 more are among the top 5 of another layer." in table and table.count("<tr class=at>") == 5
    assert [int(dim) for dim, _ in rows(layers_table(many, 2, 5))] == list(range(10))


def test_how_long_one_stays_on_top_is_said():
    assert "Another dimension is first in each of the 2 layers. None is in the top 2" in layers_words(rogues(), 2)
    assert "Among the top 3 of every layer: 4." in layers_words(rogues(), 3)
    same = rogues(top=np.array([[4, 2, 5], [4, 1, 0]]))
    assert "Dimension 4 is first in 2 of 2 layers (0 and 1). Among the top 2 of every layer: 4." in layers_words(
        same, 2
    )


def test_lines_over_layers_are_the_cosine_and_what_the_top_adds():
    figure = layer_chart(layer_lines(rogues(), 2), "cosine", 0)
    assert list(trace(figure, "mean cosine").y) == pytest.approx([0.5, 0.34])
    assert list(trace(figure, "of it the top dimension").y) == pytest.approx([0.4, 0.07])
    assert list(trace(figure, "of it the top 2").y) == pytest.approx([0.45, 0.13])
    assert len(layer_lines(rogues(), 1)) == 2


def test_covariances_stand_in_the_cells_and_the_scale_is_centred_at_nothing():
    figure = covariance_map(space([[0.04, -0.01], [-0.01, 0.01]]), 1, marked=[2])
    [cells] = figure.data
    assert [list(row) for row in cells.text] == [["40", "−10"], ["−10", "10"]]
    assert cells.zmin == -cells.zmax and cells.zmid == 0 and np.sign(cells.z).tolist() == [[1, -1], [-1, 1]]
    np.testing.assert_allclose(np.square(cells.z), [[0.04, 0.01], [0.01, 0.01]])
    assert list(figure.layout.xaxis.ticktext) == ["4", "★ 2"]
    assert cells.customdata[0][1] == "dimensions 4 and 2<br>covariance −0.01<br>correlation −0.500"
    assert cells.customdata[1][1] == "dimension 2<br>variance 0.01"
    assert "covariance, × 1,000" in covariance_words(space([[0.04, -0.01], [-0.01, 0.01]]), 1)
    assert "covariance, × 10" in covariance_words(space([[0.04, 0], [0, 0]]), 0)
    assert list(cells.colorbar.ticktext) == ["−40", "−10", "0", "10", "40"]


def test_dimensions_that_never_vary_have_no_correlation():
    [cells] = covariance_map(space([[0.0, 0.0], [0.0, 0.0]]), 1).data
    assert cells.text[0][0] == "0" and cells.customdata[0][1].endswith("correlation none")


def test_one_layer_is_taken_from_all():
    one = take_rogue_layer(rogues(), 1)
    assert one.layers == (1,) and one.contributions.tolist() == CONTRIBUTIONS[1:].tolist() and one.ablation is ABLATION
    assert one.r_squared.shape == (1, 3) and not one.top.flags.writeable
    taken = take_layer(space([[2.0, 0.0], [0.0, 1.0]]), 7)
    assert taken.layers == (1,) and taken.metrics == {"mean_cosine": (0.3,)} and taken.covariance[0, 0, 0] == 2
    assert find_layer((0, 3, 6), 4) == 1
