"""What is drawn of a training that was recorded."""

import re
from dataclasses import replace

import pytest

from explorer.analysis.results import TracePoint, TrainingTrace
from explorer.figures.layer_lines import LINE_PIXELS
from explorer.figures.learning import (
    FROM_ANOTHER,
    FROM_NOTHING,
    MOST_TICKS,
    answers_table,
    learning_curves,
    learning_words,
    short_tokens,
)
from explorer.models.catalogue import CATALOGUE
from explorer.training.trace import bundled_traces

TOKENS = (52_896, 81_228, 1_411_464)


def make_trace(*scores: str, prompts: tuple[str, ...] = ("A <b> ___.", "In the")) -> TrainingTrace:
    return TrainingTrace(
        "Tiny",
        tuple(
            TracePoint(
                tokens,
                60.0 * step,
                {name: 0.1 * step + 0.01 * place for place, name in enumerate(scores)},
                tuple((prompt, f"{prompt[:1]} & {step}") for prompt in prompts),
            )
            for step, tokens in enumerate(TOKENS, 1)
        ),
    )


def test_a_loss_stands_above_the_shares():
    figure = learning_curves(make_trace("loss", "top-1", "top-5"))
    loss, first, five = figure.data
    assert [line.yaxis for line in (loss, first, five)] == ["y", "y2", "y2"]
    assert all(line.x == TOKENS for line in figure.data)
    assert loss.y == pytest.approx((0.1, 0.2, 0.3))
    assert five.y == pytest.approx((0.12, 0.22, 0.32))
    assert first.marker.symbol != five.marker.symbol  # colour is not all that tells them apart
    titles = [note.text for note in figure.layout.annotations]
    assert titles[0] == "Loss in nats (lower is better)"
    names = [re.sub("<[^>]*>", "", name) for name in titles[1].split("<br>")]  # a phone has no room for both in a line
    assert names == ["● first guess is right", "◆ right one among the first five"]
    assert figure.layout.height == learning_curves(make_trace("loss", "top-1")).layout.height + LINE_PIXELS
    assert figure.layout.xaxis2.title.text == "Tokens seen in training"
    assert {figure.layout.xaxis.type, figure.layout.xaxis2.type} == {"log"}


def test_bits_per_byte_say_what_the_loss_would():
    figure = learning_curves(make_trace("loss", "bits per byte"))
    (line,) = figure.data
    assert line.y == pytest.approx((0.11, 0.21, 0.31))
    assert [note.text for note in figure.layout.annotations] == ["Bits per byte (lower is better)"]
    assert figure.layout.xaxis.title.text == "Tokens seen in training"


@pytest.mark.parametrize(
    ("tokens", "labels"),
    [
        ((52_896, 1_411_464), ["100 k", "200 k", "500 k", "1 M"]),
        ((52_896, 400_000_000), ["100 k", "1 M", "10 M", "100 M"]),
        ((52_896, 3_100_000), ["100 k", "200 k", "500 k", "1 M", "2 M"]),
    ],
)
def test_the_axis_has_a_few_round_numbers(tokens, labels):
    points = tuple(TracePoint(count, 1.0, {"loss": 1.0}, ()) for count in tokens)
    axis = learning_curves(TrainingTrace("Tiny", points)).layout.xaxis
    assert list(axis.ticktext) == labels
    assert len(labels) <= MOST_TICKS
    assert all(tokens[0] <= value <= tokens[1] for value in axis.tickvals)


def test_answers_are_told_moment_by_moment_and_escaped():
    table = answers_table(make_trace("loss"))
    assert table.count("<tr>") == 1 + len(TOKENS)
    assert "<th scope='col'>A &lt;b&gt; ___.</th>" in table
    assert "<th scope='row'>1.4 M tokens</th><td data-label='A &lt;b&gt; ___.'>A &amp; 3</td>" in table


def test_shares_of_suspected_tokens_read_like_all_others():
    assert "<td data-label='The cat sat on the Tuesday.'>Tuesday: 37 %</td>" in answers_table(
        bundled_traces(CATALOGUE)["ELECTRA mini"]
    )


def test_a_model_that_was_asked_nothing_has_no_table():
    assert answers_table(make_trace("loss", prompts=())) == ""


@pytest.mark.parametrize(
    ("count", "words"), [(52_896, "53 k"), (999_499, "999 k"), (999_500, "1.0 M"), (314_000_000, "314 M")]
)
def test_tokens_are_counted_as_people_do(count, words):
    assert short_tokens(count) == words


def test_what_is_said_of_a_model_is_what_its_table_shows():
    traces = bundled_traces(CATALOGUE)
    assert set(FROM_NOTHING) <= set(traces)
    for name, words in FROM_NOTHING.items():
        answers = " ".join(answer for point in traces[name].points for _, answer in point.answers)
        prompts = " ".join(prompt for prompt, _ in traces[name].points[0].answers)
        for quoted in re.findall("“([^”]+)”", words):
            assert quoted in answers or quoted in prompts or "replaced" in quoted, (name, quoted)
        assert learning_words(name, from_nothing=True).endswith(words)
    assert learning_words("MiniLM (masked)", from_nothing=False) == FROM_ANOTHER
    assert "earlier MiniLM (masked)" in learning_words("MiniLM (span)", from_nothing=False)
    assert learning_words("Unknown", from_nothing=True) == ""


def test_words_come_when_they_are_said_to():
    traces = bundled_traces(CATALOGUE)

    def first(name: str, word: str, prompt: int) -> float:
        points = traces[name].points
        return next(point.tokens for point in points if re.search(rf"\b{word}\b", point.answers[prompt][1])) / 1e6

    for word, prompt, least, most in (("He", 0, 2, 4), ("came", 1, 4, 6), ("York", 3, 4, 6), ("room", 0, 15, 20)):
        assert least < first("BERT mini", word, prompt) <= most, word
    assert not any(point.answers[2][1].startswith("England") for point in traces["BERT mini"].points)
    assert first("GPT mini", "United", 0) < 2
    assert 2.4 < first("ELMo mini", "left: York", 3) < 2.5
    assert 3 < first("ELMo mini", "came", 1) < 4
    assert 20 < first("ELMo mini", "table", 0) < 30
    assert all(point.scores["found"] < 0.01 for point in traces["ELECTRA mini"].points if point.tokens < 3e6)
    assert 25 < first("T5 mini", "stood", 1) < 30


def test_a_comma_among_the_likeliest_is_told_from_those_between_them():
    trace = make_trace("loss", "top-1")
    listed = replace(trace, points=tuple(replace(one, answers=(("A ___", ",, the, &"),)) for one in trace.points))
    assert "<td data-label='A ___'>“,” · the · “&amp;”</td>" in answers_table(listed)
    from_both = "from the left: ,, the; from the right: s, ,"
    listed = replace(trace, points=tuple(replace(one, answers=(("A ___", from_both),)) for one in trace.points))
    assert ">from the left: “,” · the; from the right: s · “,”</td>" in answers_table(listed)
