"""Networks that begin with a published encoder: what is kept, what is shared, and what is new."""

import pytest
import torch
from transformers import BertConfig, BertModel, EncoderDecoderConfig, EncoderDecoderModel

from explorer.models.warm_start import build_on_encoder, share_layers, starting_weights
from tests.models.small_models import tiny_bert

KINDS = ("masked", "causal", "span")
TABLE = "embeddings.word_embeddings.weight"


@pytest.fixture(scope="module")
def encoder() -> BertModel:
    torch.manual_seed(9)
    return BertModel(tiny_bert(BertConfig)).eval()


@pytest.fixture(scope="module")
def weights(encoder) -> dict[str, torch.Tensor]:
    return encoder.state_dict()


def config_of(kind: str):
    """BERT with a masked head, as a decoder, or two of them."""
    config = tiny_bert(BertConfig)
    if kind == "masked":
        return config
    decoder = BertConfig.from_dict({**config.to_dict(), "is_decoder": True, "bos_token_id": 2, "eos_token_id": 3})
    if kind == "causal":
        return decoder
    decoder.add_cross_attention = True
    both = EncoderDecoderConfig.from_encoder_decoder_configs(config, decoder, pad_token_id=0)
    both.decoder_start_token_id = 2
    return both


def build(kind: str, weights, *, seed: int = 0):
    return build_on_encoder(config_of(kind), weights, seed=seed)


def new_names(network, weights) -> set[str]:
    return {name for name, _ in network.named_parameters()} - set(starting_weights(network, weights))


@pytest.mark.parametrize("kind", KINDS)
def test_what_the_encoder_has_is_kept_and_the_rest_is_a_head(kind, weights):
    network = build(kind, weights)
    state = network.state_dict()
    kept = {name: value for name, value in starting_weights(network, weights).items() if "pooler." not in name}
    assert set(kept) <= set(state)
    assert all(torch.equal(state[name], value) for name, value in kept.items())
    inside = "decoder.cls." if kind == "span" else "cls."
    allowed = (inside, "decoder.bert.encoder.layer") if kind == "span" else (inside,)
    assert all(name.startswith(allowed) for name in new_names(network, weights))
    norms = {name for name in new_names(network, weights) if not name.startswith(inside)}
    assert all(".crossattention." in name for name in norms)


@torch.inference_mode()
def test_the_layers_compute_what_the_encoder_did(encoder, weights):
    ids = torch.tensor([[2, 5, 7, 11, 3]])
    wanted = encoder(ids).last_hidden_state
    for body in (build("masked", weights).eval().bert, build("span", weights).eval().encoder):
        assert torch.allclose(body(ids).last_hidden_state, wanted, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_input_and_predictions_share_one_table(kind, weights):
    network = build(kind, weights)
    table = network.get_input_embeddings().weight
    assert network.get_output_embeddings().weight is table
    assert torch.equal(table, weights[TABLE])


def test_a_decoder_uses_the_encoders_own_layers(weights):
    network = build("span", weights)
    shared = dict(network.encoder.named_parameters())
    own = set()
    for name, value in network.decoder.bert.named_parameters():
        if ".crossattention." in name:
            own.add(name)
        else:
            assert value is shared[name], name
    assert len(own) == 2 * 10  # of each layer: query, key, value, output and norm, with their biases


def test_layers_are_shared_again_after_saving_and_loading(weights, tmp_path):
    network = build("span", weights)
    network.save_pretrained(tmp_path, state_dict={name: value.clone() for name, value in network.state_dict().items()})
    again, report = EncoderDecoderModel.from_pretrained(tmp_path, output_loading_info=True)
    assert not report["missing_keys"]
    share_layers(again)
    assert again.num_parameters() == network.num_parameters()
    ids = torch.tensor([[2, 5, 7, 3]])
    one, other = (each.eval()(ids, decoder_input_ids=ids[:, :2]).logits for each in (network, again))
    assert torch.allclose(one, other, atol=1e-6)


def test_a_step_of_training_keeps_the_layers_shared(weights):
    network = build("span", weights)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    ids = torch.tensor([[2, 5, 7, 3]])
    network(ids, decoder_input_ids=ids).logits.square().mean().backward()
    optimizer.step()
    name = "encoder.layer.1.output.dense.weight"
    assert torch.equal(network.encoder.get_parameter(name), network.decoder.bert.get_parameter(name))
    assert not torch.equal(network.encoder.get_parameter(name), weights[name])


@pytest.mark.parametrize("kind", KINDS)
def test_the_seed_decides_what_is_new(kind, weights):
    networks = [build(kind, weights, seed=seed) for seed in (1, 1, 2)]
    new = new_names(networks[0], weights)
    one, same, other = ({name: network.get_parameter(name) for name in new} for network in networks)
    assert all(torch.equal(one[name], same[name]) for name in new)
    assert any(not torch.equal(one[name], other[name]) for name in new)


def test_the_random_numbers_of_others_are_not_disturbed(weights):
    torch.manual_seed(5)
    wanted = torch.rand(3)
    torch.manual_seed(5)
    build("masked", weights)
    assert torch.equal(torch.rand(3), wanted)


@pytest.mark.parametrize("kind", KINDS)
def test_the_names_to_start_from_are_names_of_the_network(kind, weights):
    network = build(kind, weights)
    names = {name for name, _ in network.named_parameters(remove_duplicate=False)}
    assert all(name in names or "pooler." in name for name in starting_weights(network, weights))
