"""The chart at the end of watching blanks being filled."""

from dataclasses import replace

from explorer.figures.settled import settled_bars
from tests.figures.results import BLANK, reveal


def test_each_blank_has_how_unsure_it_was_at_first_and_in_its_turn():
    watched = reveal()
    first, second = watched.steps
    surer = replace(BLANK, entropy_bits=0.25)
    watched = replace(watched, steps=(first, replace(second, blanks=(surer, None))))
    figure = settled_bars(watched)
    before, then = figure.data
    assert list(figure.layout.yaxis.ticktext) == ["cat (blank 2)", "cat (blank 1)"], "in the order of filling"
    assert list(before.x) == [1.25, 1.25] and list(then.x) == [1.25, 0.25]
    assert list(then.text) == ["2.4 words", "1.2 words"]
    assert figure.layout.xaxis.range[1] > 1.25
