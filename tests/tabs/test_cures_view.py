"""What the view "Cures" measures, against the analyses themselves, and what it refuses."""

import re
from base64 import b64decode
from dataclasses import replace
from functools import partial

import gradio as gr
import numpy as np
import pytest

from explorer.analysis import embed_occurrences, measure_cures
from explorer.analysis.anisotropy import sum_spaces
from explorer.analysis.cures import apply_cure, fit_cure
from explorer.analysis.labelled_uses import shipped_uses
from explorer.analysis.sense_scoring import score_vectors
from explorer.analysis.sense_sentences import read_sense_sentences
from explorer.errors import UnsuitableText
from explorer.tabs.anisotropy.cured_uses import CuredUses, read_word
from explorer.tabs.anisotropy.cures import build, read_chosen
from explorer.tabs.anisotropy.material import Measured, Sentences
from explorer.tabs.anisotropy.view import Desk
from explorer.tabs.neighbours.material import Vectors

MODEL = "MiniLM (masked)"
CORPUS = Sentences(tuple(entry.sentence for entry in read_sense_sentences("mouse")[:40]), "some of mouse")
CURES = ("none", "all_but_the_top", "whitening")


@pytest.fixture(scope="module")
def measured():
    return Measured()


def same(one, other):
    assert (one.cure, one.layers, one.protocol) == (other.cure, other.layers, other.protocol)
    for key, values in one.metrics.items():
        np.testing.assert_allclose(values, other.metrics[key], rtol=1e-5, atol=1e-6, err_msg=key)
    np.testing.assert_allclose(one.spectrum, other.spectrum, atol=1e-7)
    np.testing.assert_allclose(one.random_pairs, other.random_pairs, atol=2e-4)


def test_cures_are_those_of_the_analysis_whether_spaces_are_known_or_not(measured, shipped_registry):
    found = measured.anisotropy(shipped_registry, MODEL, CORPUS, CURES)
    ask = partial(measure_cures, sentences=CORPUS.sentences, corpus=CORPUS.name)
    for one, other in zip(found, shipped_registry.run(MODEL, partial(ask, cures=CURES)), strict=True):
        same(one, other)
    assert measured.anisotropy(shipped_registry, MODEL, CORPUS, CURES[::-1])[::-1] == found, "kept"
    more = measured.anisotropy(shipped_registry, MODEL, CORPUS, CURES, components=5)
    assert more[0] is found[0] and more[2] is found[2] and more[1] is not found[1], "only the top depends on them"
    [alone] = shipped_registry.run(MODEL, partial(ask, cures=["all_but_the_top"], components=5))
    same(more[1], alone)


def test_senses_are_scored_after_the_cure_of_the_corpus(measured, shipped_registry):
    uses = CuredUses(Vectors(64), measured)
    options = {"unit": "tokens", "specials": False, "components": 2}
    found = uses.senses(shipped_registry, MODEL, CORPUS, "bass", CURES, **options)
    shipped = shipped_uses("bass")
    embedded = shipped_registry.run(
        MODEL, partial(embed_occurrences, sentences=shipped.sentences, positions=shipped.positions)
    )
    spaces = shipped_registry.run(MODEL, partial(sum_spaces, sentences=CORPUS.sentences))
    for one, cure in zip(found, CURES, strict=True):
        ready = [fit_cure(cure, space, components=2) for space in spaces]
        pairs = zip(ready, embedded.vectors, strict=True)
        vectors = np.stack([apply_cure(each, points).astype(np.float32) for each, points in pairs])
        alone = score_vectors(replace(embedded, vectors=vectors), shipped.senses)
        shares = [[(at.nearest.value, at.centroid.value) for at in scores.layers] for scores in (one.scores, alone)]
        np.testing.assert_allclose(*shares, atol=2.5 / len(shipped.senses))  # as near as rounding may decide
        right = one.scores.layers[6].centroid.value - found[0].scores.layers[6].centroid.value
        assert right * len(shipped.senses) == pytest.approx(one.layers[6].centroid.gained - one.layers[6].centroid.lost)
    assert uses.senses(shipped_registry, MODEL, CORPUS, "bass", ("whitening",), **options)[0] is found[2], "kept"


def test_sentences_of_another_language_are_left_out():
    uses, labels = read_word("die")
    assert labels.foreign == ("article (German)",) and len(labels.kept) < len(uses.sentences)


def test_a_corpus_that_is_too_small_is_said(measured, shipped_registry):
    with pytest.raises(UnsuitableText, match="only 2 tokens"):
        measured.anisotropy(shipped_registry, MODEL, Sentences(("two words",), "small"), CURES)
    with pytest.raises(UnsuitableText, match="All sentences are the same"):
        measured.spaces(shipped_registry, MODEL, Sentences(("one word more",) * 3, "same"))


def test_what_few_vectors_cannot_do_is_said_and_the_word_is_taken_away(measured, shipped_registry):
    with gr.Blocks():
        desk = Desk(gr.Dropdown(), gr.Textbox(), gr.Radio(), gr.Checkbox(), gr.Number(), gr.Slider(), measured)
        with gr.Tabs():
            view = build(shipped_registry, desk)
    options = ["tokens", False, 6, ["mean_removal", "whitening"], 3, "mean_cosine", "mouse"]
    stages = view.draw(MODEL, "The cat sat.\nA dog ran.", *options)
    measures, judged = ("".join(map(str, stage)) for stage in stages if stage[0] == "")
    assert "−1/7, or −0.143, as there are only 8 of them" in measures
    assert "whitening 14 %; all alike it would be 14 %" in measures
    for shown in (measures, judged.partition("Without a model")[0]):
        assert "From 8 vectors it learns 7 of 384 directions at most" in shown
    [data] = re.findall("download='cures-mouse-cured_senses-MiniLM-masked.csv' href='[^,]*,([^']*)'", judged)
    rows = b64decode(data).decode("utf-8-sig").splitlines()
    assert rows[0].startswith("word,model,") and rows[1].startswith("mouse,MiniLM (masked),")
    assert "download='cures-mouse-MiniLM-masked.json'" in judged


def test_what_the_controls_cannot_say_is_refused():
    chosen = read_chosen(["whitening", "mean_removal"], 3, "isoscore", "bank")
    assert chosen.cures == ("none", "mean_removal", "whitening") and chosen.components == 3
    assert read_chosen([], 1.0, "isoscore", "bank").cures == ("none",)
    for cures, components, metric in (
        ("whitening", 3, "isoscore"),
        (["hope"], 3, "isoscore"),
        ([["none"]], 3, "isoscore"),
        ([], 0, "isoscore"),
        ([], 2.5, "isoscore"),
        ([], float("nan"), "isoscore"),
        ([], None, "isoscore"),
        ([], 3, "hope"),
        ([], 3, ["isoscore"]),
    ):
        with pytest.raises(UnsuitableText, match="Cures are asked for by"):
            read_chosen(cures, components, metric, "bank")
    with pytest.raises(UnsuitableText, match="No sentences of “zebra”"):
        read_chosen([], 3, "isoscore", "zebra")
