"""Pairs of sentences: half of them do not belong together, and nothing but the text tells which."""

from types import SimpleNamespace

import pytest
import torch
from torch import nn

from explorer.analysis.corruption.masking import mask_tokens
from explorer.training.masker import special_tokens
from explorer.training.sentence_pairs import IS_NEXT, IS_RANDOM, SentencePairObjective, make_pairs, measure_pairs
from tests.training.tiny_corpus import VOCABULARY
from tests.training.tiny_networks import TINY, make_sampler, seeded, tiny_network, tiny_tokenizer

CLS, SEP, DOT = (VOCABULARY.index(token) for token in ("[CLS]", "[SEP]", "."))
TOKENIZER = tiny_tokenizer("masked+nsp")


@pytest.fixture
def network():
    return tiny_network("masked+nsp")


@pytest.fixture
def rows(corpus, network):
    return make_sampler(corpus, SentencePairObjective(network, TOKENIZER)).draw(10, 24)


def parts(pairs: torch.Tensor, kinds: torch.Tensor) -> tuple[list[list[int]], list[list[int]]]:
    """First and second parts without their marks, told apart by the token types."""
    first, second = ([row[kind == side].tolist() for row, kind in zip(pairs, kinds, strict=True)] for side in (0, 1))
    assert all(row[0] == CLS and row[-1] == SEP for row in first) and all(row[-1] == SEP for row in second)
    return [row[1:-1] for row in first], [row[:-1] for row in second]


@pytest.mark.parametrize("count", [2, 3, 10, 11, 64])
def test_half_of_the_second_parts_are_another_rows(count):
    ids = 100 + torch.arange(count * 20).view(count, 20)  # no two tokens alike, so each tells its row and place
    pairs, kinds, labels = make_pairs(ids, TOKENIZER, seeded())
    first, second = parts(pairs, kinds)
    wanted = count // 2 if count > 3 else 0  # where one row would have to be its own random second part, none is
    assert labels.eq(IS_RANDOM).sum() == wanted
    assert sorted({row[0] // 20 for row in second}) == sorted({row[0] // 20 for row in first})  # each is used once
    for row, (one, two, label) in enumerate(zip(first, second, labels.tolist(), strict=True)):
        own = ids[row].tolist()
        assert one == own[own.index(one[0]) :][: len(one)] and one[-1] == own[9]
        assert (two[0] == own[10]) is (label == IS_NEXT)
        assert (two[0] - 100) % 20 == 10 and two == list(range(two[0], two[0] + len(two)))


def test_the_second_part_begins_with_a_sentence_and_the_first_ends_with_one(rows):
    pairs, kinds, _ = make_pairs(rows, TOKENIZER, seeded())
    first, second = parts(pairs, kinds)
    assert all(row[-1] == DOT for row in first)
    assert all(row[0] != DOT for row in second)
    assert {len(row) for row in first} == {10} and {len(row) for row in second} == {11}


def test_pairs_are_as_long_as_the_rows_they_are_made_of(network, corpus):
    task = SentencePairObjective(network, TOKENIZER)
    rows = make_sampler(corpus, task).draw(4, TINY["CONTEXT_TOKENS"])
    assert make_pairs(rows, TOKENIZER, seeded())[0].shape == rows.shape
    task.loss(rows, 0.0, seeded())  # the longest that the network reads


def test_the_loss_is_that_of_transformers(rows, network):
    loss, reported = SentencePairObjective(network, TOKENIZER, share=0.3).loss(rows, 0.0, seeded())
    random = seeded()
    pairs, kinds, labels = make_pairs(rows, TOKENIZER, random)
    inputs, picked = mask_tokens(
        pairs,
        mask_id=TOKENIZER.mask_token_id,
        vocab_size=len(TOKENIZER),
        is_special=special_tokens(TOKENIZER),
        share=0.3,
        generator=random,
    )
    wanted = torch.where(picked, pairs, -100)
    output = network(input_ids=inputs, token_type_ids=kinds, labels=wanted, next_sentence_label=labels)
    assert loss.item() == pytest.approx(output.loss.item(), abs=1e-5)
    of_pairs = nn.functional.cross_entropy(output.seq_relationship_logits, labels)
    assert reported == pytest.approx((output.loss - of_pairs).item(), abs=1e-5)


class Judge(nn.Module):
    """In the place of BERT's body: says which pairs are random, rightly or not."""

    def __init__(self, say) -> None:
        super().__init__()
        self._say = say

    def forward(self, ids, token_type_ids):
        first, second = parts(ids, token_type_ids)
        is_random = torch.tensor([self._say(*pair) for pair in zip(first, second, strict=True)])
        return SimpleNamespace(pooler_output=nn.functional.one_hot(is_random.long(), 2).float())


@pytest.mark.parametrize(
    ("say", "share"),
    [
        (lambda one, two: two[0] != one[-1] + 1, 1.0),
        (lambda one, two: two[0] == one[-1] + 1, 0.0),
        (lambda one, two: False, 0.5),
    ],
    ids=["knows", "is always wrong", "always says next"],
)
def test_the_share_that_is_judged_right(network, say, share):
    network.bert, network.cls.seq_relationship = Judge(say), nn.Identity()
    ids = 100 + torch.arange(150 * 20).view(150, 20)  # more than a batch
    network.train()
    assert measure_pairs(network, TOKENIZER, ids) == share
    assert network.training


def test_the_same_seed_makes_the_same_pairs(rows):
    one, same, other = (make_pairs(rows, TOKENIZER, seeded(seed)) for seed in (1, 1, 2))
    assert all(torch.equal(a, b) for a, b in zip(one, same, strict=True))
    assert not torch.equal(one[0], other[0])
