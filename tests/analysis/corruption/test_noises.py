"""BART's noises, over many draws."""

import math

import pytest
import torch

from explorer.analysis.corruption.noises import (
    MAKE_NOISE,
    delete_tokens,
    draw_infill_lengths,
    infill_text,
    mask_each,
    permute_sentences,
    rotate_document,
)

DRAWS = 10_000
TEXT = list(range(20))
SENTENCES = [(0, 5), (5, 12), (12, 20)]


@pytest.fixture
def generator():
    return torch.Generator().manual_seed(0)


def standard_error(share, count):
    return (share * (1 - share) / count) ** 0.5


def test_masking_and_deletion_take_fifteen_per_cent(generator):
    for _ in range(200):
        masked = mask_each(TEXT, SENTENCES, generator)
        assert len(masked) == 20 and masked.count(None) == 3
        assert all(token in (None, index) for index, token in enumerate(masked))
        left = delete_tokens(TEXT, SENTENCES, generator)
        assert len(left) == 17 and left == sorted(left) and None not in left


def test_infilling_takes_thirty_per_cent_and_puts_one_mask_for_each_span(generator):
    inserted = 0
    for _ in range(2000):
        noised = infill_text(TEXT, SENTENCES, generator)
        left = [token for token in noised if token is not None]
        assert len(left) == 14 and left == sorted(left)
        gaps = noised.count(None)
        assert gaps >= 1
        around = [-1, *noised, 20]
        inserted += any(
            around[k] is None and None not in (around[k - 1], around[k + 1]) and around[k + 1] - around[k - 1] == 1
            for k in range(1, len(around) - 1)
        )
    assert inserted > 100  # a span of length 0: a mask where nothing is missing


def test_the_lengths_of_infilled_spans_are_poisson(generator):
    lengths = torch.tensor(draw_infill_lengths(3 * DRAWS, generator)[:-1])  # the last is cut
    count = len(lengths)
    assert count == pytest.approx(DRAWS, rel=0.05)
    for length in range(8):
        expected = math.exp(-3) * 3**length / math.factorial(length)
        found = (lengths == length).double().mean().item()
        assert found == pytest.approx(expected, abs=4 * standard_error(expected, count))
    assert lengths.double().mean().item() == pytest.approx(3, abs=4 * (3 / count) ** 0.5)


def test_sentences_come_in_every_order_and_stay_whole(generator):
    seen = {}
    for _ in range(6000):
        noised = permute_sentences(TEXT, SENTENCES, generator)
        assert sorted(noised) == TEXT
        key = tuple(noised)
        seen[key] = seen.get(key, 0) + 1
    assert len(seen) == 6
    for times in seen.values():
        assert times / 6000 == pytest.approx(1 / 6, abs=4 * standard_error(1 / 6, 6000))


def test_a_document_is_rotated_to_any_token(generator):
    starts = torch.tensor([rotate_document(TEXT, SENTENCES, generator)[0] for _ in range(DRAWS)])
    shares = torch.bincount(starts, minlength=20).double() / DRAWS
    assert (shares - 1 / 20).abs().max().item() < 4.5 * standard_error(1 / 20, DRAWS)
    rotated = rotate_document(TEXT, SENTENCES, generator)
    assert rotated == TEXT[rotated[0] :] + TEXT[: rotated[0]]


@pytest.mark.parametrize("noise", MAKE_NOISE.values())
def test_the_same_seed_makes_the_same_noise(noise):
    first, same, *others = (noise(TEXT, SENTENCES, torch.Generator().manual_seed(seed)) for seed in (1, 1, 2, 3, 4, 5))
    assert first == same and any(other != first for other in others)


@pytest.mark.parametrize("noise", MAKE_NOISE.values())
@pytest.mark.parametrize("length", [2, 3])
def test_short_texts_can_be_noised(noise, length, generator):
    for _ in range(20):
        noise(list(range(length)), [(0, length)], generator)
