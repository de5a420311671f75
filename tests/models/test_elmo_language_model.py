"""ELMo with its softmax: one table of words, rows of any length, and files that come back."""

import pytest
import torch
from transformers import AutoModel, AutoModelForPreTraining

from explorer.models.elmo import ElmoConfig, ElmoModel
from explorer.models.elmo_language_model import ElmoForPreTraining

ROWS = [[5, 6, 7, 8, 9, 10], [11, 12, 5], [7]]


def make_network(*, tied: bool = True) -> ElmoForPreTraining:
    torch.manual_seed(0)
    sizes = {"vocab_size": 20, "projection_dim": 16, "lstm_dim": 24, "tie_word_embeddings": tied}
    marks = {"bos_token_id": 2, "eos_token_id": 3, "pad_token_id": 0}
    return ElmoForPreTraining(ElmoConfig(input="tokens", **sizes, **marks)).eval()


@pytest.fixture
def network() -> ElmoForPreTraining:
    return make_network()


def test_both_directions_and_the_words_share_one_table(network):
    assert network.get_output_embeddings().weight is network.get_input_embeddings().weight
    assert network.softmax.weight is network.elmo.words.weight
    assert [name for name, value in network.named_parameters() if value.shape == (20, 16)] == ["elmo.words.weight"]


def test_a_softmax_may_have_a_table_of_its_own():
    network = make_network(tied=False)
    assert network.softmax.weight is not network.elmo.words.weight


@torch.inference_mode()
def test_shorter_rows_are_predicted_as_they_are_alone(network):
    length = max(map(len, ROWS))
    ids = torch.tensor([row + [0] * (length - len(row)) for row in ROWS])
    mask = torch.tensor([[1] * len(row) + [0] * (length - len(row)) for row in ROWS])
    together = network(ids, mask)
    for number, row in enumerate(ROWS):
        alone = network(torch.tensor([row]))
        for name in ("forward_logits", "backward_logits"):
            assert torch.allclose(together[name][number, : len(row)], alone[name][0], atol=1e-5), (name, number)


@torch.inference_mode()
def test_the_first_token_is_predicted_from_the_mark_before_it(network):
    one, other = (network(torch.tensor([row])) for row in ([5, 6, 7], [9, 10, 11]))
    assert torch.allclose(one.forward_logits[:, 0], other.forward_logits[:, 0], atol=1e-6)
    assert torch.allclose(one.backward_logits[:, -1], other.backward_logits[:, -1], atol=1e-6)
    assert not torch.allclose(one.forward_logits[:, 1], other.forward_logits[:, 1], atol=1e-3)


@torch.inference_mode()
def test_layers_are_those_of_the_network_without_its_softmax(network):
    ids = torch.tensor(ROWS[:1])
    for one, other in zip(network(ids).hidden_states, network.elmo(ids).hidden_states, strict=True):
        assert torch.equal(one, other)


@torch.inference_mode()
def test_a_saved_network_comes_back_with_and_without_its_softmax(network, tmp_path):
    network.save_pretrained(tmp_path)
    whole, report = AutoModelForPreTraining.from_pretrained(tmp_path, output_loading_info=True)
    assert type(whole) is ElmoForPreTraining
    assert not report["missing_keys"] and not report["unexpected_keys"]
    assert whole.softmax.weight is whole.elmo.words.weight
    assert all(torch.equal(value, whole.get_parameter(name)) for name, value in network.named_parameters())
    body = AutoModel.from_pretrained(tmp_path)
    assert type(body) is ElmoModel
    ids = torch.tensor(ROWS[:1])
    wanted = network(ids)
    assert torch.allclose(whole.eval()(ids).forward_logits, wanted.forward_logits, atol=1e-6)
    assert torch.allclose(body.eval()(ids).last_hidden_state, wanted.hidden_states[-1], atol=1e-6)


def test_new_words_start_as_those_of_elmo_do(network):
    table = network.elmo.words.weight
    assert not table[0].any()  # padding
    assert 0.9 < table[1:].abs().max() <= 1
    assert not network.softmax.bias.any()
