"""Models for the analyses, built once."""

from pathlib import Path

import pytest

from explorer.models.backend import LoadedModel
from tests.analysis import causal_models, tiny_models


@pytest.fixture(scope="session", params=tiny_models.FAMILIES)
def family(request) -> LoadedModel:
    """Each tokenizer family in turn."""
    return tiny_models.FAMILIES[request.param]()


@pytest.fixture(scope="session")
def bert() -> LoadedModel:
    return tiny_models.word_piece()


@pytest.fixture(scope="session")
def roberta() -> LoadedModel:
    return tiny_models.byte_level()


@pytest.fixture(scope="session")
def gpt() -> LoadedModel:
    return tiny_models.gpt2()


@pytest.fixture(scope="session", params=["bert", "gpt2"])
def real_vocabulary(request) -> LoadedModel:
    """The published vocabularies, which are not part of the public repository."""
    if not tiny_models.TOKENIZERS.is_dir():
        pytest.skip("needs the evaluation data: set EXPLORER_EVAL_DATA to its folder")
    if request.param == "bert":
        return tiny_models.published_bert_vocabulary()
    return tiny_models.published_gpt2_vocabulary()


@pytest.fixture(scope="session", params=causal_models.MODELS)
def causal(request) -> LoadedModel:
    """Each causal architecture in turn."""
    return causal_models.MODELS[request.param]()


@pytest.fixture(scope="session")
def tokenizers_folder() -> Path:
    """The published vocabularies of BERT and GPT-2."""
    if not tiny_models.TOKENIZERS.is_dir():
        pytest.skip("needs the evaluation data: set EXPLORER_EVAL_DATA to its folder")
    return tiny_models.TOKENIZERS
