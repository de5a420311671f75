"""The weights are those that transformers' eager attention returns, of every architecture."""

import copy

import pytest
import torch

from explorer.errors import UnsuitableModel
from explorer.models.attention import head_counts, read_weights, without_heads
from explorer.models.fast_attention import make_readable
from tests.models.attention_networks import NETWORKS, WITHOUT, eager_weights, inputs_of

TOLERANCE = 1e-5


@pytest.fixture(params=NETWORKS)
def network(request):
    torch.manual_seed(0)
    network = NETWORKS[request.param]().eval()
    with torch.no_grad():  # random weights of the usual size attend to everything alike
        for weight in network.parameters():
            if weight.dim() > 1:
                weight.mul_(2 if network.config.model_type in {"t5", "mt5"} else 6)
    return network


@pytest.mark.parametrize("padded", [False, True], ids=["whole", "padded"])
def test_weights_are_those_of_eager_attention(network, padded):
    inputs = inputs_of(network, padded=padded)
    wanted = eager_weights(network, inputs)

    read = read_weights(network, inputs)

    assert list(read) == list(wanted)
    for stack, weights in read.items():
        assert weights.shape == wanted[stack].shape
        assert weights.dtype == torch.float32
        assert (weights - wanted[stack]).abs().max() <= TOLERANCE
        torch.testing.assert_close(weights.sum(dim=-1), torch.ones(weights.shape[:-1]), atol=TOLERANCE, rtol=0)
        assert weights.std(dim=-1).mean() > 0.01  # not all alike, or the comparison would say nothing


def test_heads_are_counted(network):
    wanted = eager_weights(network, inputs_of(network))
    assert head_counts(network) == {stack: (len(weights), weights.shape[2]) for stack, weights in wanted.items()}


def test_logits_are_those_of_fast_attention(network):
    inputs = inputs_of(network, padded=True)
    with torch.inference_mode():
        before = network(**inputs)[0]
        make_readable(network)
        after = network(**inputs)[0]
        read_weights(network, inputs)
        with without_heads(network, []):
            nothing_off = network(**inputs)[0]
        later = network(**inputs)[0]
    assert torch.equal(before, after)
    assert torch.equal(before, nothing_off)
    assert torch.equal(before, later)


@pytest.mark.parametrize("name", WITHOUT)
def test_a_network_without_readable_attention_says_so(name):
    with pytest.raises(UnsuitableModel, match="attention|compare"):
        read_weights(WITHOUT[name]().eval(), {"input_ids": torch.tensor([[5, 6, 7]])})


@pytest.mark.parametrize("name", ["bert", "albert", "deberta", "t5"])
def test_only_the_layers_asked_for_are_shown(name):
    torch.manual_seed(0)
    network = NETWORKS[name]().eval()
    inputs = inputs_of(network)
    whole = read_weights(network, inputs)
    some = read_weights(network, inputs, layers=[2, 0])
    for stack, weights in whole.items():
        kept = [layer for layer in (0, 2) if layer < len(weights)]
        assert torch.equal(some[stack], weights[kept])
    with torch.inference_mode():
        before = network(**inputs)[0]
        read_weights(network, inputs, layers=[0])
        assert torch.equal(network(**inputs)[0], before)


def test_a_pass_ends_with_the_last_layer_that_is_asked_for():
    network = NETWORKS["bert"]().eval()
    head_counts(network)
    ran = []
    for number, layer in enumerate(network.bert.encoder.layer):
        layer.register_forward_hook(lambda *_, number=number: ran.append(number))
    read_weights(network, inputs_of(network), layers=[1])
    assert ran == [0]  # layer 1 began, and nothing came after its attention


@pytest.mark.parametrize("name", ["bert", "llama", "t5", "gpt2"])
def test_half_precision_gives_float32_weights_whose_rows_sum_to_1(name):
    torch.manual_seed(0)
    network = NETWORKS[name]().eval()
    inputs = inputs_of(network, padded=True)
    wanted = read_weights(network, inputs)
    for stack, weights in read_weights(network.to(torch.bfloat16), inputs).items():
        assert weights.dtype == torch.float32
        torch.testing.assert_close(weights.sum(dim=-1), torch.ones(weights.shape[:-1]), atol=TOLERANCE, rtol=0)
        torch.testing.assert_close(weights, wanted[stack], atol=0.05, rtol=0)


def test_the_name_of_the_implementation_is_not_saved(tmp_path):
    network = NETWORKS["bert"]().eval()
    make_readable(network)
    network.save_pretrained(tmp_path)
    assert "explorer" not in (tmp_path / "config.json").read_text()
    assert type(network).from_pretrained(tmp_path).config._attn_implementation == "sdpa"


def test_a_readable_network_can_be_trained_and_copied():
    network = NETWORKS["gpt2"]()
    make_readable(network)
    inputs = inputs_of(network)
    twin = copy.deepcopy(network).eval()
    network.eval()(**inputs, labels=inputs["input_ids"]).loss.backward()
    assert all(weight.grad is not None for weight in network.parameters())
    for stack, weights in read_weights(twin, inputs).items():
        assert torch.equal(weights, read_weights(network, inputs)[stack])
    assert type(network)(network.config).config._attn_implementation == "explorer"
