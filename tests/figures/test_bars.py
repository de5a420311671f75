import math
from dataclasses import replace

import pytest

from explorer.analysis.results import Blank, ContrastWord
from explorer.figures.bars import blank_bars, candidate_bars, contrast_bars, model_bars, step_bars
from tests.figures.results import BLANK, CAT, contrast, fills, ranking, reveal


def test_each_blank_has_its_bars_most_probable_on_top():
    figure = blank_bars(fills())
    first, second = figure.data
    assert tuple(first.x) == (0.7, 0.2, 0.1)
    assert tuple(first.y) == (0, 1, 2)
    assert figure.layout.yaxis.ticktext == ("cat", "##ing", "&lt;b&gt;")
    assert tuple(first.text) == ("70 %", "20 %", "10 %")
    assert tuple(second.y) == (0, 1) and figure.layout.yaxis2.ticktext == ("##ing", "cat")
    assert figure.layout.xaxis.title.text == "Probability"
    assert figure.layout.xaxis.labelalias["20%"] == "20 %", "as beside the bars"
    assert figure.layout.yaxis.autorange == "reversed"
    assert figure.layout.xaxis.range == figure.layout.xaxis2.range  # bars of two charts can be compared


def test_the_hover_repeats_the_sentence_with_the_word_in_its_own_blank():
    first, second = blank_bars(fills()).data
    assert first.customdata[0] == "The [cat] sat on a ___."
    assert second.customdata[1] == "The ___ sat on a [cat]."
    assert first.customdata[2] == "The [&lt;b&gt;] sat on a ___."


def test_a_step_draws_only_the_blanks_still_open():
    step = reveal().steps[1]
    figure = step_bars(step.blanks, step.text)
    assert len(figure.data) == 1
    assert figure.layout.annotations[0].text.startswith("Blank 1")
    assert figure.data[0].customdata[0] == "The [cat] sat on a cat."


def test_models_stand_side_by_side_under_their_names():
    figure = model_bars((fills(), fills()), 1)
    assert [note.text.split("<br>")[0] for note in figure.layout.annotations] == ["M &amp; M", "M &amp; M"]
    assert figure.data[0].customdata[0] == "The ___ sat on a [##ing]."


def test_own_candidates_are_marked_not_only_by_colour():
    figure = candidate_bars(ranking())
    (trace,) = figure.data
    assert figure.layout.yaxis.ticktext == ("cat", "★ the &lt;i&gt;moon&lt;/i&gt;")
    assert trace.x == pytest.approx([2.5 - 0.5 / math.log(10), 2.5 - 4 / math.log(10)])
    assert [text.strip() for text in trace.text] == ["61 %", "1.8 %"]
    assert trace.mode == "markers+text", "no bars: a logarithmic scale has no 0"
    assert trace.marker.symbol == ("circle", "star") and figure.layout.yaxis.range == (2.5, -0.5)
    assert list(trace.customdata[1][1:]) == [-4.0, -2.0, 2]
    assert figure.layout.xaxis.ticktext == ("100 %", "10 %", "1 %")
    assert trace.marker.color[0] != trace.marker.color[1]


@pytest.mark.parametrize("log_probability", [0.0, -1e-9, -700.0, -2000.0])
def test_candidates_of_any_likelihood_have_a_point_and_few_marks_below(log_probability):
    one = replace(ranking().blanks[1][0], log_probability=log_probability)
    figure = candidate_bars(replace(ranking(), blanks=((one,),)))
    assert figure.data[0].x[0] > 0 and 1 <= len(figure.layout.xaxis.tickvals) <= 6
    assert figure.layout.xaxis.range[1] > figure.data[0].x[0]


def test_a_contrast_puts_the_first_text_left_and_the_other_right():
    figure = contrast_bars(contrast())
    left, right, left_labels, right_labels = figure.data
    assert tuple(left.x) == (-0.6, -0.05)
    assert tuple(right.x) == (0.1, 0.7)
    assert figure.layout.yaxis.ticktext == ("his", "her")
    assert list(left.customdata[0]) == [0.6, 2.6, "his"]
    assert figure.layout.xaxis.range[0] == -figure.layout.xaxis.range[1]
    assert (left_labels.textposition, right_labels.textposition) == ("middle left", "middle right")
    assert tuple(left_labels.x) == tuple(left.x) and right_labels.text[1].strip() == "70 %"
    assert figure.layout.yaxis.range == (1.5, -0.5)


