import pytest

from explorer.analysis.language_sampling import CC100_GIB, sample_languages


def test_alpha_one_is_as_the_corpus_and_alpha_zero_is_uniform():
    for row in sample_languages(1.0):
        assert row.sampled == pytest.approx(row.share)
    for row in sample_languages(0.0):
        assert row.sampled == pytest.approx(1 / len(CC100_GIB))


def test_a_small_alpha_lifts_small_languages():
    rows = {row.language: row for row in sample_languages(0.3)}
    assert sum(row.sampled for row in rows.values()) == pytest.approx(1)
    assert rows["Swahili"].sampled > 10 * rows["Swahili"].share
    assert rows["English"].sampled < rows["English"].share
    assert rows["English"].sampled / rows["Swahili"].sampled == pytest.approx((300.8 / 1.6) ** 0.3)
