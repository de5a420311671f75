"""A stranger's config.json: refused, or understood, in little time and memory; never a fault, whatever stands in it."""

import json
import random
import time
from copy import deepcopy

import pytest
from transformers import CONFIG_MAPPING

from explorer.errors import ExplorerError, ModelRefused
from explorer.models.loading import load_model
from explorer.models.model_files import LARGEST_CONFIG_BYTES, LARGEST_TOKENIZER_BYTES
from explorer.models.progress import ignore
from explorer.models.visitor_card import MOST_TOKENS, visitor_card
from tests.models.hub_server import Repository
from tests.models.small_models import contents, make_card

WORKING_SECONDS = 5.0  # of its own thread, where what this must keep out takes minutes, or all memory
VALUES = (0, -1, 1, 7, 513, 10**6, 2**31, 2**40, 1.5, float("inf"), float("nan"), -1e300, "", "gelu", "../../etc")
VALUES += (None, True, [], [1], [1, 2, 3] * 5, ["full_attention"] * 3, {}, {"a": 1}, {"rope_type": "dynamic"}, [[1]])
FEW = ("bert", "albert", "gpt2", "llama", "t5", "bart", "funnel", "reformer", "xlnet", "mobilebert", "electra")


@pytest.fixture
def repository(hub, bert_folder) -> Repository:
    hub.repositories["people/small"] = Repository(contents(bert_folder))
    return hub.repositories["people/small"]


@pytest.fixture
def opened(bert_copy, set_settings):
    """The folder of a model, beneath the one that the operator opened."""
    set_settings(local_models=bert_copy.parent, hub_models=0)
    return bert_copy


def change(config: bytes, **changes) -> bytes:
    return json.dumps({**json.loads(config), **changes}).encode()


@pytest.mark.parametrize(
    "changes",
    [
        {"num_labels": 20_000_000},  # took 3.8 GB: transformers names each
        {"id2label": {"0": "x", "many": []}, "label2id": 7},
        {"text_config": {"num_labels": 20_000_000}},
        {"attn_implementation": "people/kernels", "_attn_implementation": "people/kernels"},
        {"experts_implementation": "people/kernels", "auto_map": {"AutoModel": "theirs.Model"}},
        {"vocab_size_per_layer_input": 262_144, "moe_shared_expert_intermediate_size": 7688},  # Gemma's, Nemotron's
    ],
)
def test_what_is_not_for_language_models_is_not_even_read(opened, changes):
    (opened / "config.json").write_bytes(change((opened / "config.json").read_bytes(), **changes))
    start = time.thread_time()
    card = visitor_card(opened.name)
    assert time.thread_time() - start < WORKING_SECONDS
    config = load_model(card, device="cpu", progress=ignore).network.config
    assert config.num_labels == 2 and config._attn_implementation == "explorer"


@pytest.mark.parametrize(
    "changes",
    [
        {"model_type": "xlstm", "num_blocks": 10**6},
        {"model_type": "mobilebert", "num_feedforward_networks": 10**6},
        {"model_type": "git", "num_image_with_embedding": 10**6},
        {"model_type": "funnel", "block_sizes": [10**6]},
        {"layer_types": ["full_attention"] * 1000},
    ],
)
def test_no_more_parts_are_made_than_any_model_has(repository, changes):
    repository.files["config.json"] = change(repository.files["config.json"], **changes)
    start = time.thread_time()
    with pytest.raises(ModelRefused, match="more than 512 layers"):
        visitor_card("people/small")
    assert time.thread_time() - start < WORKING_SECONDS


@pytest.mark.parametrize(
    "content", [b'{"a":' * 50_000, b"[" * 50_000, b'{"hidden_size": ' + b"9" * 5000 + b"}", b"\xff"]
)
def test_nested_and_damaged_files_are_no_fault_of_ours(repository, content):
    repository.files["config.json"] = content
    with pytest.raises(ModelRefused, match="config.json of people/small is damaged"):
        visitor_card("people/small")


