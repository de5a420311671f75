"""Intervals of shares and means, against published values and by drawing."""

import numpy as np
import pytest

from explorer.analysis.intervals import mean_intervals, share_interval


@pytest.mark.parametrize(
    ("hits", "count", "low", "high"),
    [(8, 10, 0.4902, 0.9433), (0, 20, 0.0, 0.1611), (15, 15, 0.7961, 1.0), (81, 263, 0.2553, 0.3662)],
)  # the last is Newcombe 1998, table I, method 3
def test_it_is_wilsons(hits, count, low, high):
    assert share_interval(hits / count, count) == pytest.approx((low, high), abs=1e-4)


def test_it_holds_the_true_share_about_as_often_as_it_says():
    hits = np.random.default_rng(0).binomial(40, 0.3, size=2_000)
    intervals = [share_interval(int(one) / 40, 40) for one in hits]
    assert np.mean([low <= 0.3 <= high for low, high in intervals]) == pytest.approx(0.95, abs=0.02)


def test_a_mean_lies_in_its_interval_about_as_often_as_it_says():
    samples = np.random.default_rng(1).exponential(size=(600, 60))
    held = [low <= 1.0 <= high for low, high in mean_intervals(samples)]
    assert np.mean(held) == pytest.approx(0.95, abs=0.04)  # the percentile bootstrap is a little too short


def test_the_mean_of_equal_samples_is_certain():
    assert mean_intervals(np.full((1, 7), 2.5))[0].tolist() == pytest.approx([2.5, 2.5])
