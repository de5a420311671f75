"""Rows of token ids: whole windows of one document each, from the files in their shares."""

import numpy as np
import pytest

from explorer.errors import UnsuitableCorpus
from explorer.training.corpus import TokenizedText
from explorer.training.windows import WindowSampler


def make_text(lengths: list[int], first_id: int) -> TokenizedText:
    """Documents of consecutive ids that no other document has; every fifth token begins a sentence."""
    ends = np.cumsum(lengths)
    within = np.concatenate([np.arange(length) for length in lengths])
    return TokenizedText(np.arange(first_id, first_id + ends[-1], dtype=np.uint16), ends, within % 5 == 0)


def test_windows_stay_in_one_document_and_begin_with_a_sentence():
    text = make_text([12, 30, 7, 10, 41], first_id=1000)
    rows = WindowSampler([text], [1.0], before=[1], after=[2, 3], seed=0).draw(400, 13)
    assert rows.shape == (400, 13)
    assert (rows[:, 0] == 1).all() and (rows[:, -2:] == np.array([2, 3])).all()
    inner = rows[:, 1:-2].numpy() - 1000
    assert (np.diff(inner, axis=1) == 1).all()
    documents = np.searchsorted(text.document_ends, inner, side="right")
    assert (documents == documents[:, :1]).all()
    assert text.is_start[inner[:, 0]].all()
    assert set(inner[:, 0]) == set(text.window_starts(10))  # each place is drawn: 400 draws of 14
    assert set(documents[:, 0]) == {0, 1, 3, 4}  # the third is shorter than a row


def test_files_are_drawn_in_their_shares():
    texts = [make_text([100], 0), make_text([5000], 10_000)]
    rows = WindowSampler(texts, [3.0, 1.0], seed=0).draw(10_000, 10)
    share = (rows[:, 0] < 10_000).double().mean().item()
    assert share == pytest.approx(0.75, abs=4 * (0.75 * 0.25 / 10_000) ** 0.5)


def test_a_file_of_short_documents_leaves_its_share_to_the_others():
    texts = [make_text([5, 5], 0), make_text([100], 10_000), make_text([100], 20_000)]
    rows = WindowSampler(texts, [0.9, 0.1, 0.0], seed=0).draw(50, 10)
    assert ((rows >= 10_000) & (rows < 20_000)).all()


def test_no_document_as_long_as_a_row_is_refused():
    with pytest.raises(UnsuitableCorpus, match="No document of the corpus has 20 tokens in a row; use shorter"):
        WindowSampler([make_text([19, 12], 0)], [1.0], before=[1], after=[2]).draw(1, 22)


def test_draws_follow_the_seed_and_can_be_continued():
    texts = [make_text([50, 60], 0), make_text([500], 1000)]

    def sampler(seed):
        return WindowSampler(texts, [1.0, 1.0], before=[7], seed=seed)

    one, same, other = sampler(0), sampler(0), sampler(1)
    assert (one.draw(20, 12) == same.draw(20, 12)).all()
    assert not (one.draw(20, 12) == other.draw(20, 12)).all()
    state = one.state()
    expected = [one.draw(9, length) for length in (8, 12)]
    other.restore(state)
    for rows in expected:
        assert (rows == other.draw(*rows.shape)).all()
