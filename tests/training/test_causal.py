"""Next tokens: the loss of transformers, no look ahead, and bits per byte by hand."""

import math

import pytest
import torch
from transformers import BertConfig, BertLMHeadModel

from explorer.training.causal import CausalObjective, bits_per_byte, measure_causal
from explorer.training.objectives import measure_held_out
from tests.training.tiny_corpus import VOCABULARY
from tests.training.tiny_networks import make_sampler, seeded, tiny_network, tiny_tokenizer


def decoder_of_bert() -> BertLMHeadModel:
    torch.manual_seed(0)
    sizes = {"vocab_size": 80, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
    return BertLMHeadModel(BertConfig(**sizes, intermediate_size=64, is_decoder=True)).eval()


def forget_all(network):
    """Make a network that expects every token alike."""
    with torch.no_grad():
        network.get_output_embeddings().weight.zero_()
    return network


@pytest.fixture(params=["GPT-2", "BERT"])
def network(request):
    return tiny_network("causal") if request.param == "GPT-2" else decoder_of_bert()


@pytest.fixture
def rows(corpus):
    task = CausalObjective(tiny_network("causal"), tiny_tokenizer("causal"))
    return make_sampler(corpus, task).draw(7, 20)


def test_the_loss_is_that_of_transformers(network, rows):
    loss, reported = CausalObjective(network, tiny_tokenizer("causal")).loss(rows, 0.0, seeded())
    theirs = network(input_ids=rows, labels=rows).loss
    assert loss.item() == reported == pytest.approx(theirs.item(), abs=1e-5)
    weight = network.get_input_embeddings().weight
    ours, reference = (torch.autograd.grad(value, weight)[0] for value in (loss, theirs))
    assert torch.allclose(ours, reference, atol=1e-6)


@torch.inference_mode()
def test_no_token_sees_a_later_one(network, rows):
    changed = rows.clone()
    changed[:, 12] = 5 + (rows[:, 12] - 4) % (len(VOCABULARY) - 5)
    before, after = (network.base_model(ids).last_hidden_state for ids in (rows, changed))
    assert torch.allclose(before[:, :12], after[:, :12], atol=1e-6)
    assert not torch.allclose(before[:, 12:], after[:, 12:], atol=1e-3)


def test_rows_begin_with_a_mark_and_do_not_end_with_one(rows):
    assert rows[:, 0].eq(VOCABULARY.index("[CLS]")).all()
    assert rows[:, 1:].ge(VOCABULARY.index("the")).all()


def test_a_guess_among_all_tokens_by_hand(corpus):
    network, tokenizer = forget_all(tiny_network("causal")), tiny_tokenizer("causal")
    (measured,) = measure_held_out("causal", network, tokenizer, corpus, length_tokens=20)
    text = corpus.held_out[0]
    assert measured.scores["loss"] == pytest.approx(math.log(len(tokenizer)), abs=1e-5)
    bytes_per_token = text.text_bytes / len(text.ids)
    assert measured.scores["bits per byte"] == pytest.approx(math.log2(len(tokenizer)) / bytes_per_token, abs=1e-5)
    assert bits_per_byte(math.log(256), 1.0) == pytest.approx(8.0)


def test_measuring_depends_neither_on_the_batch_nor_on_the_mode(rows):
    network, reports = tiny_network("causal"), []
    for batch_rows, training in ((64, True), (3, False)):  # 7 rows: the last batch of 3 is a single row
        network.train(training)
        reports.append(measure_causal(network, rows, bytes_per_token=4.0, batch_rows=batch_rows))
        assert network.training is training
    assert reports[0].loss_nats == pytest.approx(reports[1].loss_nats, abs=1e-6)
    assert (reports[0].length_tokens, reports[0].predicted) == (20, 7 * 19)
