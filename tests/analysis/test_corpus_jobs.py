"""A corpus job: vectors as embed_occurrences gives them, kept, resumed after any interruption, made anew if damaged."""

import multiprocessing
import os
import signal
import threading
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from huggingface_hub import constants

from explorer.analysis import corpus_cache, corpus_jobs, embed_occurrences
from explorer.analysis.corpus_jobs import search_corpus
from explorer.analysis.corpus_results import CorpusOccurrences, CorpusProgress
from explorer.analysis.exporting import to_json
from explorer.analysis.neighbours import find_near_uses, prepare_points
from explorer.analysis.vectors import choose_vectors, describe_vectors
from explorer.errors import UnsuitableModel, UnsuitableText, UnwritableFolder
from explorer.settings import GIB, Settings
from tests.analysis import tiny_models
from tests.analysis.test_embeddings import embedding

LINES = [f"The {'cat dog king queen'.split()[number % 4]} is playing in Paris{' home' * (number % 7)}, {number}."
         for number in range(60)]  # fmt: skip


@pytest.fixture(scope="module")
def model():
    return embedding(tiny_models.word_piece())


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hf" / "hub"))
    monkeypatch.setattr(corpus_jobs, "PART_USES", 16)
    return tmp_path / "hf" / "explorer" / "corpora"


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(LINES), encoding="utf-8")
    return path


class Asking:
    """A model that counts what it is asked, and fails when told to."""

    def __init__(self, model, fail_at=None):
        self.model, self.fail_at, self.asked = model, fail_at, []

    def __call__(self, ask):
        if len(self.asked) == self.fail_at:
            raise KeyboardInterrupt
        self.asked.append(len(ask.keywords["sentences"]))
        return ask(self.model)


def job(ask, corpus, **options):
    return search_corpus(ask, ask.model.card, corpus, "playing", **options)


def done(ask, corpus, **options) -> CorpusOccurrences:
    *before, last = job(ask, corpus, **options)
    assert isinstance(last, CorpusOccurrences) and all(isinstance(event, CorpusProgress) for event in before)
    return last


def check(found, model, **options):
    expected = embed_occurrences(model, sentences=found.uses.sentences, positions=found.uses.positions, **options)
    assert found.occurrences.vectors.shape == expected.vectors.shape
    assert np.abs(found.occurrences.vectors - expected.vectors).max() < 1e-5
    for name in ("model", "sentences", "positions", "words", "tokens", "read", "pieces", "layers", "layer_count"):
        assert getattr(found.occurrences, name) == getattr(expected, name), name


def test_vectors_are_those_of_embed_occurrences_and_are_reused(model, corpus, cache):
    ask = Asking(model)
    events = list(job(ask, corpus))
    found = events[-1]
    assert found.uses.sentences == tuple(LINES) and not found.is_from_cache and ask.asked == [16, 16, 16, 12]
    check(found, model)
    told = [event for event in events[:-1] if event.stage == "embedding"]
    assert [one.embedded for one in told] == [0, 16, 32, 48, 60] and told[-1].share == 1 and told[-1].wanted == 60
    assert told[1].seconds_left > 0 and told[0].sentences == 60 == told[0].uses
    again = done(Asking(model, fail_at=0), corpus)  # nothing is asked of the model
    assert again.is_from_cache and isinstance(again.occurrences.vectors, np.memmap)
    assert not again.occurrences.vectors.flags.writeable
    np.testing.assert_array_equal(again.occurrences.vectors, found.occurrences.vectors)
    assert again.uses == found.uses and Path(again.file).is_file()
    np.testing.assert_array_equal(np.load(again.file), found.occurrences.vectors)
    assert sorted(file.name for file in Path(again.file).parent.iterdir()) == ["vectors.json", "vectors.npy"]
    copy = corpus.with_name("copy.txt")
    copy.write_bytes(corpus.read_bytes())
    assert done(Asking(model, fail_at=0), copy).uses.corpus == "copy.txt"  # by content, not by name


def test_neighbours_of_what_was_found(model, corpus):
    found = done(Asking(model), corpus).occurrences
    points = prepare_points(choose_vectors(found, layer=-1))
    near = find_near_uses(found, points, use=3, vector=describe_vectors(found, layer=-1), k=5)
    unit = found.vectors[-1] / np.linalg.norm(found.vectors[-1], axis=1, keepdims=True)
    order = [index for index in np.argsort(-(unit @ unit[3]), kind="stable") if index != 3]
    assert {one.index for one in near.neighbours} == set(order[:5]) and near.count == 59