def test_a_file_of_another_size_than_listed_is_not_fetched(hub, repository):
    repository.files["config.json"] += b" " * 2**21
    repository.sizes_bytes["config.json"] = 600
    with pytest.raises(ModelRefused, match="config.json of people/small is not of the size that its Hub lists"):
        visitor_card("people/small")
    assert not any(sent.body_bytes for sent in hub.sent if "resolve" in sent.path)


@pytest.mark.parametrize(
    ("file", "size_bytes"),
    [
        ("config.json", LARGEST_CONFIG_BYTES + 1),
        ("tokenizer.json", LARGEST_TOKENIZER_BYTES + 1),
        ("tokenizer_config.json", 2**23),
        ("model.safetensors.index.json", 2**26),
    ],
)
def test_files_far_too_large_are_refused_by_the_listing(hub, repository, file, size_bytes):
    repository.files.setdefault(file, b"{}")
    repository.sizes_bytes[file] = size_bytes
    with pytest.raises(ModelRefused, match=f"The {file} of people/small is far too large"):
        visitor_card("people/small")
    assert len(hub.sent) == 1


def test_and_so_are_those_of_a_folder(bert_copy):
    (bert_copy / "special_tokens_map.json").write_bytes(b" " * 2**23)
    with pytest.raises(ModelRefused, match="special_tokens_map.json of Small BERT is far too large"):
        load_model(make_card(bert_copy), device="cpu", progress=ignore)


def test_a_tokenizer_is_as_large_as_its_network_needs(repository):
    """One of 2,000,000 entries took 8.5 s and 0.8 GB before it was refused."""
    repository.sizes_bytes["tokenizer.json"] = 2**22
    with pytest.raises(ModelRefused, match="tokenizer of people/small is far larger than its network needs"):
        visitor_card("people/small")
    wide = {"vocab_size": MOST_TOKENS + 1, "hidden_size": 2, "num_attention_heads": 1, "intermediate_size": 2}
    repository.files["config.json"] = change(repository.files["config.json"], **wide)
    repository.commit = "d" * 40
    with pytest.raises(ModelRefused, match="knows more than 1,048,576 tokens"):
        visitor_card("people/small")


def made_up(rng: random.Random, families: tuple[str, ...]) -> dict:
    """The usual configuration of a family, with up to six values that it never has."""
    kind = rng.choice(families)
    config = json.loads(json.dumps(CONFIG_MAPPING[kind]().to_dict(), default=str)) | {"model_type": kind}
    for _ in range(rng.choice([1, 1, 2, 3, 6])):
        inside = config
        while True:
            field = rng.choice(sorted(inside))
            if not (isinstance(inside[field], dict) and inside[field] and rng.random() < 0.7):
                break
            inside = inside[field]
        inside[field] = deepcopy(rng.choice(VALUES))
    return config | {"model_type": kind}


def ask_for_made_up(opened, rng: random.Random, families: tuple[str, ...], times: int) -> int:
    """How many were refused; whatever is no refusal of ours is raised."""
    refused = 0
    for _ in range(times):
        config = made_up(rng, families)
        (opened / "config.json").write_text(json.dumps(config))
        start = time.thread_time()
        try:
            visitor_card(opened.name)
        except ExplorerError:
            refused += 1
        assert time.thread_time() - start < WORKING_SECONDS, config
    return refused


def test_no_configuration_at_all_is_a_fault(opened):
    with (opened / "model.safetensors").open("ab") as file:
        file.truncate(2**29)  # else all would be refused for their size
    assert 20 < ask_for_made_up(opened, random.Random(0), FEW, 200) < 195


@pytest.mark.slow
def test_nor_any_of_very_many(opened):
    from transformers.models.auto import modeling_auto as auto

    with (opened / "model.safetensors").open("ab") as file:
        file.truncate(2**30)
    known = {*auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES, *auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES}
    families = tuple(sorted(known - {"gemma4_assistant"}))  # whose own defaults do not fit each other
    assert ask_for_made_up(opened, random.Random(), families, 10_000) < 9_900
