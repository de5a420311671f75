"""What becomes of the tokens that a masked model is to predict."""

import pytest
import torch

from explorer.analysis.corruption.masking import ALL_MASKED, BERT_CORRUPTION, MASK_SHARE, Corruption, mask_tokens

MASK, VOCABULARY = 4, 40_000


@pytest.fixture(scope="module")
def ids():
    rows = torch.randint(5, VOCABULARY, (1000, 128), generator=torch.Generator().manual_seed(1))
    rows[:, 0], rows[:, -1] = 2, 3
    return rows


def corrupt(ids, *, seed=0, **options):
    is_special = torch.arange(VOCABULARY) < 5
    generator = torch.Generator().manual_seed(seed)
    return mask_tokens(ids, mask_id=MASK, vocab_size=VOCABULARY, is_special=is_special, generator=generator, **options)


def assert_share(found: torch.Tensor, share: float) -> None:
    """Within four standard errors."""
    assert found.double().mean().item() == pytest.approx(share, abs=4 * (share * (1 - share) / found.numel()) ** 0.5)


def test_eighty_ten_ten(ids):
    corrupted, picked = corrupt(ids)
    assert picked.sum() > 10_000
    assert_share(picked[:, 1:-1], MASK_SHARE)
    assert_share(corrupted[picked] == MASK, 0.8)
    assert_share(corrupted[picked] == ids[picked], 0.1 + 0.1 / VOCABULARY)
    assert_share((corrupted[picked] != MASK) & (corrupted[picked] != ids[picked]), 0.1)
    assert torch.equal(corrupted[~picked], ids[~picked])


def test_random_tokens_come_from_the_whole_vocabulary(ids):
    corrupted, picked = corrupt(ids, share=0.9, corruption=Corruption(masked=0.0, randomized=1.0))
    drawn = corrupted[picked].double()
    assert drawn.min() < 50 and drawn.max() > VOCABULARY - 50
    assert drawn.mean().item() == pytest.approx(VOCABULARY / 2, abs=4 * VOCABULARY / (12 * len(drawn)) ** 0.5)


def test_special_tokens_are_never_picked(ids):
    assert not corrupt(ids, share=0.99)[1][:, [0, -1]].any()


@pytest.mark.parametrize("share", [0.15, 0.25, 0.5])
def test_the_share_is_kept(ids, share):
    assert_share(corrupt(ids, share=share)[1][:, 1:-1], share)


def test_how_a_position_is_corrupted_does_not_change_which_are_picked(ids):
    corrupted, picked = corrupt(ids, corruption=ALL_MASKED)
    assert (corrupted[picked] == MASK).all()
    assert torch.equal(picked, corrupt(ids)[1])
    kept, picked_again = corrupt(ids, corruption=Corruption(masked=0.9, randomized=0.0))
    assert torch.equal(picked, picked_again)
    assert_share(kept[picked] == MASK, 0.9)
    assert_share(kept[picked] == ids[picked], 0.1)


def test_the_same_seed_gives_the_same_masks(ids):
    for one, same, other in zip(corrupt(ids), corrupt(ids), corrupt(ids, seed=1), strict=True):
        assert torch.equal(one, same)
        assert not torch.equal(one, other)


def test_corruptions_are_named_as_in_the_literature():
    names = [str(corruption) for corruption in (BERT_CORRUPTION, ALL_MASKED, Corruption(0.9, 0.0))]
    assert names == ["80/10/10", "all masked", "90/0/10"]