def test_each_question_has_vectors_of_its_own(model, corpus):
    files = {done(Asking(model), corpus).file}
    for options in ({"layers": [-1]}, {"pieces": "first"}, {"sample": 20}, {"sample": 20, "seed": 1}):
        ask = Asking(model)
        found = done(ask, corpus, **options)
        assert ask.asked and found.file not in files
        check(found, model, **{name: options[name] for name in ("layers", "pieces") if name in options})
        files.add(found.file)
    corpus.write_text("\n".join([*LINES, "One more is playing."]), encoding="utf-8")
    assert len(done(Asking(model), corpus).uses.sentences) == 61


@pytest.mark.parametrize("fail_at", [0, 1, 3])
def test_a_job_that_was_killed_goes_on_where_it_was(model, corpus, fail_at):
    with pytest.raises(KeyboardInterrupt):
        list(job(Asking(model, fail_at=fail_at), corpus))
    ask = Asking(model)
    found = done(ask, corpus)
    assert ask.asked == [16, 16, 16, 12][fail_at:]
    check(found, model)


def test_a_job_that_was_stopped_goes_on_where_it_was(model, corpus):
    events = job(Asking(model), corpus)
    while (event := next(events)).embedded < 32:
        pass
    events.close()
    ask = Asking(model)
    check(done(ask, corpus), model)
    assert ask.asked == [16, 12] and event.wanted == 60


@pytest.mark.parametrize("name", ["vectors.npy", "vectors.json"])
@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "gone", "nonsense"])
def test_what_is_damaged_is_made_anew(model, corpus, name, damage):
    found = done(Asking(model), corpus)
    expected = np.array(found.occurrences.vectors)
    file = Path(found.file).with_name(name)
    data = bytearray(file.read_bytes())
    data[-20] ^= 0xFF
    content = {"flip": bytes(data), "cut": bytes(data[:-30]), "empty": b"", "nonsense": b"\xff\xfe{]" * 99}
    file.unlink() if damage == "gone" else file.write_bytes(content[damage])
    ask = Asking(model)
    again = done(ask, corpus)
    assert ask.asked and not again.is_from_cache
    np.testing.assert_array_equal(again.occurrences.vectors, expected)


def test_damaged_parts_and_damaged_uses_are_made_anew(model, corpus, cache):
    with pytest.raises(KeyboardInterrupt):
        list(job(Asking(model, fail_at=3), corpus))
    first, second, third = sorted((cache / "vectors").glob("*/part-*.npy"))
    data = bytearray(second.read_bytes())
    data[-1] ^= 1
    second.write_bytes(bytes(data))
    (kept,) = (cache / "uses").glob("*.json")
    kept.write_text(kept.read_text(encoding="utf-8").replace("dog", "cat"), encoding="utf-8")
    ask = Asking(model)
    found = done(ask, corpus)
    assert ask.asked == [16, 12] and found.uses.sentences == tuple(LINES)
    check(found, model)


def test_the_longest_unused_leave_when_the_room_is_full(model, corpus, monkeypatch):
    folder = Path(done(Asking(model), corpus).file).parent
    size = sum(file.stat().st_size for file in folder.iterdir())
    monkeypatch.setattr(corpus_cache, "settings", lambda: Settings(corpus_cache_gib=2.9 * size / GIB))
    files = [Path(done(Asking(model), corpus, pieces=pieces).file) for pieces in ("mean", "first")]
    assert all(file.exists() for file in files)
    assert done(Asking(model, fail_at=0), corpus).is_from_cache  # used again: not the longest unused any more
    third = Path(done(Asking(model), corpus, pieces="last").file)
    assert files[0].exists() and third.exists() and not files[1].exists()


def test_what_is_in_use_does_not_leave(model, corpus, monkeypatch):
    found = done(Asking(model), corpus)
    key = Path(found.file).parent.name
    monkeypatch.setattr(corpus_cache, "settings", lambda: Settings(corpus_cache_gib=0))
    with corpus_cache.hold(key) as is_free:
        assert is_free
        corpus_cache.evict("another")
        assert Path(found.file).exists()
    corpus_cache.evict(key)
    assert Path(found.file).exists()
    corpus_cache.evict("another")
    assert not Path(found.file).exists()
    assert found.occurrences.vectors[0, 0, 0] is not None  # what is open stays readable


