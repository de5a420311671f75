"""Two models load side by side, and leave torch and transformers as they were."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import torch
from transformers import BertConfig, BertForMaskedLM, PreTrainedModel

from explorer.models.loading import load_model
from explorer.models.progress import ignore
from tests.models.conftest import VOCABULARY
from tests.models.small_models import make_card


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
