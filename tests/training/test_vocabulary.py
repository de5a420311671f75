"""A corpus has one vocabulary: made once, from what is trained on, the same on every machine."""

import pytest

from explorer.errors import UnsuitableCorpus
from explorer.training import minis, vocabulary
from explorer.training.corpus import is_held_out, read_documents
from explorer.training.vocabulary import find_vocabulary
from tests.training.tiny_corpus import write_corpus

ENTRIES = 340  # 5 special tokens, 32 sentinels, 256 bytes, and 47 pieces of words


@pytest.fixture(autouse=True)
def few_entries(monkeypatch):
    monkeypatch.setattr(minis, "VOCABULARY", ENTRIES)
    monkeypatch.setattr(vocabulary, "VOCABULARY", ENTRIES)


@pytest.fixture
def shown(monkeypatch):
    """The paragraphs that each new vocabulary was chosen from."""
    seen = []

    def train(paragraphs):
        seen.append(list(paragraphs))
        return minis.train_tokenizer(seen[-1])

    monkeypatch.setattr(vocabulary, "train_tokenizer", train)
    return seen


def test_a_vocabulary_is_made_once_and_then_kept(corpus_file, tmp_path, shown):
    made, kept = (find_vocabulary([corpus_file], tmp_path / "cache") for _ in range(2))
    assert len(shown) == 1
    assert made.to_str() == kept.to_str()
    assert made.get_vocab_size() == ENTRIES
    assert len(list((tmp_path / "cache").iterdir())) == 1


def test_a_corpus_has_the_same_vocabulary_everywhere(corpus_file, tmp_path):
    other_file = write_corpus(tmp_path / "other.txt", seed=1)
    one = find_vocabulary([corpus_file, other_file], tmp_path / "one")
    two = find_vocabulary([other_file, corpus_file], tmp_path / "two")
    assert one.to_str() == two.to_str()


def test_another_text_of_the_same_name_has_a_vocabulary_of_its_own(tmp_path, shown):
    for seed in (1, 2):
        find_vocabulary([write_corpus(tmp_path / "corpus.txt", seed=seed)], tmp_path / "cache")
    assert len(shown) == 2


def test_held_out_documents_are_not_read(corpus_file, tmp_path, shown):
    find_vocabulary([corpus_file], tmp_path)
    documents = list(read_documents(corpus_file))
    assert any(is_held_out(document) for document in documents)
    assert shown[0] == [text for document in documents if not is_held_out(document) for text in document]


def test_a_like_share_of_each_file_is_read(corpus_file, tmp_path, shown, monkeypatch):
    other_file = write_corpus(tmp_path / "other.txt", seed=1)
    texts = [path.read_text() for path in (corpus_file, other_file)]
    monkeypatch.setattr(vocabulary, "SHOWN_BYTES", len(texts[0]))
    find_vocabulary([corpus_file, other_file], tmp_path / "cache")
    of_first, of_second = (sum(len(paragraph) for paragraph in shown[0] if paragraph in text) for text in texts)
    assert of_first == pytest.approx(len(texts[0]) / 2, rel=0.03)
    assert of_second == pytest.approx(of_first, rel=0.03)


def test_too_little_text_is_refused_with_advice_and_leaves_nothing(tmp_path):
    (tmp_path / "short.txt").write_text("Hardly a word.\n")
    with pytest.raises(UnsuitableCorpus, match="too little text for a vocabulary of 340 tokens.*or start from a model"):
        find_vocabulary([tmp_path / "short.txt"], tmp_path / "cache")
    assert not list(tmp_path.glob("cache/*"))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(UnsuitableCorpus, match="nowhere.txt cannot be read"):
        find_vocabulary([tmp_path / "nowhere.txt"], tmp_path)
