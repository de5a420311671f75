"""`explorer search-corpus`: text, JSON, neighbours, and what goes wrong."""

import json

import numpy as np
import pytest
from huggingface_hub import constants


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    path = tmp_path / "corpus.txt"
    lines = [f"The {'cat dog king queen'.split()[number % 4]} is playing{' home' * number}." for number in range(30)]
    path.write_text("\n".join([*lines, "No use."]), encoding="utf-8")
    return path


def test_search_corpus(explorer, folder, corpus):
    asked = ["search-corpus", "playing", "--corpus", str(corpus), "--model", folder]
    status, out, error = explorer(*asked)
    assert status == 0 and not error
    assert "30 uses with vectors; 30 in the 31 lines of corpus.txt" in out and "… and 10 more" in out
    assert "The cat is {playing}." in out and "[3 layers, 30 uses, 24 numbers]" in out and "kept" not in out
    status, out, _ = explorer(*asked)
    assert status == 0 and "Vectors (kept from before): " in out
    status, out, _ = explorer(*asked, "--json")
    told = json.loads(out)
    assert told["is_from_cache"] and len(told["uses"]["sentences"]) == 30 and told["layers"] == [0, 1, 2]
    vectors = np.load(told["file"])
    status, out, _ = explorer(*asked, "--use", "3", "-k", "2", "--json")
    near = json.loads(out)
    unit = vectors[-1] / np.linalg.norm(vectors[-1], axis=1, keepdims=True)
    best = [index for index in np.argsort(-(unit @ unit[3])) if index != 3][:2]
    assert [one["index"] for one in near["neighbours"]] == best and near["count"] == 29


def test_search_corpus_samples(explorer, folder, corpus):
    asked = ["search-corpus", "play", "-c", str(corpus), "-m", folder, "--form", "playing", "--sample", "5", "--json"]
    first, second, other = (json.loads(explorer(*asked, "--seed", seed)[1])["uses"] for seed in ("0", "0", "1"))
    assert first == second and len(first["sentences"]) == 5 and first["found"] == 30
    assert other["sentences"] != first["sentences"]


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["walking", "-c", "{corpus}"], "“walking” is in none of the 31 lines of corpus.txt"),
        (["playing", "-c", "{corpus}.gone"], "corpus.txt.gone cannot be read: No such file"),
        (["playing", "-c", "{corpus}", "--layer", "7"], "has layers 0"),
        (["playing", "-c", "{corpus}", "--sample", "0"], "sample"),
    ],
)
def test_what_cannot_be_searched_is_said(explorer, folder, corpus, arguments, message):
    asked = [argument.format(corpus=corpus) for argument in arguments]
    status, out, error = explorer("search-corpus", *asked, "--model", folder)
    assert status == 1 and message in error and not out
