"""The tab about anisotropy: its corpus, what it keeps, what it opens on, what its examples claim, what it draws."""

import gzip
import json
from dataclasses import replace

import gradio as gr
import numpy as np
import pytest

from explorer.analysis import measure_anisotropy
from explorer.analysis.anisotropy_metrics import METRICS
from explorer.analysis.own_corpus import read_own_corpus
from explorer.errors import UnsuitableText
from explorer.models.card import Ability
from explorer.settings import settings
from explorer.tabs.anisotropy.corpus import read_upload
from explorer.tabs.anisotropy.cures import FIRST_CURES
from explorer.tabs.anisotropy.first_measured import compute_first_measured, read_first_measured, store
from explorer.tabs.anisotropy.gallery import read_gallery
from explorer.tabs.anisotropy.layers import METRIC_CHOICES, PROTOCOLS, draw_layers
from explorer.tabs.anisotropy.material import EVERY, Measured, Sentences, read_corpus
from explorer.tabs.kept import Kept
from explorer.tabs.links import _in_address, _value
from tests.analysis.test_embeddings import own
from tests.figures.anisotropy_results import anisotropy

CORPUS = Sentences(("the cat sat on the mat", "a dog and a cat ran", "the dog sat here", "a mat is on the cat"), "four")


class OneModel:
    """A registry of one model that counts what is run."""

    def __init__(self, model):
        self.model, self.asked = model, []

    def card(self, name):
        return name

    def run(self, name, analysis):
        self.asked.append((name, analysis.keywords.get("cures")))
        return analysis(self.model)


@pytest.fixture
def registry():
    return OneModel(own("word_piece"))


def test_the_corpus_is_ours_or_the_visitors():
    ours = read_corpus(" \n")
    assert ours.sentences == read_own_corpus()[::EVERY] and "third" in ours.name
    yours = read_corpus("One line.\n\n  A second one. \n")
    assert yours.sentences == ("One line.", "A second one.") and yours.name == "Your sentences"
    assert read_corpus(None) is ours
    with pytest.raises(UnsuitableText, match="at most 1,000,000"):
        read_corpus("a " * settings().most_corpus_characters)


def test_a_file_fills_the_box_without_senses_and_as_far_as_there_is_room(tmp_path):
    path = tmp_path / "<b>.tsv.gz"
    path.write_bytes(gzip.compress(b"sense\tsentence\nstage\tA play.\ngame\tWe <i>play</i>.\n"))
    text, said = read_upload(path)
    assert text == "A play.\nWe <i>play</i>." and ": 2 sentences." in said
    assert "<b>" not in said and "Sentences were read from column 2" in said
    assert "Senses are not used here." in said
    long = tmp_path / "long.txt"
    long.write_text("\n".join(f"{number} " + "x" * 10_000 for number in range(200)), encoding="utf-8")
    text, said = read_upload(long)
    assert 980_000 < len(text) <= settings().most_corpus_characters and "takes no more than" in said
    assert "Senses" not in said
    assert text in "\n".join(long.read_text(encoding="utf-8").splitlines())
    (tmp_path / "bad.txt").write_bytes(b"\n\n")
    with pytest.raises(UnsuitableText, match="no sentences"):
        read_upload(tmp_path / "bad.txt")


def test_what_was_measured_is_kept_and_only_what_is_missing_is_measured(registry):
    measured = Measured()
    [plain] = measured.anisotropy(registry, "tiny", CORPUS)
    both = measured.anisotropy(registry, "tiny", CORPUS, ("z_score", "none", "z_score"))
    assert [one.cure for one in both] == ["z_score", "none", "z_score"] and both[1] is plain
    assert [cures for _, cures in registry.asked if cures] == [("none",), ("z_score",)]  # and what cures are fitted on
    alone = measure_anisotropy(registry.model, sentences=CORPUS.sentences, cure="z_score", corpus="four")
    assert both[0].metrics == alone.metrics and both[0].protocol == alone.protocol
    [words] = measured.anisotropy(registry, "tiny", CORPUS, unit="words", specials=True)
    assert words.protocol.unit == "words" and not words.protocol.specials, "special tokens are no words"
    assert measured.anisotropy(registry, "tiny", CORPUS, unit="words")[0] is words
    [counted] = measured.anisotropy(registry, "tiny", CORPUS, specials=True)
    assert counted.protocol.points == plain.protocol.points + 2 * len(CORPUS.sentences)
    other = replace(CORPUS, sentences=CORPUS.sentences[::-1])
    assert measured.anisotropy(registry, "tiny", other)[0] is not plain, "the name alone does not make it the same"


