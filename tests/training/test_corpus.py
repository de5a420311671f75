"""Files of documents in, tokens out; the same documents are held out whatever the order."""

import lzma
import os
import random

import numpy as np
import pytest

from explorer.errors import UnsuitableCorpus, UnwritableFolder
from explorer.training.corpus import HELD_OUT_SHARE, is_held_out, load_corpus, read_documents, tokenize_documents

TEXT = "\n\nThe dog barks.\n  Anna hears it. \n\n \t\nThe cat purrs.\r\nBen feeds the cat.\n\n\nThe owl hoots."
DOCUMENTS = [["The dog barks.", "Anna hears it."], ["The cat purrs.", "Ben feeds the cat."], ["The owl hoots."]]


def decode_documents(text, tokenizer) -> list[str]:
    starts = np.concatenate([[0], text.document_ends[:-1]]) if len(text.document_ends) else []
    return [tokenizer.decode(text.ids[a:b]) for a, b in zip(starts, text.document_ends, strict=True)]


@pytest.mark.parametrize("name", ["corpus.txt", "corpus.txt.xz"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_documents_are_paragraphs_between_blank_lines(tmp_path, name, encoding):
    content = TEXT.encode(encoding)
    (tmp_path / name).write_bytes(lzma.compress(content) if name.endswith(".xz") else content)
    assert list(read_documents(tmp_path / name)) == DOCUMENTS


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("nul.txt", b"The dog \0 barks.", "nul.txt is not text: it holds NUL bytes"),
        ("latin.txt", "Das Pferd wiehert schön.".encode("latin-1"), "latin.txt is not UTF-8 text"),
        ("cut.txt.xz", lzma.compress(b"The dog barks. " * 999)[:-20], "cut.txt.xz is not whole xz"),
        ("damaged.txt.xz", b"The dog barks.", "damaged.txt.xz is not whole xz"),
        ("empty.txt", b"", "empty.txt holds no text to train on"),
        ("blank.txt", b" \n\n\t\n", "blank.txt holds no text to train on"),
        ("empty.txt.xz", b"", "empty.txt.xz is not whole xz"),
        ("nothing.txt.xz", lzma.compress(b""), "nothing.txt.xz holds no text to train on"),
    ],
)
def test_what_is_no_corpus_is_refused(tmp_path, tokenizer, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UnsuitableCorpus, match=message):
        load_corpus([tmp_path / name], tokenizer, tmp_path / "tokens")


def test_what_cannot_be_opened_is_refused(tmp_path, tokenizer):
    with pytest.raises(UnsuitableCorpus, match="missing.txt cannot be read: No such file"):
        load_corpus([tmp_path / "missing.txt"], tokenizer, tmp_path / "tokens")
    with pytest.raises(UnsuitableCorpus, match="cannot be read: Is a directory"):
        load_corpus([tmp_path], tokenizer, tmp_path / "tokens")
    with pytest.raises(UnsuitableCorpus, match="missing.txt cannot be read"):
        list(read_documents(tmp_path / "missing.txt"))


def test_a_cache_that_cannot_be_written_is_explained(tmp_path, tokenizer, corpus_file):
    (tmp_path / "tokens").write_text("a file where a folder should be")
    with pytest.raises(UnwritableFolder, match="choose another folder"):
        load_corpus([corpus_file], tokenizer, tmp_path / "tokens")


def test_sentences_begin_at_paragraphs_and_after_their_ends(tokenizer):
    text = tokenize_documents([["The dog barks. Anna hears it.", "Ben feeds the cat"], ["the owl hoots."]], tokenizer)
    tokens = tokenizer.convert_ids_to_tokens(text.ids.tolist())
    assert tokens == "the dog barks . anna hears it . ben feeds the cat the owl hoots .".split()
    assert np.flatnonzero(text.is_start).tolist() == [0, 4, 8, 12]
    assert text.document_ends.tolist() == [12, 16]
    assert text.ids.dtype == np.uint16
    assert text.window_starts(4).tolist() == [0, 4, 8, 12]
    assert text.window_starts(5).tolist() == [0, 4]  # only four tokens follow the last two within their documents
    assert text.window_starts(12).tolist() == [0]
    assert text.window_starts(13).tolist() == []


