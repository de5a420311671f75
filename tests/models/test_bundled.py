"""What is shipped of a model makes the model again, or is refused."""

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoModelForPreTraining,
    AutoModelForSeq2SeqLM,
    BertConfig,
    BertModel,
    ElectraConfig,
    GPT2Config,
    T5Config,
)

from explorer.errors import ModelRefused
from explorer.models.bundled import build_bundled
from explorer.models.delta import FILE, write_delta
from explorer.models.elmo import ElmoConfig
from explorer.models.warm_start import build_on_encoder, starting_weights
from tests.models.small_models import tiny_bert
from tests.models.test_warm_start import config_of

MARKS = {"pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3}
FAMILIES = {
    "bert": (tiny_bert(BertConfig), AutoModelForMaskedLM),
    "bert with both heads": (tiny_bert(BertConfig), AutoModelForPreTraining),
    "electra": (tiny_bert(ElectraConfig), AutoModelForPreTraining),
    "gpt2": (GPT2Config(vocab_size=15, n_embd=32, n_layer=2, n_head=2, n_positions=64, **MARKS), AutoModelForCausalLM),
    "t5": (
        T5Config(vocab_size=15, d_model=32, d_kv=16, d_ff=64, num_layers=1, num_heads=2, decoder_start_token_id=2),
        AutoModelForSeq2SeqLM,
    ),
    "elmo": (
        ElmoConfig(input="tokens", vocab_size=15, projection_dim=16, lstm_dim=24, tie_word_embeddings=True, **MARKS),
        AutoModelForPreTraining,
    ),
}
BITS = (8, 4)
family = pytest.mark.parametrize("name", FAMILIES)


def train(network, seed: int = 1):
    """Change every weight, as training does."""
    torch.manual_seed(seed)
    with torch.no_grad():
        for value in network.parameters():
            value += 0.02 * torch.randn_like(value)
    return network.eval()


def assert_close(made, wanted, *, changes=None, bits: int = 8) -> None:
    """Each weight is within half a level of what it was, or within bfloat16's rounding."""
    changes = changes or {}
    for name, value in wanted.named_parameters():
        off = (made.get_parameter(name) - value).abs().max()
        largest = changes.get(name, value).abs().max()
        assert off <= 0.52 * largest / {8: 127, 4: 7}[bits] + 1e-6, name


@family
@pytest.mark.parametrize("bits", BITS)
def test_a_model_from_nothing_comes_back(name, bits, tmp_path):
    config, kind = FAMILIES[name]
    trained = train(kind.from_config(config))
    write_delta(trained, {}, tmp_path, bits=bits)
    config.save_pretrained(tmp_path)
    torch.manual_seed(99)
    made = build_bundled("A mini", tmp_path, None, AutoConfig.from_pretrained(tmp_path), kind)
    assert type(made) is type(trained)
    assert_close(made, trained, bits=bits)
    assert made.num_parameters() == trained.num_parameters()  # one table for input and predictions


@family
def test_a_model_that_comes_back_answers_alike(name, tmp_path):
    config, kind = FAMILIES[name]
    trained = train(kind.from_config(config))
    write_delta(trained, {}, tmp_path)
    made = build_bundled("A mini", tmp_path, None, config, kind).eval()
    ids = torch.tensor([[2, 5, 7, 9, 3]])
    given = {"input_ids": ids} | ({"decoder_input_ids": ids[:, :3]} if name == "t5" else {})
    with torch.inference_mode():
        one, other = (next(iter(network(**given).values())) for network in (made, trained))
    assert torch.allclose(one, other, atol=0.05 * other.abs().max())


@family
def test_a_model_that_lacks_a_weight_is_refused(name, tmp_path):
    config, kind = FAMILIES[name]
    write_delta(kind.from_config(config), {}, tmp_path)
    whole = load_file(tmp_path / FILE)
    needed = [key for key in whole if not key.endswith(".scale") and "pooler." not in key]
    for lacking in (needed[0], needed[-1]):
        save_file({key: value for key, value in whole.items() if key != lacking}, tmp_path / FILE)
        with pytest.raises(ModelRefused, match="A mini are not whole; get a fresh copy of the project"):
            build_bundled("A mini", tmp_path, None, config, kind)


def test_a_missing_or_damaged_file_is_refused(tmp_path):
    config, kind = FAMILIES["gpt2"]
    with pytest.raises(ModelRefused, match="get a fresh copy"):
        build_bundled("A mini", tmp_path, None, config, kind)
    write_delta(kind.from_config(config), {}, tmp_path)
    (tmp_path / FILE).write_bytes((tmp_path / FILE).read_bytes()[:-100])
    with pytest.raises(ModelRefused, match="get a fresh copy"):
        build_bundled("A mini", tmp_path, None, config, kind)


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """A published encoder's folder."""
    folder = tmp_path_factory.mktemp("base")
    torch.manual_seed(7)
    BertModel(tiny_bert(BertConfig)).save_pretrained(folder)
    return folder


@pytest.mark.parametrize("kind", ["masked", "causal", "span"])
def test_what_was_added_to_an_encoder_makes_the_model_again(kind, base, tmp_path):
    published = load_file(base / "model.safetensors")
    network = build_on_encoder(config_of(kind), published, seed=3)
    begun = starting_weights(network, published)
    trained = train(network)
    write_delta(trained, begun, tmp_path)
    config_of(kind).save_pretrained(tmp_path)
    made = build_bundled("A delta", tmp_path, base, AutoConfig.from_pretrained(tmp_path))
    changes = {
        name: trained.get_parameter(name) - begun[name] for name, _ in trained.named_parameters() if name in begun
    }
    assert len(changes) > 20
    assert_close(made, trained, changes=changes)
    assert made.num_parameters() == trained.num_parameters()  # what was shared is shared
    stored = {name.rpartition(".")[2] for name in load_file(tmp_path / FILE)}
    assert stored >= {"change", "scale"}


def test_a_weight_that_neither_has_is_refused(base, tmp_path):
    published = load_file(base / "model.safetensors")
    network = build_on_encoder(config_of("span"), published)
    write_delta(train(network), starting_weights(network, published), tmp_path)
    stored = load_file(tmp_path / FILE)
    lacking = next(name for name in stored if ".cls." in name)
    save_file({name: value for name, value in stored.items() if name != lacking}, tmp_path / FILE)
    with pytest.raises(ModelRefused, match="A delta are not whole"):
        build_bundled("A delta", tmp_path, base, config_of("span"))
