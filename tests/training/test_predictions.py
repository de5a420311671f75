"""The loss without all its logits against torch's own, and each family's head against the family's own."""

import math

import pytest
import torch
from torch.nn import functional
from torch.utils.flop_counter import FlopCounterMode
from transformers import BertConfig, BertLMHeadModel, EncoderDecoderConfig, EncoderDecoderModel, T5Config
from transformers import T5ForConditionalGeneration as T5

from explorer.training.predictions import CHUNK_ROWS, head_inputs, linear_cross_entropy, prediction_loss
from explorer.training.replaced import new_generator
from tests.training.tiny_networks import seeded, tiny_network

BERT = {
    "vocab_size": 40,
    "hidden_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 16,
    "hidden_dropout_prob": 0.0,
}


def make_case(rows: int, *, bias: bool = True) -> tuple[torch.Tensor, ...]:
    """Inputs, weight, bias, targets; the first three to be learnt."""
    random = seeded()
    inputs, weight, offset = (torch.randn(size, generator=random) for size in ((rows, 12), (50, 12), (50,)))
    learnt = [part.requires_grad_() for part in (inputs, weight, *([offset] if bias else []))]
    return *learnt, *([] if bias else [None]), torch.randint(50, (rows,), generator=random)


def reference(inputs, weight, bias, targets) -> torch.Tensor:
    return functional.cross_entropy(functional.linear(inputs, weight, bias).float(), targets)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("rows", [1, CHUNK_ROWS, 2 * CHUNK_ROWS + 7])
def test_value_and_gradients_are_those_of_cross_entropy(rows, bias):
    *parts, targets = case = make_case(rows, bias=bias)
    learnt = [part for part in parts if part is not None]
    ours, theirs = linear_cross_entropy(*case), reference(*case)
    assert ours.item() == pytest.approx(theirs.item(), abs=1e-6)
    pairs = zip(torch.autograd.grad(3 * ours, learnt), torch.autograd.grad(3 * theirs, learnt), strict=True)
    for one, other in pairs:  # three times the loss: what comes after it in the graph counts
        assert torch.allclose(one, other, atol=1e-6)


def test_products_of_half_precision_are_close():
    *learnt, _ = case = make_case(CHUNK_ROWS + 5)
    with torch.autocast("cpu", torch.bfloat16):
        ours = linear_cross_entropy(*case)
    assert ours.dtype == torch.float32
    assert ours.item() == pytest.approx(reference(*case).item(), rel=5e-3)
    for one, other in zip(
        torch.autograd.grad(ours, learnt), torch.autograd.grad(reference(*case), learnt), strict=True
    ):
        assert one.dtype == torch.float32
        assert (one - other).norm() < 0.01 * other.norm()


def test_nothing_to_predict_is_no_loss_and_changes_nothing():
    *learnt, _ = case = make_case(0)
    loss = linear_cross_entropy(*case)
    assert loss.item() == 0.0
    assert all(not gradient.any() for gradient in torch.autograd.grad(loss, learnt))


@pytest.mark.parametrize("frozen", [0, 1, 2])
def test_what_is_frozen_gets_no_gradient_and_the_rest_the_same(frozen):
    *learnt, _ = case = make_case(9)
    wanted = torch.autograd.grad(reference(*case), learnt)
    learnt[frozen].requires_grad_(False)
    linear_cross_entropy(*case).backward()
    for k, part in enumerate(learnt):
        assert (part.grad is None) if k == frozen else torch.allclose(part.grad, wanted[k], atol=1e-6)


@pytest.mark.parametrize("reading", [torch.no_grad, torch.inference_mode])
def test_measuring_computes_no_gradients(reading):
    case = make_case(9)
    with FlopCounterMode(display=False) as learning:
        loss = linear_cross_entropy(*case)
    with reading(), FlopCounterMode(display=False) as counter:
        measured = linear_cross_entropy(*case)
    assert measured.item() == loss.item()
    assert counter.get_total_flops() == learning.get_total_flops() / 3 > 0


def tied(*, scaled: bool) -> T5:
    torch.manual_seed(0)
    sizes = {"vocab_size": 40, "d_model": 16, "d_kv": 8, "d_ff": 16, "num_layers": 1, "num_heads": 2}
    return T5(T5Config(**sizes, decoder_start_token_id=0, tie_word_embeddings=scaled)).eval()


def two_berts() -> EncoderDecoderModel:
    torch.manual_seed(0)
    decoder = BertConfig(**BERT, is_decoder=True, add_cross_attention=True)
    return EncoderDecoderModel(EncoderDecoderConfig.from_encoder_decoder_configs(BertConfig(**BERT), decoder)).eval()


@pytest.mark.parametrize(
    "make",
    [
        lambda: tiny_network("masked"),
        lambda: tiny_network("causal"),
        lambda: BertLMHeadModel(BertConfig(**BERT, is_decoder=True)).eval(),
        lambda: new_generator(tiny_network("replaced"), 0).eval(),
    ],
    ids=["BERT", "GPT-2", "BERT as a decoder", "ELECTRA's generator"],
)
@torch.inference_mode()
def test_what_the_head_is_given_makes_the_networks_own_logits(make):
    network, ids = make(), torch.randint(5, 40, (2, 7), generator=seeded())
    hidden = network.base_model(ids).last_hidden_state
    logits = network(ids).logits
    assert torch.allclose(network.get_output_embeddings()(head_inputs(network, hidden)), logits, atol=1e-5)
    loss = prediction_loss(network, hidden[:, 2], ids[:, 3])
    assert loss.item() == pytest.approx(functional.cross_entropy(logits[:, 2], ids[:, 3]).item(), abs=1e-5)


@pytest.mark.parametrize(
    "make",
    [lambda: tied(scaled=True), lambda: tied(scaled=False), two_berts],
    ids=["T5", "T5 1.1, which does not scale", "two BERTs"],
)
@torch.inference_mode()
def test_a_decoders_head_makes_the_networks_own_logits(make):
    network, ids = make(), torch.randint(5, 40, (2, 7), generator=seeded())
    memory = network.get_encoder()(ids).last_hidden_state
    decoder = network.get_decoder().base_model
    hidden = decoder(input_ids=ids[:, :3], encoder_hidden_states=memory).last_hidden_state
    logits = network(input_ids=ids, decoder_input_ids=ids[:, :3]).logits
    assert torch.allclose(network.get_output_embeddings()(head_inputs(network, hidden)), logits, atol=1e-5)


def test_a_head_that_expects_all_tokens_alike_has_the_loss_of_a_guess():
    loss = linear_cross_entropy(torch.randn(5, 4), torch.zeros(50, 4), None, torch.arange(5))
    assert loss.item() == pytest.approx(math.log(50), abs=1e-6)