def test_what_the_cache_cannot_hold_is_refused_early(model, corpus, monkeypatch):
    monkeypatch.setattr(corpus_jobs, "settings", lambda: Settings(corpus_cache_gib=1e-9))
    ask = Asking(model)
    with pytest.raises(UnsuitableText, match="60 uses in 3 layers take .* Take a smaller sample, or fewer layers"):
        done(ask, corpus)
    assert len(ask.asked) == 1
    monkeypatch.undo()
    full = type("Usage", (), {"free": 1000})
    monkeypatch.setattr(corpus_cache.shutil, "disk_usage", lambda folder: full)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(corpus.parent / "other" / "hub"))
    with pytest.raises(UnwritableFolder, match="no room for .* MiB of vectors"):
        done(ask, corpus)


def test_a_folder_that_cannot_be_written_is_said(model, corpus, monkeypatch):
    blocked = corpus.parent / "blocked"
    blocked.write_text("a file where a folder should be")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(blocked / "hub"))
    with pytest.raises(UnwritableFolder, match="Set HF_HOME"):
        done(Asking(model), corpus)


def test_uses_that_a_model_cannot_read_are_left_out(model, tmp_path):
    long = "the cat " * 40 + "playing"
    corpus = tmp_path / "some.txt"
    corpus.write_text("\n".join(["A cat is playing.", "playing " * 3, long]), encoding="utf-8")
    word = "playing playing playing"
    small = tiny_models.loaded(
        model.network, model.tokenizer, abilities=model.card.abilities, limit_tokens=4
    )  # fmt: skip
    *_, found = search_corpus(small and Asking(small), small.card, corpus, "playing")
    assert len(found.uses.sentences) == 5
    with pytest.raises(UnsuitableText, match="The use has 3 tokens, and tiny reads at most 4"):
        list(search_corpus(Asking(small), small.card, corpus, word))
    corpus.write_text("\n".join(["the playing cat", "cat playing the playing cat"]), encoding="utf-8")
    *_, found = search_corpus(Asking(small), small.card, corpus, "playing cat", forms=["cat playing the playing cat"])
    assert found.uses.sentences == ("the playing cat",) and found.occurrences.vectors.shape[1] == 1
    assert found.uses.remarks[-1].startswith("1 uses were left out: tiny has no token for them")


def test_what_no_use_can_give_is_said(model, corpus):
    with pytest.raises(UnsuitableText, match="has layers 0"):
        done(Asking(model), corpus, layers=[99])
    with pytest.raises(UnsuitableModel, match="no vectors"):
        done(Asking(tiny_models.word_piece()), corpus)


def test_two_at_once_compute_it_once(model, corpus, monkeypatch):
    monkeypatch.setattr(corpus_jobs, "WAIT_SECONDS", 0.01)
    ask, waiting, results = Asking(model), threading.Event(), []
    events = job(ask, corpus)
    while next(events).embedded < 16:
        pass

    def second():
        for event in job(Asking(model, fail_at=0), corpus):
            if isinstance(event, CorpusProgress) and event.stage == "waiting":
                waiting.set()
            results.append(event)

    thread = threading.Thread(target=second)
    thread.start()
    assert waiting.wait(30)
    *_, found = events
    thread.join(30)
    assert results[-1].is_from_cache and results[-1].uses == found.uses


def _killed(folder, corpus):
    constants.HF_HUB_CACHE = str(folder)
    corpus_jobs.PART_USES = 16
    model = embedding(tiny_models.word_piece())
    for event in job(Asking(model), corpus):
        if isinstance(event, CorpusProgress) and event.embedded == 32:
            os.kill(os.getpid(), signal.SIGKILL)


def test_a_process_that_is_killed_leaves_what_can_be_gone_on_with(model, corpus):
    process = multiprocessing.get_context("spawn").Process(target=partial(_killed, constants.HF_HUB_CACHE, corpus))
    process.start()
    process.join(120)
    assert process.exitcode == -9
    ask = Asking(model)
    found = done(ask, corpus)
    assert ask.asked == [16, 12]
    check(found, model)


def test_as_json_the_vectors_are_left_to_their_file(model, corpus):
    told = to_json(done(Asking(model), corpus))
    assert "occurrences" not in told and told["file"].endswith("vectors.npy")
    assert told["uses"]["sentences"] == LINES
