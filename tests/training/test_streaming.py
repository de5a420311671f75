"""Text of a data set: paragraphs and documents as corpus files have them, only as much as is wanted, kept."""

import json
from pathlib import Path

import pytest

from explorer.errors import UnsuitableCorpus
from explorer.training.corpus import read_documents
from explorer.training.streaming import find_corpus


@pytest.fixture(autouse=True)
def data_sets_in_the_test_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.chdir(tmp_path)


def write_data_set(folder, rows) -> str:
    """A folder of JSON lines is a data set, too."""
    folder.mkdir()
    (folder / "train.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    return f"hub:{folder}"


def test_a_file_is_a_file(tmp_path):
    assert find_corpus("some/file.txt", tmp_path) == Path("some/file.txt")


def test_documents_come_with_their_paragraphs(tmp_path):
    rows = [{"id": k, "text": f"First of {k}.\n\n  Second of {k}.  \r\nThird \0 of {k}."} for k in range(50)]
    path = find_corpus(write_data_set(tmp_path / "set", rows), tmp_path / "kept")
    documents = list(read_documents(path))
    assert documents[7] == ["First of 7.", "Second of 7.", "Third   of 7."]
    assert len(documents) == 50
    (tmp_path / "set/train.jsonl").unlink()
    assert find_corpus(f"hub:{tmp_path / 'set'}", tmp_path / "kept") == path  # kept: not asked for again


def test_no_more_is_taken_than_wanted(tmp_path):
    rows = [{"content": "x" * 99, "title": "t"} for _ in range(50)]
    path = find_corpus(write_data_set(tmp_path / "set", rows), tmp_path / "kept", largest_bytes=500)
    assert len(list(read_documents(path))) == 6  # the sixth is the first beyond


@pytest.mark.parametrize(
    ("rows", "message"),
    [([{"number": 3, "text": None}], "no column of text; it has: number, text"), ([], "cannot be had|is empty")],
)
def test_a_data_set_without_text_is_a_message(tmp_path, rows, message):
    with pytest.raises(UnsuitableCorpus, match=message):
        find_corpus(write_data_set(tmp_path / "set", rows), tmp_path / "kept")
    assert not any((tmp_path / "kept").glob("*"))  # nothing half done is taken for a corpus later


def test_a_data_set_that_is_not_there_is_a_message(tmp_path, monkeypatch):
    monkeypatch.setattr("datasets.config.HF_HUB_OFFLINE", True, raising=False)
    with pytest.raises(UnsuitableCorpus, match="no/such-thing cannot be had .*Check its name and the network"):
        find_corpus("hub:no/such-thing", tmp_path / "kept")