def test_a_document_without_a_token_is_no_trap(tokenizer):
    text = tokenize_documents([["\u200b"], ["the owl hoots."], ["\u200b"]], tokenizer)
    assert text.document_ends.tolist() == [0, 4, 4]
    assert text.window_starts(4).tolist() == [0]
    assert tokenize_documents([], tokenizer).window_starts(1).tolist() == []


def test_whole_documents_are_held_out(corpus_file, corpus, tokenizer):
    documents = list(read_documents(corpus_file))
    expected = [tokenizer.decode(tokenizer(" ".join(d), add_special_tokens=False).input_ids) for d in documents]
    held_out = [is_held_out(document) for document in documents]
    assert 1 < sum(held_out) < 30
    for kept, text in ((False, corpus.train[0]), (True, corpus.held_out[0])):
        wanted = [document for document, out in zip(expected, held_out, strict=True) if out is kept]
        assert decode_documents(text, tokenizer) == wanted


def test_the_share_held_out_is_as_stated():
    count = 20_000
    held_out = sum(is_held_out([f"Document {number}.", "The same."]) for number in range(count))
    error = (HELD_OUT_SHARE * (1 - HELD_OUT_SHARE) / count) ** 0.5
    assert held_out / count == pytest.approx(HELD_OUT_SHARE, abs=4 * error)


def test_the_same_is_held_out_for_any_order(tmp_path, corpus_file, corpus, tokenizer):
    documents = corpus_file.read_text().strip().split("\n\n")
    random.Random(1).shuffle(documents)
    (tmp_path / "one.txt").write_text("\n\n".join(documents[:150]))
    (tmp_path / "two.txt").write_text("\n\n".join(documents[150:]))
    found = []
    for order in (("one.txt", "two.txt"), ("two.txt", "one.txt")):
        mixed = load_corpus([tmp_path / name for name in order], tokenizer, tmp_path / "tokens")
        assert mixed.names == order
        found.append(sorted(d for text in mixed.held_out for d in decode_documents(text, tokenizer)))
    assert found[0] == found[1] == sorted(decode_documents(corpus.held_out[0], tokenizer))


def test_a_corpus_too_small_to_hold_anything_out_can_be_trained_on(tmp_path, tokenizer):
    (tmp_path / "one.txt").write_text("The dog barks.")
    assert not is_held_out(["The dog barks."])
    small = load_corpus([tmp_path / "one.txt"], tokenizer, tmp_path / "tokens")
    assert decode_documents(small.train[0], tokenizer) == ["the dog barks."]
    assert len(small.held_out[0].ids) == 0


def test_tokens_are_kept_and_read_again(tmp_path, corpus_file, corpus, tokenizer):
    first = load_corpus([corpus_file], tokenizer, tmp_path)
    stored = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert len(stored) == 2
    again = load_corpus([corpus_file], tokenizer, tmp_path)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == stored
    for name in ("ids", "document_ends", "is_start"):
        for read in (first, again):
            assert np.array_equal(getattr(read.train[0], name), getattr(corpus.train[0], name))
            assert np.array_equal(getattr(read.held_out[0], name), getattr(corpus.held_out[0], name))


def test_an_edited_corpus_is_tokenized_anew(tmp_path, tokenizer):
    path = tmp_path / "corpus.txt"
    for words in ("The dog barks.", "The cat purrs."):  # the same name and size
        path.write_text(words)
        os.utime(path, (0, 0))
        text = load_corpus([path], tokenizer, tmp_path / "tokens").train[0]
        assert decode_documents(text, tokenizer) == [words.lower()]


def test_the_most_frequent_tokens(corpus, tokenizer):
    ids = corpus.most_frequent_ids(3)
    assert tokenizer.convert_ids_to_tokens(ids.tolist()) == ["the", ".", "in"]
