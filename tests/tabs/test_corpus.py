"""The panel that searches a corpus, without a browser: what it tells, what it takes over, how large a file may be."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import gradio as gr
import numpy as np
import pytest
from huggingface_hub import constants

from explorer.analysis import embed_occurrences
from explorer.analysis.corpus_results import CorpusProgress
from explorer.models.registry import Registry
from explorer.settings import settings
from explorer.tabs.limits import MIB, RequestLimits
from explorer.tabs.neighbours.corpus import _search, describe_progress, keep_own
from explorer.tabs.neighbours.material import Vectors, read_uses
from tests.analysis import tiny_models
from tests.analysis.test_embeddings import embedding

LINES = ["A <b>cat</b> is playing & playing.", "The dog plays.", "No use.", "A king played, playing."]


class Direct:
    """A backend of one model that is here."""

    def __init__(self, model):
        self.model = model

    def run(self, card, analysis):
        return analysis(self.model)

    def load(self, card, is_waiting):
        return None

    def status(self):
        return {}


class Shared:
    """Of the desk what the search needs."""

    def __init__(self):
        self.vectors = Vectors(64)


@pytest.fixture(scope="module")
def model():
    return embedding(tiny_models.word_piece())


@pytest.fixture
def registry(model, tmp_path, monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return Registry([model.card], lambda: Direct(model))


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(LINES), encoding="utf-8")
    return path


def test_what_is_found_becomes_the_sentences_and_vectors_of_the_desk(registry, model, corpus):
    desk = Shared()
    *told, (message, own, use, found, word) = _search(
        registry, desk, model.card.name, " play ", "mean", str(corpus), 100
    )
    assert (
        message == ""
        and word == "play"  # another may be in sight by now
        and use == 0
        and own.splitlines()
        == [
            "A <b>cat</b> is {playing} & playing.",
            "A <b>cat</b> is playing & {playing}.",
            "The dog {plays}.",
            "A king {played}, playing.",
            "A king played, {playing}.",
        ]
    )
    assert "5 uses of “play” from corpus.txt, which has 4 lines" in found
    assert all("Embedding uses" in progress for progress, *_ in told)
    uses = read_uses("play", own)
    kept = desk.vectors.embed(Registry([model.card], lambda: None), model.card.name, uses)  # no backend is opened
    expected = embed_occurrences(model, sentences=uses.sentences, positions=uses.positions)
    assert np.abs(kept.vectors - expected.vectors).max() < 1e-5
    *_, (_, again, _, found, _) = _search(registry, desk, model.card.name, "play", "mean", str(corpus), 100)
    assert again == own and "Their vectors were kept from before." in found


@pytest.mark.parametrize(
    ("own", "kept", "mine"),
    [
        ("a | mine\n", ("", ""), "a | mine"),
        ("found\n", ("a | mine", "found"), "a | mine"),
        ("changed", ("a | mine", "found"), "changed"),
        (" ", ("", ""), ""),
        (None, ("a | mine", "found"), ""),
    ],
)
def test_own_sentences_are_kept_for_the_way_back_from_what_is_found(own, kept, mine):
    assert keep_own(own, kept) == mine


def test_a_vertical_bar_in_a_corpus_parts_no_sense(registry, model, corpus):
    corpus.write_text("Home | we play.", encoding="utf-8")
    *_, (_, own, *_) = _search(registry, Shared(), model.card.name, "play", "mean", str(corpus), 100)
    uses = read_uses("play", own)
    assert uses.sentences == ("Home | we play.",) and uses.senses == ("",)


@pytest.mark.parametrize(
    "word, path, message",
    [
        ("play", None, "Choose a text file"),
        ("", "corpus", "no word to search for"),
        ("walk", "corpus", "“walk” is in none"),
    ],
)
def test_what_is_missing_is_said(registry, model, corpus, word, path, message):
    path = str(corpus) if path else None
    ((told, *unchanged),) = _search(registry, Shared(), model.card.name, word, "mean", path, 100)
    assert "message error" in told and message in told and unchanged == [gr.skip()] * 4


@pytest.mark.parametrize(
    "event, words",
    [
        (CorpusProgress("checking", 0.5), "Looking at the corpus <b>.txt: 50% …"),
        (CorpusProgress("reading", 0.25, 1200, 34, seconds_left=7.4), "25%, 1,200 lines, 34 uses, 7 s left …"),
        (CorpusProgress("waiting", 0.0), "The same search is at work already"),
        (CorpusProgress("embedding", 0.5, 9, 9, 1240, 5000, 480.0), "the corpus: 1,240 of 5,000, 8 min left …"),
    ],
)
def test_progress_in_words(event, words):
    assert words in describe_progress(event, "<b>.txt")


def test_files_may_be_larger_than_other_requests(monkeypatch):
    async def asked(path, size):
        sent = []

        async def app(scope, receive, send):
            sent.append("passed on")

        async def send(message):
            sent.append(message.get("status"))

        limits = RequestLimits(app, **RequestLimits.middleware().kwargs)
        scope = {"type": "http", "path": path, "headers": [(b"content-length", str(size).encode())]}
        await limits(scope, None, send)
        return sent[0]

    most = int(settings().largest_upload_mib * MIB)
    for path, size, answer in [
        ("/gradio_api/upload", most, "passed on"),
        ("/space/gradio_api/upload", most, "passed on"),
        ("/gradio_api/upload", most + 2 * MIB, 413),
        ("/gradio_api/queue/join", most, 413),
        ("/gradio_api/queue/join", MIB, "passed on"),
    ]:
        with ThreadPoolExecutor(1) as other:  # a browser's tests leave a loop running in this thread
            assert other.submit(asyncio.run, asked(path, size)).result() == answer, path
