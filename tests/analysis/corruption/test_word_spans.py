"""Whole words and spans of words, over ten thousand draws."""

import pytest
import torch

from explorer.analysis.corruption.masking import corrupt, pick_tokens
from explorer.analysis.corruption.words import MOST_SPAN_WORDS, draw_span_words, pick_word_spans, pick_words

DRAWS = 10_000
WORDS = [(1, 2), (2, 5), (5, 6), (6, 8), (8, 9), (9, 10), (10, 14), (14, 15), (15, 16), (16, 18), (18, 21)]  # 20 tokens


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def standard_error(share, count=DRAWS):
    return (share * (1 - share) / count) ** 0.5


def covered(spans):
    return {token for start, end in spans for token in range(start, end)}


def test_the_truncated_geometric_lengths_of_spanbert():
    lengths = draw_span_words(DRAWS, seeded())
    assert lengths.min() == 1 and lengths.max() == MOST_SPAN_WORDS
    total = 1 - 0.8**10
    for length in range(1, 11):
        expected = 0.2 * 0.8 ** (length - 1) / total
        found = (lengths == length).double().mean().item()
        assert found == pytest.approx(expected, abs=4 * standard_error(expected))
    assert lengths.double().mean().item() == pytest.approx(3.797, abs=4 * lengths.double().std().item() / DRAWS**0.5)


def test_whole_words_take_the_share_and_never_a_part_of_a_word():
    generator = seeded()
    counts = torch.zeros(len(WORDS))
    for _ in range(DRAWS):
        picked = pick_words(WORDS, generator=generator)
        assert set(picked) <= set(WORDS) and len(set(picked)) == len(picked)
        assert 1 <= len(covered(picked)) <= 3  # 15 % of 20
        counts += torch.tensor([word in picked for word in WORDS], dtype=torch.float)
    assert counts[6] == 0  # four tokens are more than the share
    single = counts[[0, 2, 4, 5, 7, 8]] / DRAWS
    assert (single.max() - single.min()).item() < 8 * standard_error(single.mean().item())


def test_a_text_of_one_long_word_is_picked_whole():
    assert pick_words([(0, 7)], generator=seeded()) == [(0, 7)]


def test_word_spans_take_the_share_and_are_whole_words():
    generator = seeded()
    starts, ends = {start for start, _ in WORDS}, {end for _, end in WORDS}
    for _ in range(DRAWS):
        spans = pick_word_spans(WORDS, generator=generator)
        assert {start for start, _ in spans} <= starts and {end for _, end in spans} <= ends
        assert len(covered(spans)) == sum(end - start for start, end in spans)  # none lies on another
        assert 3 <= len(covered(spans)) <= 3 + 3  # the last word may go beyond the share
    assert covered(pick_word_spans(WORDS, share=1.0, generator=generator)) == set(range(1, 21))


def test_spans_of_a_long_text_have_the_lengths_that_were_drawn_but_for_those_cut_short():
    words = [(index, index + 1) for index in range(4000)]
    generator = seeded()
    lengths = [end - start for _ in range(20) for start, end in pick_word_spans(words, generator=generator)]
    assert sum(lengths) / len(lengths) == pytest.approx(3.797 * 0.9, rel=0.1)  # one in ten meets another span


def test_exactly_the_share_is_picked_and_any_token_alike_often():
    can_be_picked = torch.ones(DRAWS, 22, dtype=torch.bool)
    can_be_picked[:, [0, -1]] = False
    picked = pick_tokens(can_be_picked, generator=seeded())
    assert picked.sum(dim=1).eq(3).all() and not picked[:, [0, -1]].any()
    chances = picked[:, 1:-1].double().mean(dim=0)
    assert (chances - 0.15).abs().max().item() < 4.5 * standard_error(0.15)
    assert pick_tokens(can_be_picked[:, :3], generator=seeded()).sum(dim=1).eq(1).all()  # one at least


def test_the_fates_of_picked_tokens_over_ten_thousand_draws():
    ids = torch.randint(5, 30_000, (DRAWS, 1), generator=seeded(1))
    picked = torch.ones_like(ids, dtype=torch.bool)
    became = corrupt(ids, picked, mask_id=4, vocab_size=30_000, generator=seeded())
    for which, share in ((became.masked, 0.8), (became.randomized, 0.1), (~became.masked & ~became.randomized, 0.1)):
        assert which.double().mean().item() == pytest.approx(share, abs=4 * standard_error(share))
    assert became.ids[became.masked].eq(4).all()
    assert torch.equal(became.ids[~became.masked & ~became.randomized], ids[~became.masked & ~became.randomized])


def test_the_tokens_of_a_span_share_their_fate():
    groups = torch.tensor([[0, 1, 1, 1, 4, 5]]).expand(2000, -1)
    picked = torch.tensor([[False, True, True, True, True, True]]).expand(2000, -1)
    became = corrupt(
        torch.arange(5, 11).expand(2000, -1), picked, mask_id=4, vocab_size=99, generator=seeded(), groups=groups
    )
    assert became.masked[:, 1].eq(became.masked[:, 2]).all() and became.masked[:, 1].eq(became.masked[:, 3]).all()
    assert became.randomized[:, 1].eq(became.randomized[:, 3]).all()
    assert not became.masked[:, 1].eq(became.masked[:, 4]).all()
