import pytest

from explorer.analysis.cc100 import CC100_GIB
from explorer.analysis.language_sampling import sample_languages, sum_smallest
from explorer.errors import UnsuitableText


def test_the_corpus_has_a_hundred_languages_from_the_largest_to_the_smallest():
    sizes = list(CC100_GIB.values())
    assert len(sizes) == 100 and sizes == sorted(sizes, reverse=True)
    assert sum(sizes) * 2**30 == pytest.approx(2.5e12, rel=0.07)  # "2.5 TB", as the paper says it


def test_alpha_one_is_as_the_corpus_and_alpha_zero_is_uniform():
    for row in sample_languages(1.0):
        assert row.sampled == pytest.approx(row.share)
    for row in sample_languages(0.0):
        assert row.sampled == pytest.approx(1 / len(CC100_GIB))


def test_a_small_alpha_lifts_small_languages():
    rows = {row.language: row for row in sample_languages(0.3)}
    assert sum(row.sampled for row in rows.values()) == pytest.approx(1)
    assert rows["Swahili"].sampled > 9 * rows["Swahili"].share
    assert rows["English"].sampled < rows["English"].share
    assert rows["English"].sampled / rows["Swahili"].sampled == pytest.approx((300.8 / 1.6) ** 0.3)


def test_the_smallest_are_summed():
    rows = sample_languages(0.3, {"a": 6.0, "b": 1.0, "c": 3.0})
    two = sum_smallest(rows, 2)
    assert (two.count, two.share) == (2, pytest.approx(0.4))
    assert two.sampled == pytest.approx(rows[1].sampled + rows[2].sampled)
    assert sum_smallest(rows, 5).share == pytest.approx(1)


@pytest.mark.parametrize("alpha", [-0.1, 1.1, float("nan")])
def test_an_alpha_that_is_none_is_refused(alpha):
    with pytest.raises(UnsuitableText, match="alpha must be a number from 0 to 1"):
        sample_languages(alpha)
