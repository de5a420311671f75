"""What stands around a row."""

import pytest
import torch

from explorer.training.minis import AROUND
from explorer.training.rows import edges, with_edges
from tests.training.tiny_corpus import VOCABULARY
from tests.training.tiny_networks import tiny_tokenizer

CLS, SEP = VOCABULARY.index("[CLS]"), VOCABULARY.index("[SEP]")


@pytest.mark.parametrize("objective", AROUND)
def test_edges_are_what_the_tokenizer_sets_around_a_text(objective):
    tokenizer = tiny_tokenizer(objective)
    before, after = edges(tokenizer)
    inside = tokenizer("the cat", add_special_tokens=False).input_ids
    assert [*before, *inside, *after] == tokenizer("the cat").input_ids
    wanted = AROUND[objective].split()
    assert (before, after) == ([CLS] if wanted[0] == "[CLS]" else [], [SEP] if wanted[-1] == "[SEP]" else [])


def test_edges_of_bert(tokenizer):
    assert edges(tokenizer) == ([CLS], [SEP])


def test_edges_are_set_around_each_row():
    ids = torch.tensor([[5, 6], [7, 8]])
    assert with_edges(ids, [1, 2], [3]).tolist() == [[1, 2, 5, 6, 3], [1, 2, 7, 8, 3]]
    assert torch.equal(with_edges(ids, [], []), ids)
    assert with_edges(ids[:, :0], [1], []).tolist() == [[1], [1]]
