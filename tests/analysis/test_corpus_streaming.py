"""A corpus of any length: how often its text is read, how often the model reads it, and what is held meanwhile."""

import tracemalloc
from functools import partial

import pytest

from explorer.analysis import find_rogue_dimensions, measure_anisotropy, measure_cures, vector_stream
from explorer.analysis.anisotropy import sum_spaces
from explorer.analysis.vector_stream import Corpus, take_census
from tests.analysis.test_embeddings import own

WORDS = ("the", "cat", "dog", "king", "queen", "walks", "plays", "home")
KEPT = {"least_uses": 2, "most_words": 5, "most_uses": 5, "random_points": 20}
ROGUE = partial(find_rogue_dimensions, k=2, random_points=20)


class Sentences:
    """So many, each made when it is asked for; counts how often they are read from the start."""

    def __init__(self, count):
        self.count, self.readings = count, 0

    def __iter__(self):
        self.readings += 1
        for number in range(self.count):
            yield " ".join(WORDS[(number * place + place) % len(WORDS)] for place in range(1, 4 + number % 5))


@pytest.fixture
def model_reads(monkeypatch):
    """How many sentences the model has read."""
    rows, real = [], vector_stream.layer_vectors

    def counting(model, given, *others):
        rows.extend(given)
        return real(model, given, *others)

    monkeypatch.setattr(vector_stream, "layer_vectors", counting)
    return rows


@pytest.mark.parametrize(
    ("analysis", "readings", "passes"),
    [
        (measure_anisotropy, 2, 1),
        (partial(measure_anisotropy, cure="whitening"), 3, 2),
        (measure_cures, 3, 2),
        (sum_spaces, 2, 1),
        (partial(ROGUE, places=0), 2, 1),
    ],
    ids=["as they are", "a cure", "all cures", "spaces", "rogue dimensions"],
)
def test_a_corpus_is_read_by_the_model_twice_at_most(model_reads, analysis, readings, passes):
    sentences = Sentences(60)
    analysis(own("word_piece"), sentences=sentences)
    assert sentences.readings == readings
    assert len(model_reads) == passes * 60


@pytest.mark.parametrize(
    "analysis",
    [
        partial(measure_anisotropy, **KEPT),
        partial(measure_anisotropy, unit="words", cure="z_score", **KEPT),
        partial(ROGUE, places=0),
    ],
    ids=["as they are", "words after a cure", "rogue dimensions"],
)
def test_memory_does_not_grow_with_the_corpus(monkeypatch, analysis):
    monkeypatch.setattr(vector_stream, "TOKENIZED_AT_ONCE", 20)
    monkeypatch.setattr(vector_stream, "POINTS_AT_ONCE", 200)

    def most_held(count):
        tracemalloc.start()
        try:
            analysis(own("word_piece"), sentences=Sentences(count))
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    most_held(50)  # what is made once
    grown = most_held(400) - most_held(100)
    assert grown < 2**18, f"{grown:,} bytes more for 300 sentences more, whose vectors take 430,000"


def test_sentences_are_counted_while_they_are_read():
    sentences = ["the cat", "  ", "the cat ", ""]
    census = take_census(own("word_piece"), Corpus(sentences))
    assert (census.sentences, census.differ, census.points) == (2, False, 4)
    census = take_census(own("word_piece"), Corpus([*sentences, "a dog"]))
    assert (census.sentences, census.differ) == (3, True)
