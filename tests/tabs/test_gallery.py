"""The examples are answered as they promise, and what belongs to one leaves with its sentence."""

from functools import partial

import pytest

from explorer import analysis
from explorer.models.catalogue import DEFAULT_MODEL
from explorer.tabs import anisotropy, attention, fill_blanks, generate, neighbours
from explorer.tabs.fill_blanks.gallery import follow_example, read_gallery

GALLERY = read_gallery()
JAPAN = next(example for example in GALLERY if example.label == "Capital of Japan")
MOZART = next(example for example in GALLERY if example.label == "Mozart")


def test_every_example_has_what_the_views_need():
    for example in GALLERY:
        blanks = example.text.count("___")
        assert blanks and len(example.candidates.split("\n")) == blanks, example.label
        assert "___" in example.other, example.label


@pytest.mark.parametrize("tab", [anisotropy, attention, fill_blanks, generate, neighbours])
def test_every_example_of_every_tab_says_in_a_line_what_to_look_for(tab):
    for example in tab.gallery.read_gallery():
        assert 20 < len(example.look_for) < 125, example.label


@pytest.mark.parametrize("label", ["Bank", "Pitcher", "Capital of Japan", "Seven days", "Which preposition?"])
def test_the_shipped_model_gives_the_answer_that_the_example_is_about(shipped_registry, label):
    example = next(example for example in GALLERY if example.label == label)
    (blank,) = shipped_registry.run(DEFAULT_MODEL, partial(analysis.fill_blanks, text=example.text)).blanks
    assert blank.choices[0].text == example.candidates.split(",")[0].lower()  # its vocabulary has no capitals


@pytest.mark.parametrize("label", ["Capital of Japan", "A good evening", "Two and two"])
def test_what_models_answer_differently_is_asked_rather_than_told(label):
    (example,) = [example for example in GALLERY if example.label == label]  # pressed under any model
    assert "?" in example.look_for.rpartition(":")[2] or "whether" in example.look_for


def test_another_sentence_takes_the_examples_words_with_it():
    assert follow_example(GALLERY, "My ___.", JAPAN.candidates, JAPAN.other, JAPAN) == ("", "", JAPAN)


@pytest.mark.parametrize(
    "text",
    [
        "They flew to Kyoto, the capital of ___.",
        "They flew to Tokyo, the old capital of ___.",
        "They flew to Tokyo, capital of ___.",
    ],
)
def test_an_edit_of_a_few_words_keeps_what_belongs_to_the_example(text):
    assert follow_example(GALLERY, text, JAPAN.candidates, JAPAN.other, JAPAN) == (JAPAN.candidates, JAPAN.other, JAPAN)
    assert follow_example(GALLERY, text, "", "", JAPAN) == ("", "", JAPAN)


@pytest.mark.parametrize(
    "text", ["They flew to ___, the capital of ___.", "They ___.", "A dog is the best friend of ___."]
)
def test_another_number_of_blanks_or_many_other_words_do_not(text):
    assert follow_example(GALLERY, text, JAPAN.candidates, JAPAN.other, JAPAN) == ("", "", JAPAN)


def test_an_example_about_a_contrast_opens_the_view_that_shows_it():
    assert {example.label for example in GALLERY if example.view == "contrast"} >= {
        "Texas and New York", "Bank", "Doctor and nurse"
    }  # fmt: skip
    assert {example.view for example in GALLERY} == {"answer", "watch", "candidates", "contrast", "spans"}


def test_what_the_visitor_typed_stays():
    assert follow_example(GALLERY, "My ___.", "mine", "Your ___.", JAPAN) == ("mine", "Your ___.", JAPAN)
    assert follow_example(GALLERY, MOZART.text, "mine", JAPAN.other, JAPAN) == ("mine", MOZART.other, MOZART)


def test_the_sentence_of_an_example_brings_them_back():
    assert follow_example(GALLERY, JAPAN.text, "", "", JAPAN) == (JAPAN.candidates, JAPAN.other, JAPAN)


def test_what_looks_at_france_does_not_know_its_capital(shipped_registry):
    """As the example of attention says."""
    [start] = (start for start in attention.gallery.read_gallery() if start.label == "The capital of ___")
    fills = shipped_registry.run(start.model, partial(analysis.fill_blanks, text=start.text))
    assert [choice.text for choice in fills.blanks[0].choices[:2]] == ["france", "paris"]
