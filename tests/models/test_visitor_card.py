"""Cards for models that visitors name: of the Hub, and of the folder that the operator opened."""

import json
import shutil

import pytest

from explorer.errors import ModelRefused, ModelUnavailable, UnsuitableModel
from explorer.models.card import Ability, HubRepository, LocalFolder
from explorer.models.loading import load_model
from explorer.models.progress import ignore
from explorer.models.visitor_card import visitor_card
from tests.models.hub_server import Repository
from tests.models.small_models import contents

COMMIT = "a" * 40
SMALL = {"hidden_size": 32, "n_embd": 32, "d_model": 32, "vocab_size": 15, "num_hidden_layers": 1, "n_layer": 1}
SMALL |= {"num_attention_heads": 2, "n_head": 2}


@pytest.fixture
def repository(hub, bert_folder) -> Repository:
    hub.repositories["people/small"] = Repository(contents(bert_folder), commit=COMMIT, licence="mit")
    return hub.repositories["people/small"]


def change_config(repository: Repository, **changes) -> None:
    config = json.loads(repository.files["config.json"])
    repository.files["config.json"] = json.dumps({**config, **changes}).encode()


def test_a_hub_model_gets_a_card_before_anything_large_is_downloaded(hub, repository):
    card = visitor_card(" people/small ")
    assert card.name == "people/small"
    assert card.source == HubRepository("people/small", COMMIT)
    assert card.model_type == "bert"
    assert card.abilities == {Ability.FILL_BLANKS, Ability.EMBED}
    assert card.weights_bytes == len(repository.files["model.safetensors"])
    assert card.licence == "mit"
    assert card.paper_url == "https://huggingface.co/people/small"
    assert [sent.path.split("?")[0] for sent in hub.sent if sent.body_bytes] == [
        "/api/models/people/small/revision/main",
        f"/people/small/resolve/{COMMIT}/config.json",
    ]


def test_and_the_card_loads(repository):
    card = visitor_card("people/small")
    repository.commit = "b" * 40  # what is added to the repository meanwhile changes nothing
    with pytest.raises(ModelUnavailable, match="no longer has the pinned revision"):
        load_model(card, device="cpu", progress=ignore)
    repository.commit = COMMIT
    model = load_model(card, device="cpu", progress=ignore)
    assert type(model.network).__name__ == "BertForMaskedLM"
    assert model.card.parameters == sum(weight.numel() for weight in model.network.parameters())


@pytest.mark.parametrize(
    ("model_type", "architecture", "abilities"),
    [
        ("bert", "BertForPreTraining", {Ability.FILL_BLANKS, Ability.NEXT_SENTENCE}),
        ("bert", "BertModel", set()),
        ("bert", "BertForSequenceClassification", set()),
        ("electra", "ElectraForPreTraining", {Ability.DETECT_REPLACED}),
        ("gpt2", "GPT2LMHeadModel", {Ability.GENERATE}),
        ("llama", "LlamaForCausalLM", {Ability.GENERATE}),
        ("t5", "T5ForConditionalGeneration", {Ability.FILL_SPANS}),
        ("m2m_100", "M2M100ForConditionalGeneration", set()),
    ],
)
def test_abilities_follow_the_class_of_the_checkpoint(repository, model_type, architecture, abilities):
    config = {**SMALL, "model_type": model_type, "architectures": [architecture]}
    repository.files["config.json"] = json.dumps(config).encode()
    assert visitor_card("people/small").abilities == abilities | {Ability.EMBED}


def test_a_sentence_encoder_is_known_by_its_modules(repository):
    change_config(repository, architectures=None)
    repository.files["modules.json"] = b"[]"
    assert visitor_card("people/small").abilities == {Ability.EMBED, Ability.EMBED_SENTENCES}


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"model_type": "theirs", "auto_map": {"AutoModel": "theirs.Model"}}, ModelRefused, "needs code of its own"),
        ({"model_type": "theirs"}, UnsuitableModel, r"of a kind \('theirs'\) not known here"),
        ({"model_type": ["bert"]}, UnsuitableModel, "not known here"),
        ({"model_type": None}, UnsuitableModel, "not known here"),
        ({"model_type": "vit"}, UnsuitableModel, "not known here"),
        ({"num_hidden_layers": 10**6}, ModelRefused, "more than 512 layers"),
        ({"text_config": {"n_layer": 10**6}}, ModelRefused, "more than 512 layers"),
        ({"model_type": "albert", "inner_group_num": 20_000}, ModelRefused, "more than 512 layers"),
        ({"hidden_size": 2**20, "intermediate_size": 2**20}, ModelRefused, "far larger network than its weights fill"),
        ({"max_position_embeddings": 10**12}, ModelRefused, "far larger network than its weights fill"),
        ({"hidden_size": "many"}, ModelRefused, "config.json of people/small cannot be understood"),
        ({"num_attention_heads": 5}, ModelRefused, "cannot be understood"),
        ({"quantization_config": {"quant_method": "gptq"}}, UnsuitableModel, "quantized copy"),
    ],
)
def test_what_cannot_be_used_is_said(repository, changes, error, message):
    change_config(repository, **changes)
    with pytest.raises(error, match=message):
        visitor_card("people/small")


