"""Anisotropy as drawn: numbers as measured, isotropic values beside them, the layer looked at, texts escaped."""

import re
from dataclasses import replace

import numpy as np
import pytest

from explorer.analysis.anisotropy_metrics import METRICS
from explorer.figures.anisotropy_charts import (
    adjusted_of,
    cosine_histogram,
    isotropic_levels,
    line_names,
    metric_chart,
    number_words,
)
from explorer.figures.anisotropy_words import (
    histogram_words,
    metric_table,
    metric_words,
    pairs_note,
    protocol_caption,
    remark_notes,
)
from explorer.figures.layer_lines import LINE_PIXELS
from tests.figures.anisotropy_results import anisotropy, protocol

EVIL = "</script><b>"


def texts(figure):
    return [annotation.text for annotation in figure.layout.annotations]


def test_a_metric_stands_layer_by_layer_beside_its_isotropic_value():
    figure = metric_chart([anisotropy()], "mean_cosine", 9)
    (line,) = figure.data
    assert list(line.x) == [0, 1, 2] and list(line.y) == pytest.approx([0.2, 0.3, 0.4])
    assert texts(figure) == ["isotropic 0"]
    assert figure.layout.yaxis.range[0] < 0, "the isotropic value is in sight"
    assert [shape.x0 for shape in figure.layout.shapes if shape.x0 == shape.x1] == [2], "the last, where there is no 9"
    assert not texts(metric_chart([anisotropy()], "mean_norm", 1)), "directions do not decide lengths"


def test_models_that_differ_in_their_isotropic_value_have_one_each():
    wide = anisotropy("wide")
    narrow = anisotropy("narrow", isotropic=wide.isotropic | {"effective_rank": 3.25})
    assert [(one.value, one.mark) for one in isotropic_levels([wide, narrow], "effective_rank")] == [
        (5.5, 0),
        (3.25, 1),
    ]
    assert [(one.value, one.mark) for one in isotropic_levels([wide, narrow], "mean_cosine")] == [(0, None)]


def test_one_model_by_two_protocols_is_named_by_them():
    found = [
        anisotropy(),
        anisotropy(protocol=protocol(specials=True)),
        anisotropy(protocol=protocol(unit="words")),
        anisotropy(EVIL),
    ]
    assert line_names(found) == ["M & M, tokens", "M & M, tokens and special ones", "M & M, words", EVIL]
    drawn = metric_chart(found, "mean_cosine", 0)
    assert [one.name for one in drawn.data] == line_names(found) and EVIL not in texts(drawn)[0]
    said = protocol_caption(found, METRICS["mean_cosine"].source)
    assert "M &amp; M, &lt;/script&gt;&lt;b&gt;: a corpus: 300 tokens" in said, "one protocol of two models"
    assert "special tokens in" in said and "https://arxiv.org" in said


def test_histograms_share_an_axis_that_holds_0_and_all_cosines():
    figure = cosine_histogram([anisotropy(), anisotropy(EVIL, layers=2)], 2)
    assert [list(one.y) for one in figure.data] == [[0, 0, 1, 0], [0, 0, 0, 1]] * 2
    assert list(figure.data[0].x) == [-0.75, -0.25, 0.25, 0.75]
    assert {one.line.dash for one in figure.data if one.name.endswith("same word")} == {"5px,3px"}
    low, high = figure.layout.xaxis.range
    assert -0.1 < low <= 0 and high >= 1
    assert any("layer 1" in text and "&lt;/script&gt;" in text for text in texts(figure)), "its last layer"
    assert texts(figure)[-1] == "filled: random pairs<br>dashed: two uses of one word", "a phone has no room for a line"
    assert figure.layout.margin.t - cosine_histogram([anisotropy()], 2).layout.margin.t == LINE_PIXELS, "of its name"
    assert EVIL not in "".join(texts(figure)) and all(EVIL not in one.hovertemplate for one in figure.data)
    without = anisotropy(same_word=np.zeros((3, 4)))
    assert len(cosine_histogram([without], 0).data) == 1, "no word came again"