def test_without_room_nothing_is_kept_and_all_is_answered(registry):
    measured = Measured(0)
    found = measured.anisotropy(registry, "tiny", CORPUS, ("none", "rank"))
    assert [one.cure for one in found] == ["none", "rank"]
    assert measured.anisotropy(registry, "tiny", CORPUS)[0] is not found[0]


def test_what_is_kept_can_be_found_without_computing_it():
    kept = Kept(1, len)
    kept.put("key", "value")
    assert kept.find("key") == "value" and kept.find("other") is None


@pytest.mark.parametrize(
    ("sentences", "said"),
    [
        (("one",), "only"),
        (("a cat sat",) * 3, "the same"),
        (("cat cat cat cat",), "one word again and again"),
        ((), "only 0 tokens"),
    ],
)
def test_a_corpus_that_is_too_small_is_told_and_not_kept(registry, sentences, said):
    measured = Measured()
    for _ in range(2):
        with pytest.raises(UnsuitableText, match=said):
            measured.anisotropy(registry, "tiny", Sentences(sentences, "bad"))
    assert len(registry.asked) == 2


def is_the_same(before, now):
    assert before.protocol == now.protocol and before.layers == now.layers and before.remarks == now.remarks
    for key in METRICS:
        np.testing.assert_allclose(before.metrics[key], now.metrics[key], rtol=2e-3, atol=2e-4)
    np.testing.assert_allclose(before.spectrum, now.spectrum, atol=1e-4)
    np.testing.assert_allclose(before.random_pairs, now.random_pairs, atol=2e-3)
    assert before.spectrum.dtype == now.spectrum.dtype and not before.spectrum.flags.writeable


def test_the_stored_measurements_are_those_that_two_views_open_on(shipped_registry):
    stored, start = read_first_measured(), read_gallery()[0]
    plain = [(model, "none") for model in (start.model, *start.beside)]
    assert [(one.model, one.cure) for one in stored] == plain + [(start.model, cure) for cure in FIRST_CURES]
    options = {"unit": start.unit, "specials": start.specials}
    [live] = Measured().anisotropy(shipped_registry, start.model, read_corpus(""), **options)
    is_the_same(stored[0], live)


@pytest.mark.slow
def test_all_stored_measurements_are_the_models_own(shipped_registry):
    for before, now in zip(read_first_measured(), compute_first_measured(shipped_registry), strict=True):
        is_the_same(before, now)


def test_what_is_stored_comes_back_as_it_was(tmp_path, monkeypatch):
    one = anisotropy()
    [packed] = store((one,))
    monkeypatch.setattr("explorer.tabs.anisotropy.first_measured.FILE", tmp_path / "file")
    (tmp_path / "file").write_text(json.dumps([packed]), encoding="utf-8")
    [back] = read_first_measured()
    assert back.metrics == one.metrics and back.protocol == one.protocol and back.layers == one.layers
    np.testing.assert_allclose(back.spectrum, one.spectrum, rtol=1e-6)
    assert back.top_dimensions.tolist() == one.top_dimensions.tolist() and back.covariance.shape == (3, 2, 2)


def test_examples_name_what_there_is(shipped_registry):
    names = set(shipped_registry.names(Ability.EMBED))
    shown = {"layers", "rogue", "cures", "similarity", "search"}
    for start in read_gallery():
        assert {start.model, *start.beside} <= names | {PROTOCOLS} and start.metric in dict(METRIC_CHOICES).values()
        assert start.show in shown and start.unit in ("tokens", "words")


def test_every_metric_is_drawn_with_what_it_says():
    found = (anisotropy(), anisotropy("</script>", layers=2))
    for label, key in METRIC_CHOICES:
        drawn = draw_layers(found, key, 1)
        assert label in drawn.said and "</script>" not in drawn.said + drawn.table + drawn.foot
        assert (drawn.adjusted is not None) == (key + "_adjusted" in METRICS)
        assert ("Thin line" in drawn.raw[1]) == (key not in ("mean_norm", "norm_spread"))
        assert "paper</a>" in drawn.foot and "seed 0" in drawn.foot and "CSV of metrics" in drawn.foot
        assert "spectrum" not in drawn.foot


def test_a_tick_is_restored_from_a_link():
    box = gr.Checkbox(False)
    assert _value("true", box) is True and _value("false", box) is False and _value("<b>", box) is None
    assert (_in_address(True), _in_address(False)) == ("true", "false")