def test_unsafe_formats_adapters_and_damage_are_refused(repository):
    files = dict(repository.files)
    weights = repository.files.pop("model.safetensors")
    repository.files["pytorch_model.bin"] = weights
    with pytest.raises(ModelRefused, match="pickle format"):
        visitor_card("people/small")
    repository.files = files | {"adapter_config.json": b"{}"}
    with pytest.raises(ModelRefused, match="adapter to another model"):
        visitor_card("people/small")
    for content in (b"not json", b"[]"):
        repository.files = files | {"config.json": content}
        repository.commit = content.hex().ljust(40, "0")
        with pytest.raises(ModelRefused, match="config.json of people/small is damaged"):
            visitor_card("people/small")


def test_too_large_and_gated_are_said_from_the_listing_alone(hub, repository):
    repository.sizes_bytes["model.safetensors"] = 70 * 2**30
    with pytest.raises(ModelRefused, match=r"people/small takes 70\.0 GiB"):
        visitor_card("people/small")
    repository.sizes_bytes.clear()
    repository.gated = True
    with pytest.raises(ModelUnavailable, match="people/small is gated"):
        visitor_card("people/small")
    assert len(hub.sent) == 2


def test_names_that_are_none(hub, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people" / "small").mkdir(parents=True)
    for given in ("../../etc/passwd", "/etc", str(tmp_path), "people/small", "a/b/c", "<script>", "a\0b", "x" * 5000):
        with pytest.raises(ModelRefused, match="is not the name of a Hub model") as caught:
            visitor_card(given)
        assert len(str(caught.value)) < 400
    with pytest.raises(ModelRefused, match="Type the name"):
        visitor_card("  ")
    assert hub.sent == []


def test_missing(hub):
    with pytest.raises(ModelUnavailable, match="The Hub has no public model people/none"):
        visitor_card("people/none")


def test_the_operator_can_switch_the_hub_off(hub, repository, set_settings):
    set_settings(hub_models=0)
    with pytest.raises(ModelRefused, match="switched off here"):
        visitor_card("people/small")
    assert hub.sent == []


@pytest.fixture
def opened(tmp_path, bert_folder, set_settings):
    """A folder that the operator opened, with a model in it, and one that it must not lead to."""
    root = tmp_path / "opened"
    shutil.copytree(bert_folder, root / "course" / "bert")
    shutil.copytree(bert_folder, tmp_path / "secret")
    set_settings(local_models=root, hub_models=0)
    return root


def test_a_local_folder(opened):
    for given in ("course/bert", str(opened / "course" / "bert"), "course/../course/bert/"):
        card = visitor_card(given)
        assert card.name == "course/bert"
        assert card.source == LocalFolder(str(opened / "course" / "bert"))
        assert card.abilities == {Ability.FILL_BLANKS, Ability.EMBED}
    assert load_model(card, device="cpu", progress=ignore).limit_tokens == 64


def test_only_beneath_the_folder_that_was_opened(opened, tmp_path):
    (opened / "link").symlink_to(tmp_path / "secret")
    for given in (
        "../secret",
        str(tmp_path / "secret"),
        "link",
        ".",
        str(opened),
        "course/bert/../../../secret",
        "a\0b",
        "x" * 5000,
    ):
        with pytest.raises(ModelRefused, match="switched off here"):  # neither a folder nor, here, a Hub model
            visitor_card(given)


def test_a_link_inside_a_model_that_leads_out_is_refused(opened, tmp_path):
    weights = opened / "course" / "bert" / "model.safetensors"
    weights.unlink()
    weights.symlink_to(tmp_path / "secret" / "model.safetensors")
    with pytest.raises(ModelRefused, match=r"model\.safetensors of course/bert is a link") as caught:
        visitor_card("course/bert")
    assert str(tmp_path) not in str(caught.value)


def test_a_local_folder_without_safe_weights(opened):
    (opened / "course" / "bert" / "model.safetensors").rename(opened / "course" / "bert" / "pytorch_model.bin")
    with pytest.raises(ModelRefused, match="course/bert has its weights only in the pickle format"):
        visitor_card("course/bert")
    with pytest.raises(ModelRefused, match="course has no weights"):
        visitor_card("course")


def test_no_folder_is_open_by_default(hub, bert_folder):
    with pytest.raises(ModelRefused, match="is not the name of a Hub model"):
        visitor_card(str(bert_folder))
