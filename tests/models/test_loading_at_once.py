"""Two models load side by side, and leave torch and transformers as they were."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import torch
from transformers import AutoModel, BertConfig, BertForMaskedLM, BertModel, PreTrainedModel

from explorer.models.loading import load_model
from explorer.models.progress import ignore
from explorer.models.visitor_card import visitor_card
from tests.models.conftest import VOCABULARY
from tests.models.small_models import make_card

ROUNDS = 5


def test_models_load_side_by_side(bert_folder, tmp_path):
    config = BertConfig(
        vocab_size=len(VOCABULARY), hidden_size=32, num_hidden_layers=12, num_attention_heads=2, intermediate_size=32
    )
    for file in bert_folder.glob("*token*"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    BertForMaskedLM(config).save_pretrained(tmp_path)
    tie, space = PreTrainedModel.tie_weights, torch.linspace
    cards = [replace(make_card(tmp_path), name=str(number)) for number in range(8)]
    with ThreadPoolExecutor(4) as pool:
        models = list(pool.map(lambda card: load_model(card, device="cpu", progress=ignore), cards))
    for model in models:
        network = model.network
        assert network.cls.predictions.decoder.weight is network.bert.embeddings.word_embeddings.weight
        assert not any(weight.is_meta for weight in network.parameters())
    assert PreTrainedModel.tie_weights is tie and torch.linspace is space
    assert torch.get_default_dtype() == torch.float32


def test_naming_a_half_precision_model_leaves_the_others_whole(bert_folder, tmp_path, monkeypatch, set_settings):
    """Transformers sets the default number format of the whole process while it makes a network of float16."""
    half = tmp_path / "half"
    half.mkdir()
    for file in bert_folder.glob("*token*"):
        (half / file.name).write_bytes(file.read_bytes())
    BertForMaskedLM.from_pretrained(bert_folder, dtype=torch.float16).save_pretrained(half)
    set_settings(local_models=str(tmp_path))
    make, finish, at_work, formats = AutoModel.from_config, BertModel.post_init, [], set()

    def watched(config, **options):
        at_work.append(config)
        assert len(at_work) == 1, "two networks are made at once"
        network = make(config, **options)
        at_work.pop()
        return network

    def finish_watched(network):
        formats.add(torch.get_default_dtype())
        finish(network)

    monkeypatch.setattr(AutoModel, "from_config", watched)
    monkeypatch.setattr(BertModel, "post_init", finish_watched)
    together = Barrier(6)

    def name(_) -> str:
        together.wait(timeout=30)
        return visitor_card("half").name

    def load(number: int) -> set[torch.dtype]:
        together.wait(timeout=30)
        card = replace(make_card(bert_folder), name=str(number))
        return {weight.dtype for weight in load_model(card, device="cpu", progress=ignore).network.parameters()}

    with ThreadPoolExecutor(6) as pool:
        for _ in range(ROUNDS):
            named, loaded = pool.map(name, range(3)), pool.map(load, range(3))
            assert list(named) == ["half"] * 3
            assert list(loaded) == [{torch.float32}] * 3
    assert formats == {torch.get_default_dtype()} == {torch.float32}
