"""Small checkpoints on disk, a Hub on loopback, and settings that last one test."""

import shutil
from pathlib import Path

import pytest
from huggingface_hub import constants

from explorer.settings import settings
from tests.models.hub_server import HubServer
from tests.models.small_models import EVAL, VOCABULARY, tiny_bert


@pytest.fixture
def set_settings():
    """Change settings for one test: set_settings(hub_models=0)."""
    with pytest.MonkeyPatch.context() as patch:

        def set(**values) -> None:
            for name, value in values.items():
                patch.setenv(f"EXPLORER_{name.upper()}", str(value))
            settings.cache_clear()

        yield set
    settings.cache_clear()


@pytest.fixture
def hub(monkeypatch, tmp_path):
    """A Hub on loopback that huggingface_hub takes for the real one, with an empty cache."""
    with HubServer().running() as server:
        monkeypatch.setattr(constants, "ENDPOINT", server.url)
        monkeypatch.setattr(
            constants, "HUGGINGFACE_CO_URL_TEMPLATE", server.url + "/{repo_id}/resolve/{revision}/{filename}"
        )
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "huggingface" / "hub"))
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        yield server


@pytest.fixture(scope="session")
def tokenizers_folder() -> Path:
    """The real vocabularies of BERT and GPT-2."""
    folder = EVAL / "tokenizers"
    if not folder.is_dir():
        pytest.skip("needs the evaluation data: set EXPLORER_EVAL_DATA to its folder")
    return folder


@pytest.fixture(scope="session")
def stories_folder() -> Path:
    """stories260K, a really trained small Llama."""
    folder = EVAL / "stories260K"
    if not folder.is_dir():
        pytest.skip("needs the evaluation data: set EXPLORER_EVAL_DATA to its folder")
    return folder


@pytest.fixture(scope="session")
def bert_folder(tmp_path_factory) -> Path:
    """A random two-layer BERT with a masked head, as save_pretrained writes it; copy it before changing it."""
    import torch
    from transformers import BertConfig, BertForMaskedLM, BertTokenizer

    folder = tmp_path_factory.mktemp("bert")
    torch.manual_seed(0)
    BertForMaskedLM(tiny_bert(BertConfig)).save_pretrained(folder)
    BertTokenizer(vocab={token: id for id, token in enumerate(VOCABULARY)}).save_pretrained(folder)
    return folder


@pytest.fixture
def bert_copy(bert_folder, tmp_path) -> Path:
    """The same, to be changed."""
    return Path(shutil.copytree(bert_folder, tmp_path / "bert"))
