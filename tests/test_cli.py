import json
import subprocess
import sys
from io import StringIO

import pytest

from explorer.cli import main
from explorer.settings import settings
from tests.analysis.tiny_models import word_piece


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model folder as save_pretrained writes it."""
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

    def run(*arguments, stdin=""):
        settings.cache_clear()
        monkeypatch.setattr(sys, "stdin", StringIO(stdin))
        with pytest.raises(SystemExit) as end:
            main(arguments)
        written = capsys.readouterr()
        return end.value.code, written.out, written.err

    yield run
    settings.cache_clear()


def test_fill_blanks_prints_choices_and_texts(explorer, folder):
    status, out, _ = explorer("fill-blanks", "The ___ is ___.", "--model", folder, "--top-k", "3", "--count", "2")
    assert status == 0
    assert "Blank 1 (entropy" in out and "Blank 2 (entropy" in out
    assert " %" in out
    assert out.count("  The") == 2
    assert "Model: tiny" in out


def test_fill_blanks_as_json_is_the_frozen_result(explorer, folder):
    arguments = ["--model", folder, "--top-k", "3", "--count", "2", "--strategy", "independent", "--json"]
    status, out, _ = explorer("fill-blanks", "The ___ is ___.", *arguments)
    fills = json.loads(out)
    assert status == 0
    assert fills["model"] == "tiny"
    assert fills["strategy"] == "independent"
    assert [len(blank["choices"]) for blank in fills["blanks"]] == [3, 3]
    assert [set(completion) for completion in fills["completions"]] == [{"text", "fills", "log_probability"}] * 2


def test_text_from_standard_input(explorer, folder):
    status, out, _ = explorer("fill-blanks", "-", "--model", folder, "--json", stdin="he is\n in ___\n")
    assert status == 0
    assert json.loads(out)["text"] == "he is\n in ___"


def test_reveal_blanks(explorer, folder):
    status, out, _ = explorer("reveal-blanks", "The ___ is ___.", "--model", folder, "--strategy", "left_to_right")
    assert status == 0
    assert "Step 1: The ___ is ___." in out and "Step 2: The" in out and "Filled: The" in out


def test_rank_candidates_takes_one_list_per_blank(explorer, folder):
    lists = ["--candidates", "cat, dog,new york", "--candidates", ""]
    status, out, _ = explorer("rank-candidates", "The ___ is ___.", *lists, "--model", folder, "--json")
    assert status == 0
    first, second = json.loads(out)["blanks"]
    assert {candidate["text"] for candidate in first if candidate["is_own"]} == {"cat", "dog", "new york"}
    assert second == []
    status, out, _ = explorer("rank-candidates", "The ___ is ___.", *lists, "--model", folder)
    assert status == 0
    assert "  *  new york" in out


def test_contrast_texts(explorer, folder):
    status, out, _ = explorer("contrast-texts", "he is ___", "she is ___", "--model", folder, "--top-k", "4")
    assert status == 0
    assert "First: he is ___\nOther: she is ___" in out
    assert "Jensen-Shannon divergence: 0." in out


def test_tokenize(explorer, folder):
    status, out, _ = explorer("tokenize", "The ___", "--model", folder)
    assert status == 0
    assert "[MASK]" in out
    assert "4 tokens; tiny reads at most" in out


def test_models_lists_the_catalogue(explorer):
    status, out, _ = explorer("models")
    assert status == 0
    assert "MiniLM (masked)" in out and "BERT base" in out
    status, out, _ = explorer("models", "--ability", "fill_blanks", "--json")
    assert status == 0
    assert all("fill_blanks" in card["abilities"] for card in json.loads(out))


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["fill-blanks", "no blank", "--model", "FOLDER"], "explorer: The text has no blank."),
        (["fill-blanks", "a ___", "--model", "FOLDER", "--top-k", "0"], "top_k must be a whole number from 1"),
        (["fill-blanks", "a ___", "--model", "BERT bass"], "did you mean BERT base"),
        (["fill-blanks", "a ___", "--model", "GPT-2"], "GPT-2 has no masked language modelling head"),
        (["rank-candidates", "a ___", "--candidates", "🙂", "--model", "FOLDER"], "cannot spell"),
    ],
)
def test_what_cannot_be_done_is_said_on_stderr(explorer, folder, arguments, message):
    status, out, err = explorer(*[folder if argument == "FOLDER" else argument for argument in arguments])
    assert status == 1
    assert out == ""
    assert message in err
    assert "Traceback" not in err


@pytest.mark.parametrize("arguments", [["fill-blanks"], ["fill-blanks", "a ___", "--top-k", "x"], ["sing"]])
def test_a_command_that_is_not_understood_exits_with_2(explorer, arguments):
    status, out, err = explorer(*arguments)
    assert status == 2
    assert err


def test_help_does_not_wait_for_torch():
    program = "import sys; sys.argv = ['explorer', '--help']\nimport atexit; atexit.register(lambda: print("
    program += "'torch' in sys.modules)); from explorer.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    for command in [
        "fill-blanks",
        "reveal-blanks",
        "rank-candidates",
        "contrast-texts",
        "tokenize",
        "models",
        "pretrain",
    ]:
        assert command in done.stdout
    assert done.stdout.rstrip().endswith("False")
