"""What views of the tab "Fill in the blank" say beside their own fields, where these are at fault."""

import gradio as gr
import pytest

from explorer.tabs.fill_blanks import candidates, compare, contrast, spans
from explorer.tabs.fill_blanks.view import Sentence

MODEL = "MiniLM (masked)"
TEXT = "The king took off ___ hat."


def drawn(build, registry, first, *inputs, model=MODEL):
    """What a view shows in the end: the message, what will not do in its own fields, the chart, what stands below."""
    with gr.Blocks():
        fields = (gr.Dropdown(), gr.Textbox(), gr.Slider(), gr.Slider(), gr.Radio(), gr.HTML())
        with gr.Tabs():
            view = build(registry, Sentence(*fields), first)
    *_, last = view.draw(model, *inputs)
    return last


@pytest.mark.parametrize(
    ("other", "blank", "says"),
    [
        ("The queen has no hat.", 1, "Second sentence: The text has no blank"),
    ],
)
def test_what_is_wrong_with_the_second_sentence_is_said_below_it(shipped_registry, other, blank, says):
    message, refused, *kept = drawn(contrast.build, shipped_registry, "", TEXT, other, blank)
    assert message == "" and "message error" in refused and says in refused and kept == [gr.skip()] * 2


def test_what_is_wrong_with_the_first_is_said_at_its_place(shipped_registry):
    message, *_ = drawn(contrast.build, shipped_registry, "", "No blank.", TEXT, 1)
    assert "First sentence: The text has no blank" in message


@pytest.mark.parametrize("blank", [0, 3, 99, None])
def test_a_blank_that_is_not_there_is_said_below_its_number(shipped_registry, blank):
    text = "The ___ took off ___ hat."
    for build, first, inputs in ((compare.build, [], (3, [])), (contrast.build, "", ("A ___ took off ___ hat.",))):
        message, refused, *kept = drawn(build, shipped_registry, first, text, *inputs, blank)
        assert message == "" and kept == [gr.skip()] * 2
        assert "The text has 2 blanks, counted from 1: choose one of them." in refused


@pytest.mark.parametrize("blank", [0, 1, 2, None])
def test_of_one_blank_none_need_be_chosen(shipped_registry, blank):
    for build, first, inputs in ((compare.build, [], (3, [])), (contrast.build, "", ("The queen took off ___ hat.",))):
        message, refused, chart, _ = drawn(build, shipped_registry, first, TEXT, *inputs, blank)
        assert (message, refused) == ("", "") and chart.visible


def test_lines_of_candidates_that_are_not_there_are_empty(shipped_registry):
    text = "The cook put the ___ into the ___."
    charts = [
        drawn(candidates.build, shipped_registry, "", text, 5, lines)[2].value
        for lines in ("cake", "cake\n", "cake\n\n", "cake\n,")
    ]
    assert "★ cake" in str(charts[0]) and all(chart == charts[0] for chart in charts)


def test_an_answer_stays_where_a_field_is_emptied(shipped_registry):
    for build, inputs in ((candidates.build, (5, "")), (contrast.build, (" ", 1))):
        _, refused, *kept = drawn(build, shipped_registry, "", TEXT, *inputs)
        assert "message error idle" in refused and kept == [gr.skip()] * 2
    _, refused, chart, _ = drawn(contrast.build, shipped_registry, "", TEXT, TEXT, 1)
    assert refused == "" and not chart.visible


@pytest.mark.parametrize(
    ("build", "first", "model", "text", "inputs"),
    [
        (candidates.build, "", MODEL, "They un___ the box.", (5, "open")),
        (compare.build, [], "BERT mini", "My grandmother ___ every ___.", (10, [], 2)),
    ],
)
def test_the_mark_of_pieces_is_explained_in_each_view(shipped_registry, build, first, model, text, inputs):
    *_, below = drawn(build, shipped_registry, first, text, *inputs, model=model)
    assert "## marks a piece" in below


def test_the_mark_of_pieces_is_explained_where_blanks_are_of_any_length(shipped_registry):
    with gr.Blocks():
        fields = (gr.Dropdown(), gr.Textbox(), gr.Slider(), gr.Slider(), gr.Radio(), gr.HTML())
        with gr.Tabs():
            view = spans.build(shipped_registry, Sentence(*fields))
    *_, (_, columns, below) = view.draw(["BERT mini"], "My grandmother ___ every ___.", 10, 5, "beams", 0)
    assert "##day" in columns and "## marks a piece" in below
    assert "sampled, seed" not in below
    asked = (["T5 mini", "BERT mini"], "My grandmother ___ every ___.", 3, 5, "sampling", 7)
    *_, (_, _, below) = view.draw(*asked)
    assert "T5 mini: sampled, seed 7" in below
    assert spans.put_into("walks every ___.", 0, "##day") == "walks everyday."


def test_candidates_of_the_same_tokens_stand_there_once_and_that_is_said(shipped_registry):
    *_, below = drawn(candidates.build, shipped_registry, "", TEXT, 5, "his, HIS, her, his")
    assert "“HIS”: to MiniLM (masked) the same tokens as another of yours" in below
    *_, below = drawn(candidates.build, shipped_registry, "", TEXT, 5, "his, her, his")
    assert "the same tokens" not in below


def test_a_candidate_that_cannot_be_ranked_withholds_none_of_the_others(shipped_registry):
    _, refused, chart, below = drawn(candidates.build, shipped_registry, "", TEXT, 5, "his, 我喜欢, her, [SEP]")
    assert refused == "" and chart.visible and "★ his" in str(chart.value)
    assert below.count("message error") == 2 and "cannot spell the candidate “我喜欢" in below
    assert "The candidate “[SEP]” contains a special token" in below
    _, refused, *kept = drawn(candidates.build, shipped_registry, "", TEXT, 5, "🌵, 🎻, 🦉, 🧭, 🪁")
    assert kept == [gr.skip()] * 2 and refused.count("message error") == 4 and "2 more cannot be ranked." in refused
    _, refused, *kept = drawn(candidates.build, shipped_registry, "", TEXT, 5, "his\nher")
    assert kept == [gr.skip()] * 2 and "The text has 1 blank, and there are candidates for 2" in refused
