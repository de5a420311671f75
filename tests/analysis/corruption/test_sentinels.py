"""Which spans are picked, and what stands in their place."""

import math
import random
from collections import Counter

import pytest
import torch

from explorer.analysis.corruption.sentinels import SENTINELS, find_sentinels, pick_spans, replace_spans
from explorer.errors import UnsuitableModel
from tests.training.tiny_corpus import VOCABULARY
from tests.training.tiny_networks import seeded, tiny_tokenizer

MARKS = torch.arange(1000, 1000 + SENTINELS)  # no token of a text has such an id


def pick(rows: int, length: int, share: float = 0.15, mean: float = 3.0, seed: int = 3) -> torch.Tensor:
    return pick_spans(rows, length, share=share, mean_span_tokens=mean, generator=seeded(seed))


def count_spans(picked: torch.Tensor) -> torch.Tensor:
    """How many spans each row has."""
    return picked[:, 0].long() + (picked[:, 1:] & ~picked[:, :-1]).sum(dim=1)


def rebuild(inputs: list[int], targets: list[int]) -> list[int]:
    """The text that a corrupted row and its targets were made of."""
    spans, current = {}, None
    for id in targets:
        if id >= 1000:
            current = spans.setdefault(id, [])
        else:
            current.append(id)
    return [id for token in inputs for id in (spans[token] if token >= 1000 else [token])]


@pytest.mark.parametrize("seed", range(40))
def test_each_row_has_as_many_tokens_and_spans_picked_and_can_be_rebuilt(seed):
    choose = random.Random(seed)
    rows, length = choose.randint(1, 9), choose.randint(4, 150)
    share, mean = choose.uniform(0.01, 0.99), choose.uniform(1, 8)
    picked = pick(rows, length, share, mean, seed)
    tokens = min(max(round(length * share), 1), length - 1)
    spans = min(max(round(tokens / mean), 1), length - tokens + 1, SENTINELS - 1)
    assert picked.shape == (rows, length)
    assert picked.sum(dim=1).eq(tokens).all()
    assert count_spans(picked).eq(spans).all()
    ids = torch.randint(1000, (rows, length), generator=seeded(seed))
    inputs, targets = replace_spans(ids, picked, MARKS)
    assert inputs.shape == (rows, length - tokens + spans)
    assert targets.shape == (rows, tokens + spans + 1)
    assert [rebuild(*pair) for pair in zip(inputs.tolist(), targets.tolist(), strict=True)] == ids.tolist()


def test_any_position_can_be_picked_the_first_and_the_last_too():
    picked = pick(4000, 20, share=0.3, mean=2.0)
    chances = picked.double().mean(dim=0)
    assert chances.min() > 0.1
    assert chances.mean().item() == pytest.approx(0.3)
    assert torch.allclose(chances, chances.flip(0), atol=0.04)  # neither end is preferred
    assert (picked[:, 0] & picked[:, -1]).any() and (~picked[:, 0] & ~picked[:, -1]).any()


def test_spans_over_ten_thousand_draws_are_all_ways_to_split_what_is_picked():
    draws, tokens, spans = 10_000, 19, 6  # 15 % of 128, of mean length 3
    rows = pick(draws, 128).tolist()
    lengths = Counter(len(part) for row in rows for part in "".join("x" if p else " " for p in row).split())
    assert sum(lengths.values()) == draws * spans and sum(k * n for k, n in lengths.items()) == draws * tokens
    for length in range(1, tokens - spans + 2):  # of 19 tokens in 6 parts, where one part has so many
        expected = math.comb(tokens - length - 1, spans - 2) / math.comb(tokens - 1, spans - 1)
        error = (expected * (1 - expected) / draws) ** 0.5  # the spans of a row hang together
        assert lengths[length] / (draws * spans) == pytest.approx(expected, abs=4 * error)


def test_the_same_seed_picks_the_same():
    assert torch.equal(pick(5, 40), pick(5, 40))
    assert not torch.equal(pick(5, 40), pick(5, 40, seed=4))


@pytest.mark.parametrize(
    ("length", "share", "tokens"),
    [(4, 0.01, 1), (4, 0.99, 3), (5, 0.5, 2), (30, 0.999, 29), (2, 0.5, 1)],
)
def test_short_rows_and_large_shares_leave_something_and_take_something(length, share, tokens):
    assert pick(8, length, share, 1.0).sum(dim=1).eq(tokens).all()


def test_there_are_never_more_spans_than_sentinels():
    picked = pick(3, 400, share=0.5, mean=1.0)
    assert count_spans(picked).eq(SENTINELS - 1).all()  # one sentinel is left to end the targets
    _, targets = replace_spans(torch.zeros_like(picked, dtype=torch.long), picked, MARKS)
    assert targets[:, -1].eq(MARKS[-1]).all()


def test_the_figure_of_the_paper():
    words = "Thank you for inviting me to your party last week .".split()
    names = [*words, "<X>", "<Y>", "<Z>"]
    picked = torch.tensor([[word in ("for", "inviting", "last") for word in words]])
    sentinels = torch.tensor([names.index(name) for name in ("<X>", "<Y>", "<Z>")])
    parts = replace_spans(torch.arange(len(words))[None], picked, sentinels)
    inputs, targets = (" ".join(names[id] for id in part[0].tolist()) for part in parts)
    assert inputs == "Thank you <X> me to your party <Y> week ."
    assert targets == "<X> for inviting <Y> last <Z>"


def test_sentinels_are_found_in_their_order(bert):
    assert find_sentinels(tiny_tokenizer("span")) == [len(VOCABULARY) + number for number in range(SENTINELS)]
    with pytest.raises(UnsuitableModel, match="no sentinels <extra_id_0> …; choose an encoder-decoder"):
        find_sentinels(bert.tokenizer)
