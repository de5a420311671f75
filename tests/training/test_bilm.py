"""Two directions: neither sees what it is to predict, and each has the loss of its own predictions."""

import math

import pytest
import torch
from torch.nn import functional

from explorer.training.bilm import BilmObjective, bilm_losses, measure_bilm
from explorer.training.objectives import measure_held_out
from tests.training.tiny_corpus import VOCABULARY
from tests.training.tiny_networks import make_sampler, seeded, tiny_network, tiny_tokenizer


@pytest.fixture
def network():
    return tiny_network("bilm")


@pytest.fixture
def rows(corpus, network):
    return make_sampler(corpus, BilmObjective(network, tiny_tokenizer("bilm"))).draw(7, 20)


@torch.inference_mode()
def test_neither_direction_sees_the_token_that_it_predicts(network, rows):
    changed = rows.clone()
    changed[:, 12] = 5 + (rows[:, 12] - 4) % (len(VOCABULARY) - 5)
    lengths = torch.full((len(rows),), rows.shape[1])
    before, after = (network.directions(ids, lengths) for ids in (rows, changed))
    assert torch.allclose(before[0][:, :13], after[0][:, :13], atol=1e-6)  # the twelfth is predicted from the left
    assert not torch.allclose(before[0][:, 13], after[0][:, 13], atol=1e-3)
    assert torch.allclose(before[1][:, 12:], after[1][:, 12:], atol=1e-6)
    assert not torch.allclose(before[1][:, 11], after[1][:, 11], atol=1e-3)


def test_the_loss_is_that_of_the_networks_predictions(network, rows):
    loss, reported = BilmObjective(network, tiny_tokenizer("bilm")).loss(rows, 0.0, seeded())
    predictions = network(rows)
    sides = [
        functional.cross_entropy(logits.flatten(0, 1), rows.flatten())
        for logits in (predictions.forward_logits, predictions.backward_logits)
    ]
    assert [each.item() for each in bilm_losses(network, rows)] == pytest.approx([s.item() for s in sides], abs=1e-5)
    assert loss.item() == reported == pytest.approx(sum(sides).item() / 2, abs=1e-5)
    ours, theirs = (torch.autograd.grad(value, network.softmax.weight)[0] for value in (loss, sum(sides) / 2))
    assert torch.allclose(ours, theirs, atol=1e-6)


def test_a_guess_among_all_tokens_by_hand(corpus, network):
    tokenizer = tiny_tokenizer("bilm")
    with torch.no_grad():
        network.softmax.weight.zero_()
    measured = measure_held_out("bilm", network, tokenizer, corpus, length_tokens=20)
    text = corpus.held_out[0]
    assert [each.what for each in measured] == ["next token", "token before"]
    for each in measured:
        assert each.scores["loss"] == pytest.approx(math.log(len(tokenizer)), abs=1e-5)
        bits = math.log2(len(tokenizer)) * len(text.ids) / text.text_bytes
        assert each.scores["bits per byte"] == pytest.approx(bits, abs=1e-5)


def test_the_rows_own_first_and_last_tokens_are_predicted_too(network, rows):
    reports = measure_bilm(network, rows, bytes_per_token=4.0)
    assert [(report.length_tokens, report.predicted) for report in reports] == [(22, 7 * 20)] * 2


def test_measuring_depends_neither_on_the_batch_nor_on_the_mode(network, rows):
    losses = []
    for batch_rows, training in ((64, True), (3, False)):
        network.train(training)
        losses.append(
            [each.loss_nats for each in measure_bilm(network, rows, bytes_per_token=4.0, batch_rows=batch_rows)]
        )
        assert network.training is training
    assert losses[0] == pytest.approx(losses[1], abs=1e-6)
