"""What is not loaded, and what the visitor is told."""

import json

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import BertConfig, BertModel

from explorer.errors import ModelRefused, ModelUnavailable, UnsuitableModel
from explorer.models import folders
from explorer.models.card import (
    Ability,
    Bundled,
    InstalledPackage,
    LocalFolder,
    ModelCard,
)
from explorer.models.catalogue import CATALOGUE
from explorer.models.loading import load_model
from explorer.models.progress import ignore
from tests.models.small_models import make_card, tiny_bert

MINILM = next(card for card in CATALOGUE if card.name == "all-MiniLM-L6-v2")


def load(card: ModelCard, progress=ignore):
    return load_model(card, device="cpu", progress=progress)


@pytest.mark.parametrize(
    ("ability", "message"),
    [
        (Ability.FILL_BLANKS, "no trained masked language modelling head, so its answers would be random"),
        (Ability.GENERATE, "no trained language modelling head"),
    ],
)
def test_a_head_that_was_never_trained_is_refused(bert_copy, ability, message):
    BertModel(tiny_bert(BertConfig)).save_pretrained(bert_copy)
    with pytest.raises(UnsuitableModel, match=message):
        load(make_card(bert_copy, abilities=frozenset({ability, Ability.EMBED})))
    assert load(make_card(bert_copy, abilities=frozenset({Ability.EMBED}))).limit_tokens == 64


def test_a_body_with_holes_is_refused_whatever_it_is_for(bert_copy):
    weights = load_file(bert_copy / "model.safetensors")
    del weights["bert.encoder.layer.1.output.dense.weight"]
    save_file(weights, bert_copy / "model.safetensors", metadata={"format": "pt"})
    for abilities in ({Ability.EMBED}, {Ability.FILL_BLANKS}):
        with pytest.raises(ModelRefused, match="lacks some of the network's weights"):
            load(make_card(bert_copy, abilities=frozenset(abilities)))


def test_pickled_weights_only_for_a_card_that_says_so(bert_copy):
    weights = load_file(bert_copy / "model.safetensors")
    torch.save(weights, bert_copy / "pytorch_model.bin")
    (bert_copy / "model.safetensors").unlink()
    with pytest.raises(ModelRefused, match=r"only in the pickle format \(\.bin\)"):
        load(make_card(bert_copy))
    model = load(make_card(bert_copy, weights_format="bin"))
    assert torch.equal(model.network.cls.predictions.bias, weights["cls.predictions.bias"])


class Harmful:
    """What unpickling it does is run a command."""

    def __reduce__(self):
        import os

        return os.system, ("touch harmed",)


def test_code_in_pickled_weights_is_not_run(bert_copy, monkeypatch):
    monkeypatch.chdir(bert_copy)
    (bert_copy / "model.safetensors").unlink()
    torch.save({"weight": Harmful()}, bert_copy / "pytorch_model.bin")
    with pytest.raises(ModelRefused, match="damaged, or of a kind"):
        load(make_card(bert_copy, weights_format="bin"))
    assert not (bert_copy / "harmed").exists()


def test_code_beside_a_model_is_not_run(bert_copy, monkeypatch):
    monkeypatch.chdir(bert_copy)
    config = json.loads((bert_copy / "config.json").read_text())
    auto = {"AutoConfig": "theirs.TheirConfig", "AutoModelForMaskedLM": "theirs.TheirModel"}
    (bert_copy / "theirs.py").write_text("open('harmed', 'w')")
    (bert_copy / "config.json").write_text(json.dumps({**config, "auto_map": auto}))
    assert type(load(make_card(bert_copy)).network).__name__ == "BertForMaskedLM"  # the architecture is a known one
    (bert_copy / "config.json").write_text(json.dumps({**config, "auto_map": auto, "model_type": "theirs"}))
    with pytest.raises(ModelRefused):
        load(make_card(bert_copy))
    assert not (bert_copy / "harmed").exists()


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("model.safetensors", b"not a model", "cannot be loaded: its files are damaged"),
        ("config.json", b"{", "damaged"),
        ("config.json", b'{"model_type": "bert", "hidden_size": 64}', "cannot be loaded"),
        ("config.json", b'{"model_type": "bert", "hidden_size": "many"}', "Choose another model"),
        ("config.json", b'{"model_type": "no-such-thing"}', "Choose another model"),
        ("tokenizer.json", b"{}", "tokenizer of Small BERT cannot be read"),
    ],
)
def test_damaged_files_are_refused_without_a_path(bert_copy, file, content, message):
    (bert_copy / file).write_bytes(content)
    with pytest.raises(ModelRefused, match=message) as caught:
        load(make_card(bert_copy))
    assert str(bert_copy) not in str(caught.value)


def test_a_model_without_a_tokenizer_is_refused(bert_copy):
    for file in bert_copy.glob("*token*"):
        file.unlink()
    with pytest.raises(ModelRefused, match="Small BERT has no tokenizer"):
        load(make_card(bert_copy))


def test_a_tokenizer_of_another_model_is_refused(bert_copy):
    (bert_copy / "tokenizer.json").unlink()
    (bert_copy / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n" + "\n".join(map(str, range(40))))
    with pytest.raises(ModelRefused, match="tokenizer, which has 45 tokens where the network knows 15"):
        load(make_card(bert_copy))


def test_a_model_above_the_limit_is_not_loaded(bert_folder, set_settings):
    set_settings(largest_model_gib=0.00005)
    with pytest.raises(ModelRefused, match="Small BERT takes .* KiB, and this explorer loads models of at most 52 KiB"):
        load(make_card(bert_folder))


def test_a_wrong_checksum_is_refused_every_time_and_a_right_one_is_read_once(bert_copy, monkeypatch):
    with pytest.raises(ModelRefused, match="not the published ones"):
        load(make_card(bert_copy, weights_sha256="0" * 64))
    reads = []
    check = folders.check_checksum
    monkeypatch.setattr(folders, "check_checksum", lambda *given: (reads.append(given), check(*given)))
    import hashlib

    sha256 = hashlib.sha256((bert_copy / "model.safetensors").read_bytes()).hexdigest()
    for _ in range(2):
        load(make_card(bert_copy, weights_sha256=sha256))
    assert len(reads) == 1
    with (bert_copy / "model.safetensors").open("ab") as file:
        file.write(b"x")
    with pytest.raises(ModelRefused, match="not the published ones"):
        load(make_card(bert_copy, weights_sha256=sha256))


def test_a_missing_package_names_the_extra_that_installs_it():
    card = make_card(source=InstalledPackage(module="no_such_package", folder="model", extra="offline"))
    with pytest.raises(ModelUnavailable, match=r"pip install '\.\[offline\]'"):
        load(card)


@pytest.mark.parametrize("source", [LocalFolder("/no/such/folder"), Bundled("no-such-folder")])
def test_a_missing_folder(source):
    with pytest.raises(ModelUnavailable, match="The folder of Small BERT does not exist"):
        load(make_card(source=source))