def test_a_dash_is_explained_only_where_there_is_one():
    without = anisotropy(same_word=np.zeros((3, 4)))
    dashed, plain = ([one for one in texts(cosine_histogram(found, 1)) if "filled" in one] for found in (
        [without, anisotropy()], [without]
    ))  # fmt: skip
    assert dashed == ["filled: random pairs<br>dashed: two uses of one word"] and plain == ["filled: random pairs"]


def test_words_say_the_numbers_of_the_layer():
    said = metric_words([anisotropy(), anisotropy(EVIL, layers=2)], "mean_cosine", 2)
    assert (
        "layer 2: <b title='0.4'>0.400</b>; " in said
        and said.endswith("isotropic: 0.</p>")
        and "layer 1: <b title='0.3" in said
    )
    assert EVIL not in said
    both = histogram_words([anisotropy(), anisotropy(EVIL)], 1)
    assert "M &amp; M, layer 1: any two tokens are at a mean cosine of 0.300, two uses of one at 0.500." in both
    assert EVIL not in both and both.count("mean cosine of") == 2
    words = anisotropy(protocol=protocol(unit="words"))
    assert "two words are at" in histogram_words([words], 1)
    once = anisotropy(metrics=anisotropy().metrics | {"self_similarity": (None,) * 3})
    assert "two uses of one at" not in histogram_words([once], 1)
    assert "dashed hill" in both
    assert "dashed hill" not in histogram_words([once], 1), "there is none in the chart"
    least = once.protocol.least_uses
    assert f"No token is used {least} times or more in these sentences, so there is no second hill" in histogram_words(
        [once], 1
    )


def test_the_table_holds_every_layer_of_every_model_and_the_isotropic_value():
    table = metric_table([anisotropy(), anisotropy(EVIL, layers=2)], "self_similarity", 1)
    assert EVIL not in table and table.count("scope='colgroup'") == 2
    rows = re.findall(r"<tr><th scope='row'>(.*?)</th>", table)
    assert rows == ["0, input", "1", "2"] and "<tr class='isotropic'>" in table
    assert table.count("number at") == 4 and table.count("<td class='number quiet'>–</td>") == 2
    assert table.count("adjusted</th>") == 2
    assert "adjusted" not in metric_table([anisotropy()], "mean_cosine", 0)


@pytest.mark.parametrize(
    ("value", "words"), [(None, "–"), (0.0, "0"), (-0.0312, "−0.031"), (0.5, "0.500"), (12.345, "12.3"), (347.2, "347")]
)
def test_numbers_have_as_many_digits_as_help(value, words):
    assert number_words(value) == words


def test_adjusted_metrics_are_those_of_the_table():
    assert {adjusted_of(key) for key in METRICS} - {""} == {key for key in METRICS if key.endswith("_adjusted")}


def test_of_layers_that_a_visitor_tuned_it_is_not_said_that_pairs_spread_them_out(shipped_registry):
    encoder, masked = (shipped_registry.card(name) for name in ("all-MiniLM-L6-v2", "MiniLM (masked)"))
    tuned = replace(encoder, name="Mine", is_tuned=True)
    assert pairs_note([tuned]) == ""
    assert pairs_note([encoder, tuned]) == pairs_note([encoder]) != ""
    assert "MiniLM (masked) learned from pairs of like sentences, before it was taught" in pairs_note([tuned, masked])


def test_what_is_so_of_some_models_is_said_of_these_by_name():
    unknown, cut = "2 of the 9 tokens are unknown to this model.", "Sentences were read in parts."
    both = remark_notes([anisotropy("M", remarks=(unknown, cut)), anisotropy("N", remarks=(cut,))])
    assert both == f"<p class='note'>M: {unknown}</p><p class='note'>{cut}</p>"
    alone = remark_notes([anisotropy("M", remarks=(unknown,)), anisotropy("M", remarks=(unknown.replace("9", "7"),))])
    assert alone == f"<p class='note'>{unknown}</p>", "words and tokens of one model"
    alike = remark_notes([anisotropy("M", remarks=(unknown,)), anisotropy("N", remarks=(unknown,))])
    assert alike == f"<p class='note'>M, N: {unknown}</p>"