@pytest.mark.parametrize(
    ("first", "other", "top", "half"),
    [
        (0.19, 0.24, "30 %", "15 %"),
        (0.001, 0.0004, "0.1 %", "0.05 %"),
        (0.6, 1.0, "100 %", "50 %"),
        (0.0, 0.011, "2 %", "1 %"),
    ],
)
def test_the_axis_of_a_contrast_is_symmetric_with_round_ticks_beyond_every_bar(first, other, top, half):
    axis = contrast_bars(replace(contrast(), words=(ContrastWord("his", first, other, 0.0),))).layout.xaxis
    assert axis.ticktext == (top, half, "0", half, top)
    assert -axis.tickvals[0] == axis.tickvals[-1] >= max(first, other) * (1 - 1e-9)
    assert axis.range[1] > axis.tickvals[-1]


def test_a_quotation_mark_is_shown_as_one():
    figure = step_bars([Blank(1, (replace(CAT, text='"'),), 0.0)], "___")
    assert figure.layout.yaxis.ticktext == ('“"”',)


def test_two_tokens_that_read_the_same_stay_two_bars():
    twice = Blank(1, (CAT, replace(CAT, token="Ġcat", probability=0.1)), 1.0)
    figure = step_bars([twice], "___")
    assert tuple(figure.data[0].y) == (0, 1) and figure.layout.yaxis.ticktext == ("cat", "cat")


def test_two_equal_texts_are_said_to_make_no_difference():
    figure = contrast_bars(replace(contrast(), words=()))
    assert not figure.data and "no difference" in figure.layout.title.text


@pytest.mark.parametrize("count", [1, 2, 3, 10])
def test_any_number_of_blanks_can_be_drawn(count):
    assert len(step_bars([BLANK] * count, "___ " * count).data) == count


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("BERT base", "BERT base"),
        ("MiniLM (masked, early)", "MiniLM (masked, early)"),
        ("A longer MiniLM (masked, early)", "A longer MiniLM<br>(masked, early)"),
        (
            "MiniLM (masked) · full · What guests <b> write #6b6c5d823c33-0",
            "MiniLM (masked)<br>full · What guests &lt;b&gt; …",
        ),
        ("MiniLM (masked) · lora · My #b6c5d823c33a-1", "MiniLM (masked)<br>lora · My"),
        ("organisation/a-model-of-its-own", "organisation/<br>a-model-of-its-own"),
        ("A<b> model of so very many words", "A&lt;b&gt; model of so very many<br>words"),
        ("averylongnamewithoutspaces", "averylongnamewithoutspaces"),
    ],
)
def test_long_names_of_models_break_so_that_a_phone_shows_two_side_by_side(name, title):
    figure = model_bars([replace(fills(), model=name)] * 2, 0)
    assert figure.layout.annotations[0].text.startswith(title + "<br><sup>entropy")


@pytest.mark.parametrize(("bits", "words"), [(9.1, "549"), (1.0, "2.0"), (0.0, "1.0"), (13.5, "11,585")])
def test_an_entropy_is_said_as_a_number_of_words(bits, words):
    result = fills()
    unsure = replace(result, blanks=tuple(replace(blank, entropy_bits=bits) for blank in result.blanks))
    text = model_bars([unsure], 0).layout.annotations[0].text
    assert text.endswith(f"<sup>entropy {bits:.1f} bits: as unsure as among {words} words</sup>")


def test_only_the_lowest_charts_name_the_axis():
    three = replace(fills(), blanks=(BLANK, BLANK, BLANK))
    layout = blank_bars(three).layout
    assert [axis.title.text for axis in (layout.xaxis, layout.xaxis2, layout.xaxis3)] == [
        None,
        "Probability",
        "Probability",
    ]


def test_a_phone_has_the_charts_one_below_the_other():
    wide, alone = blank_bars(fills()).layout, step_bars([BLANK], "___").layout
    narrow = wide.meta["narrow"]
    assert wide.xaxis.domain[1] < wide.xaxis2.domain[0] and wide.yaxis.domain == wide.yaxis2.domain
    assert [tuple(narrow[axis]["domain"]) for axis in ("xaxis", "xaxis2")] == [(0.0, 1.0)] * 2
    assert narrow["yaxis"]["domain"][0] > narrow["yaxis2"]["domain"][1]
    assert narrow["height"] == 2 * wide.height and "template" not in narrow
    assert narrow["xaxis2"]["title"]["text"] == "Probability" and "title" not in narrow["xaxis"]
    assert alone.meta is None
