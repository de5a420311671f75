"""The family from nothing: one size, one vocabulary, and a tokenizer that loses nothing."""

import random

import pytest
import torch
from transformers import AutoTokenizer

from explorer.analysis.corruption.sentinels import SENTINELS
from explorer.training.minis import (
    AROUND,
    CONTEXT_TOKENS,
    SPECIAL_TOKENS,
    VOCABULARY,
    dress_tokenizer,
    new_network,
    train_tokenizer,
)

TEXTS = (
    "She opened the door, and went in.",
    "Zoë paid 3½ € for a café crème 🙂👩‍🔬",
    "日本語 и русский\ttoo\n",
    "  two  spaces  ",
    "don't — “quoted”",
)


def make_text(words: int = 9_000) -> list[str]:
    """Words enough to fill the vocabulary, each of them a few times."""
    choose = random.Random(0)
    made = ["".join(choose.choices("etaoinshrdlucm", k=choose.randint(3, 9))) for _ in range(words)]
    return [" ".join(choose.choices(made, k=40)) for _ in range(500)]


@pytest.fixture(scope="module")
def vocabulary():
    return train_tokenizer(make_text())


@pytest.fixture(scope="module")
def dressed(vocabulary):
    return {objective: dress_tokenizer(vocabulary, objective) for objective in AROUND}


@pytest.mark.parametrize("objective", AROUND)
def test_all_are_of_one_size(dressed, objective):
    network = new_network(objective, dressed[objective])
    assert 3.5e6 < network.num_parameters() < 4.4e6
    assert network.get_input_embeddings().weight.shape == (VOCABULARY, 192)


@pytest.mark.parametrize("objective", sorted({*AROUND} - {"replaced"}))
def test_input_and_predictions_share_one_table(dressed, objective):
    network = new_network(objective, dressed[objective])
    assert network.get_output_embeddings().weight is network.get_input_embeddings().weight


def test_the_seed_decides_the_weights(dressed):
    networks = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        networks.append(new_network("bilm", dressed["bilm"]))
    one, same, other = (network.get_input_embeddings().weight for network in networks)
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


@pytest.mark.parametrize("objective", ["masked", "masked+nsp", "replaced", "causal"])
def test_positions_begin_as_sinusoids_as_large_as_other_weights(dressed, objective):
    network = new_network(objective, dressed[objective])
    named = dict(network.named_parameters())
    (table,) = (weight for name, weight in named.items() if name.endswith(("position_embeddings.weight", "wpe.weight")))
    scaled = table.detach() / table.detach().norm(dim=1, keepdim=True) * (192 / 2) ** 0.5  # 96 pairs of norm 1
    for position, pair in ((0, 0), (1, 0), (7, 3), (255, 95)):
        angle = torch.tensor(position / 10_000 ** (2 * pair / 192))
        wanted = torch.stack([angle.sin(), angle.cos()])
        torch.testing.assert_close(scaled[position, 2 * pair : 2 * pair + 2], wanted, rtol=0, atol=1e-4)
    assert table.std().item() == pytest.approx(network.config.initializer_range, rel=0.05)


def test_an_unknown_objective_is_a_fault(dressed):
    with pytest.raises(ValueError, match="no network is known for the objective 'unknown'"):
        new_network("unknown", dressed["masked"])


def test_all_have_the_same_vocabulary(dressed, vocabulary):
    wanted = vocabulary.get_vocab()
    assert len(wanted) == VOCABULARY
    assert all(tokenizer.get_vocab() == wanted for tokenizer in dressed.values())
    special = (*SPECIAL_TOKENS, *(f"<extra_id_{number}>" for number in range(SENTINELS)))
    assert [wanted[token] for token in special] == list(range(len(special)))


@pytest.mark.parametrize("text", TEXTS)
def test_any_text_comes_back_as_it_was(dressed, text):
    for tokenizer in dressed.values():
        ids = tokenizer(text).input_ids
        assert tokenizer.decode(ids, skip_special_tokens=True) == text
        assert tokenizer.unk_token_id not in ids


@pytest.mark.parametrize("objective", AROUND)
def test_what_is_set_around_a_text(dressed, objective):
    tokenizer = dressed[objective]
    inside = tokenizer("some text", add_special_tokens=False).input_ids
    marks = {"[CLS]": [tokenizer.cls_token_id], "$A": inside, "[SEP]": [tokenizer.sep_token_id]}
    assert tokenizer("some text").input_ids == sum((marks[part] for part in AROUND[objective].split()), [])


@pytest.mark.parametrize("objective", ["masked", "masked+nsp", "replaced"])
def test_two_texts_are_told_apart_by_their_types(dressed, objective):
    tokenizer = dressed[objective]
    one, two = (tokenizer(text, add_special_tokens=False).input_ids for text in ("one", "and two"))
    pair = tokenizer("one", "and two", return_token_type_ids=True)
    cls, sep = tokenizer.cls_token_id, tokenizer.sep_token_id
    assert pair.input_ids == [cls, *one, sep, *two, sep]
    assert pair.token_type_ids == [0] * (len(one) + 2) + [1] * (len(two) + 1)


@pytest.mark.parametrize("blank", ["[MASK]", "<extra_id_0>", "<extra_id_31>"])
def test_a_blank_takes_the_space_before_it(dressed, blank):
    """So that the word that belongs there begins with its own space, as it does in a text."""
    tokenizer = dressed["masked"]

    def pieces(text):
        return tokenizer.convert_ids_to_tokens(tokenizer(text, add_special_tokens=False).input_ids)

    assert pieces(f"to {blank} it") == [*pieces("to"), blank, *pieces(" it")]
    assert pieces(f"to{blank}.") == [*pieces("to"), blank, *pieces(".")]


@pytest.mark.parametrize("objective", AROUND)
def test_a_saved_tokenizer_is_the_same(dressed, objective, tmp_path):
    tokenizer = dressed[objective]
    tokenizer.save_pretrained(tmp_path)
    again = AutoTokenizer.from_pretrained(tmp_path)
    for text in (*TEXTS, "to [MASK] it", "to <extra_id_0> it"):
        assert again(text).input_ids == tokenizer(text).input_ids
    ids = tokenizer(TEXTS[1]).input_ids
    assert again.decode(ids) == tokenizer.decode(ids)
    assert again.model_max_length == CONTEXT_TOKENS
    assert again.special_tokens_map == tokenizer.special_tokens_map
    assert again.all_special_ids == tokenizer.all_special_ids
