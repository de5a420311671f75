"""Models' fills of the same spans, side by side."""

import re

from explorer.analysis.span_results import Span, SpanChoice, SpanCompletion, SpanFills
from explorer.figures.spans import NOTHING, span_columns


def make(model: str = "Tiny", **changes) -> SpanFills:
    facts = {
        "model": model,
        "text": "a ___ & ___ c",
        "method": "beams",
        "score": "ln p(<span>)",
        "completion_score": "ln p(all)",
        "spans": (
            Span((SpanChoice("big <b>", -0.693147, 2), SpanChoice("", -2.5, 0))),
            Span((SpanChoice("x", -1.0, 1),)),
        ),
        "completions": (
            SpanCompletion("a big <b> & x c", ("big <b>", "x"), -1.7),
            SpanCompletion("a big <b> & ___ c", ("big <b>", None), -4.0),
        ),
        "saw": ("a <extra_id_0> & <extra_id_1> c",),
        "wrote": ("<extra_id_0> big",),
        "remarks": ("It wrote nothing at all for blank 2.",),
    }
    return SpanFills(**facts | changes)


def test_each_model_has_a_column_in_the_order_given():
    drawn = span_columns([make("One"), make("<Two>")])
    assert re.findall(r"<h3>(.*?)</h3>", drawn) == ["One", "&lt;Two&gt;"]
    assert drawn.count("<section>") == 2


def test_a_choice_is_a_button_that_says_what_it_puts_where():
    drawn = span_columns([make()])
    assert "data-blank='0' data-fill='big &lt;b&gt;'" in drawn
    assert "data-blank='1' data-fill='x'" in drawn
    assert "style='width:50.0%'" in drawn  # its probability
    assert f"<bdi>{NOTHING}</bdi>" in drawn and "a space" not in drawn
    spaced = span_columns([make(spans=(Span((SpanChoice("", -2.5, 1),)),))])
    assert "<bdi>␣</bdi>" in spaced and NOTHING not in spaced and "␣: a space alone." in spaced
    assert "50 %" in drawn
    assert "2 tokens" in drawn
    assert "1 token<" in drawn
    assert "<b>" not in drawn.replace("<b class='open'>", "")


def test_fills_are_marked_and_what_was_left_out_stays_open():
    drawn = span_columns([make()])
    assert "a <mark>big &lt;b&gt;</mark> &amp; <mark>x</mark> c" in drawn
    assert "<b class='open'>___</b> c" in drawn


def test_what_the_model_saw_and_wrote_is_behind_a_fold_and_oddities_are_said():
    drawn = span_columns([make()])
    assert "<summary>What it saw and wrote" in drawn
    assert "&lt;extra_id_0&gt; &amp; " not in drawn.split("<details")[0]
    assert "a &lt;extra_id_0&gt; &amp; &lt;extra_id_1&gt; c" in drawn
    assert "It wrote nothing at all for blank 2." in drawn.split("<details")[0]
    silent = span_columns([make(wrote=(), remarks=())])
    assert "<summary>What it saw, and" in silent
    several = span_columns([make(saw=("", "a <b> &"))])
    assert "each blank:</p><ol><li>nothing yet</li><li><code dir='auto'>a &lt;b&gt; &amp;</code></li></ol>" in several


def test_one_blank_is_not_numbered_and_no_sentence_is_said():
    one = make(text="a ___", spans=make().spans[1:], completions=())
    drawn = span_columns([one])
    assert "Blank 1" not in drawn
    assert "No whole sentence came of it." in drawn
