"""A tokenizer, networks and a corpus so small that training takes a second."""

from pathlib import Path

import pytest
import torch
from transformers import BertConfig, BertForMaskedLM, BertTokenizer

from explorer.training.corpus import load_corpus
from tests.training.tiny_corpus import VOCABULARY, write_corpus


@pytest.fixture(scope="session")
def tokenizer() -> BertTokenizer:
    return BertTokenizer(vocab={word: index for index, word in enumerate(VOCABULARY)})


@pytest.fixture(scope="session")
def corpus_file(tmp_path_factory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("corpus") / "animals.txt")


@pytest.fixture(scope="session")
def corpus(corpus_file, tokenizer, tmp_path_factory):
    return load_corpus([corpus_file], tokenizer, tmp_path_factory.mktemp("tokens"))


@pytest.fixture
def network() -> BertForMaskedLM:
    return make_network()


@pytest.fixture
def start_folder(network, tokenizer, tmp_path) -> Path:
    """A model to start from, as save_pretrained writes it."""
    network.save_pretrained(tmp_path / "start")
    tokenizer.save_pretrained(tmp_path / "start")
    return tmp_path / "start"


def make_network(*, initializer_range: float = 0.02) -> BertForMaskedLM:
    torch.manual_seed(0)
    return BertForMaskedLM(
        BertConfig(
            vocab_size=len(VOCABULARY),
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=64,
            max_position_embeddings=64,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
            initializer_range=initializer_range,
        )
    )


def make_constant(network: BertForMaskedLM, probabilities: torch.Tensor) -> BertForMaskedLM:
    """The same network, made to expect these tokens everywhere, whatever it reads."""
    with torch.no_grad():
        network.cls.predictions.decoder.weight.zero_()
        network.cls.predictions.bias.copy_(probabilities.log())
    return network
