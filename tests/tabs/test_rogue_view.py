"""What the view "Rogue dimensions" measures and shows, against the analyses themselves."""

from functools import partial

import numpy as np
import pytest

from explorer.analysis import find_rogue_dimensions
from explorer.analysis.exporting import to_tables
from explorer.errors import UnsuitableModel, UnsuitableText
from explorer.tabs.anisotropy.material import DRAWS, FEW_DRAWS, MOST_ROGUES, PLACES, ROGUE_POINTS, Measured, Sentences
from explorer.tabs.anisotropy.rogue import _draw_ablation, _draw_nothing, _draw_rogues, _foot, _read
from explorer.tabs.taking_away import download_links

MODEL = "MiniLM (masked)"
OWN = Sentences(
    ("The cat sat on the mat.", "A dog saw the cat and the <b>mat</b>.", "The dog ran home.", "At home it slept."),
    "own",
)


@pytest.fixture(scope="module")
def measured():
    return Measured()


@pytest.mark.parametrize("layer", [3, 6])
def test_what_is_shown_is_what_the_analysis_finds(measured, shipped_registry, layer):
    found = measured.rogues(shipped_registry, MODEL, OWN)
    lost = measured.ablation(shipped_registry, MODEL, OWN, found, layer=layer, k=2, value="zero")
    ask = partial(
        find_rogue_dimensions, sentences=OWN.sentences, corpus="own", k=MOST_ROGUES, random_points=ROGUE_POINTS,
        places=PLACES, ablated=layer, value="zero",
    )  # fmt: skip
    alone = shipped_registry.run(MODEL, ask)
    np.testing.assert_allclose(found.contributions, alone.contributions, atol=1e-6)
    np.testing.assert_allclose(found.r_squared, alone.r_squared, atol=1e-4)
    for one, other in zip(lost.rogue, alone.ablation.rogue, strict=False):
        assert one.dimensions == other.dimensions and one.kept == other.kept
        assert one.divergence_bits == pytest.approx(other.divergence_bits, rel=1e-3, abs=1e-6)
    assert (lost.places, lost.layer, lost.value, len(lost.rogue)) == (len(OWN.sentences), layer, "zero", 2)
    assert measured.rogues(shipped_registry, MODEL, OWN) is found, "kept"
    again = measured.ablation(shipped_registry, MODEL, OWN, found, layer=layer, k=2, value="zero")
    assert again is lost and again is not measured.ablation(
        shipped_registry, MODEL, OWN, found, layer=layer, k=1, value="zero"
    )
    said, bars, below, *_ = _draw_rogues(found, layer, 3)
    assert f"{MODEL}, layer {layer}:" in said and bars.data
    assert str(found.protocol).replace("'", "&#x27;") in below and "data-file='rogue-contributions-MiniLM-" in below
    _, below, beside = _draw_ablation(found, lost, 2)
    how, draws = ("the vector that is predicted from", DRAWS) if layer == 6 else ("all tokens’ vectors", FEW_DRAWS)
    assert f"n = 4 predictions, one in a sentence; {how} changed; {draws} draws" in below and beside.count("<tr>") == 3


def test_a_model_that_predicts_nothing_says_so(measured, shipped_registry):
    found = measured.rogues(shipped_registry, "ELMo mini", OWN)
    with pytest.raises(UnsuitableModel, match="ELMo mini is neither a masked nor"):
        measured.ablation(shipped_registry, "ELMo mini", OWN, found, layer=1, k=2, value="mean")
    figure, words, beside = _draw_nothing("</script> is neither.")
    assert figure is None and "&lt;/script&gt; is neither." in words and beside == ""
    assert "may need these numbers" in words and "nothing" not in words


def test_numbers_are_taken_away_of_all_layers_or_of_a_large_model_of_one(measured, shipped_registry, monkeypatch):
    found = measured.rogues(shipped_registry, "ELMo mini", OWN)
    assert found.contributions.size < 6_000
    every = _foot(found, 1, "")
    assert "CSV of top" in every and "CSV of contributions" in every and "JSON" in every
    monkeypatch.setattr("explorer.tabs.anisotropy.rogue.MOST_TAKEN", 5)
    assert len(_foot(found, 1, "")) < len(every)
    tables = to_tables(found)
    assert len(tables["contributions"]) == 1 + found.contributions.size
    assert download_links(found, "a", tables=("top",)).count("CSV of") == 1


@pytest.mark.parametrize(
    "values", [(-1, 3, "mean"), (1, 0, "mean"), (1, MOST_ROGUES + 1, "mean"), (1, 2.5, "mean"), (1, 3, "median"),
               (1, None, "mean"), (1, float("nan"), "mean"), (1, 3, None)],
)  # fmt: skip
def test_what_the_controls_cannot_give_is_refused(values):
    assert _read(6.0, 5, "zero") == (6, 5, "zero")
    with pytest.raises(UnsuitableText):
        _read(*values)
