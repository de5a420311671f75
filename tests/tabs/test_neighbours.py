"""The tab that shows neighbours: what it opens on, what its examples claim, which uses it takes, what it keeps."""

import gzip
import re
from dataclasses import astuple, replace

import numpy as np
import pytest

from explorer.analysis.embedding_results import Occurrences, StaticNeighbours
from explorer.analysis.labelled_uses import LabelledUses, shipped_uses
from explorer.analysis.shared_senses import count_by_words, count_shared_sense
from explorer.analysis.vectors import join_occurrences
from explorer.errors import UnsuitableText
from explorer.figures import neighbours as neighbour_figures
from explorer.figures.neighbours import near_columns, use_list
from explorer.tabs.neighbours.finding import Static, add_use, find_near, read_query
from explorer.tabs.neighbours.first_neighbours import compute_first_neighbours, read_first_neighbours
from explorer.tabs.neighbours.gallery import read_gallery
from explorer.tabs.neighbours.material import MOST_USES, Vectors, read_uses, use_in_sight, word_for
from explorer.tabs.neighbours.own import read_upload
from explorer.tabs.neighbours.which_vector import Vector

HOSTILE = "</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def vectors():
    return Vectors(64)


def near(registry, vectors, model, uses, place, layer, typed=None):
    return find_near(vectors, registry, model, uses, typed, place, *astuple(Vector(layer)))


def test_the_stored_first_neighbours_are_the_models_own(shipped_registry):
    stored, live = read_first_neighbours(), compute_first_neighbours(shipped_registry)
    for before, now in zip(stored.near, live.near, strict=True):
        assert [one.sentence for one in before.neighbours] == [one.sentence for one in now.neighbours]
        cosines = [[one.cosine for one in side.neighbours] for side in (before, now)]
        np.testing.assert_allclose(*cosines, atol=1e-3)
        assert (before.model, before.vector, before.sentence, before.count) == (
            now.model, now.vector, now.sentence, now.count,
        )  # fmt: skip
    assert [one.token for one in stored.static.neighbours] == [one.token for one in live.static.neighbours]


@pytest.mark.parametrize("start", read_gallery(), ids=lambda start: start.label)
def test_an_example_shows_what_it_says(shipped_registry, vectors, start):
    uses = read_uses(start.word, "")
    sense = uses.senses[start.use]

    def shared(model, layer):
        found = near(shipped_registry, vectors, model, uses, start.use, layer)
        return count_shared_sense(found, sense=sense, senses=uses.senses)

    first = shared(start.model, start.layer)
    assert first.nearest == 10 and first.shared >= start.shared > 2 * first.expected
    if start.compare != "nothing":
        other = start.model if start.compare == "same" else start.compare
        assert shared(other, start.other_layer).shared <= start.other_shared


def test_neighbours_are_those_of_a_plain_loop(shipped_registry, vectors):
    uses = read_uses("mouse", "")
    found = near(shipped_registry, vectors, "MiniLM (masked)", uses, 7, 4)
    points = vectors.embed(shipped_registry, "MiniLM (masked)", uses).vectors[4].astype(np.float64)
    cosines = [
        float(one @ points[7] / np.sqrt((one @ one) * (points[7] @ points[7]))) if place != 7 else -2.0
        for place, one in enumerate(points)
    ]
    order = sorted(range(len(points)), key=lambda place: -cosines[place])[:10]
    assert [one.index for one in found.neighbours] == order
    np.testing.assert_allclose([one.cosine for one in found.neighbours], [cosines[place] for place in order], atol=1e-5)
    senses = [uses.senses[place] for place in order]
    count = count_shared_sense(found, sense=uses.senses[7], senses=uses.senses)
    assert count.shared == senses.count(uses.senses[7])
    assert count.expected == pytest.approx(10 * 27 / 83)


def test_a_typed_sentence_is_searched_for_as_if_it_were_a_use(shipped_registry, vectors):
    uses = read_uses("mouse", "")
    typed = read_query("Two mice ran over the keyboard.", "mouse", uses)  # an irregular form that the uses have
    assert typed.positions == ((4, 8),)
    again = LabelledUses(uses.sentences[3:4], uses.positions[3:4], ("",))
    found = near(shipped_registry, vectors, "MiniLM (masked)", uses, len(uses.sentences), 6, again)
    assert found.neighbours[0].index == 3 and found.neighbours[0].cosine == pytest.approx(1, abs=1e-4)
    assert found.count == len(uses.sentences)
    assert len(add_use(uses, typed).sentences) == len(uses.sentences) + 1
    with pytest.raises(UnsuitableText, match="not in your sentence"):
        read_query("No such word.", "mouse", uses)


def test_what_other_models_embedded_is_not_joined():
    one = Occurrences("a", ("x",), ((0, 1),), ("x",), (("x",),), ((0, 1),), "mean", (0,), 1, np.ones((1, 1, 2)), ())
    other = Occurrences("b", ("x",), ((0, 1),), ("x",), (("x",),), ((0, 1),), "mean", (0,), 1, np.ones((1, 1, 2)), ())
    with pytest.raises(UnsuitableText):
        join_occurrences(one, other)
    assert join_occurrences(one, one).vectors.shape == (1, 2, 2)


def test_shipped_and_own_uses():
    assert read_uses("play", "") == shipped_uses("play")
    assert read_uses(" Play ", " \n") == shipped_uses("play")
    own = read_uses("play", "He plays.\nsense\tA {play}.\nnothing\n\nThey played and played.")
    assert own.senses == ("", "sense", "", "") and own.without == 1
    assert read_uses("ice cream", "An ice  cream, please.").positions == ((3, 13),)
    assert read_uses("يد", "في يد الرجل كتاب.").positions == ((3, 5),)
    assert read_uses("", "A {b} c.").positions == ((2, 3),)
    assert len(read_uses("go", "He {went}.\nThey {go}.").sentences) == 2


@pytest.mark.parametrize(
    ("word", "own", "stands"),
    [
        ("play", "Das {Schloss} ist alt.\nEin {Schloss} hat Zimmer.", "Schloss"),
        ("play", "He {played}.\nA {game}.", "play"),
        ("", "A {game}.", ""),
        ("play", "Nothing yet, {ga", "play"),
        ("play", "They played.", "play"),
        ("p" * 101, "A {game}.", "p" * 101),
    ],
)
def test_the_word_follows_what_ones_own_sentences_mark(word, own, stands):
    assert word_for(word, own) == stands


@pytest.mark.parametrize(
    ("word", "own", "said"),
    [
        ("zebra", "", "No sentences of “zebra”"),
        ("", "", "There is no word"),
        (None, None, "There is no word"),
        ("zebra", "no such animal", "not in the only sentence"),
        ("zebra", "No such animal.\nNor here.", "in none of the 2 sentences"),
        ("Bank", "A river.\nTwo rivers.", "Or empty the box under .* sentences of “bank” come with the explorer"),
        ("a", "a " * 9_000, "the page takes at most"),
        ("a", "a " * 20_000, "characters"),
        ("", "no braces here", "braces"),
        (
            "cat",
            "The {sailor} ate.\nA {sailor} slept.",
            "mark uses of “sailor” in braces, and none of “cat”. To find “cat” in a corpus, press Search",
        ),
    ],
)
def test_what_has_no_uses_is_said(word, own, said):
    with pytest.raises(UnsuitableText, match=said):
        read_uses(word, own or "")


def test_a_use_that_there_is_not_is_the_first():
    uses = read_uses("mouse", "")
    assert use_in_sight(uses, 83) == 83 and use_in_sight(uses, 84) == 0
    assert use_in_sight(uses, None) == 0 and use_in_sight(uses, -1) == 0


@pytest.mark.parametrize("count", [1, 2, 3])
def test_very_few_uses(shipped_registry, vectors, count):
    uses = read_uses("bank", "\n".join(["The bank closed.", "A bank of fog.", "The left bank."][:count]))
    if count == 1:
        with pytest.raises(UnsuitableText, match="at least two"):
            near(shipped_registry, vectors, "MiniLM (masked)", uses, 0, 6)
        return
    found = near(shipped_registry, vectors, "MiniLM (masked)", uses, 0, 6)
    assert len(found.neighbours) == count - 1


def test_vectors_of_one_word_are_computed_once():
    class FakeRegistry:
        asked = 0

        def card(self, name):
            return name

        def run(self, name, analysis):
            self.asked += 1
            uses = len(analysis.keywords["sentences"])
            return Occurrences(
                name, ("x",) * uses, ((0, 1),) * uses, ("x",) * uses, (("x",),) * uses, ((0, 1),) * uses,
                analysis.keywords["pieces"], (0,), 1, np.ones((1, uses, 2), np.float32), (),
            )  # fmt: skip

    registry, held, uses = FakeRegistry(), Vectors(1), read_uses("mouse", "")
    assert held.embed(registry, "any", uses) is held.embed(registry, "any", uses)
    held.embed(registry, "any", uses, "first")
    held.embed(registry, "other", uses)
    assert registry.asked == 3


def test_static_neighbours_of_a_file_and_what_has_none(shipped_registry, tmp_path):
    file = tmp_path / "glove.txt"
    file.write_text("play 1 0\nplays 0.9 0.1\ndrama 0.5 0.5\n", encoding="utf-8")
    static = Static()
    found = static.find(shipped_registry, "MiniLM (masked)", "Play", str(file), ())
    assert [one.text for one in found.static.neighbours] == ["plays", "drama"]
    file.unlink()  # it is kept
    assert static.find(shipped_registry, "MiniLM (masked)", "plays", str(file), ()).static.count == 3
    assert "not among" in static.find(shipped_registry, "MiniLM (masked)", "zebra", str(file), ()).why_no_static


def test_an_uploaded_file_gives_the_sentences_that_have_the_word(tmp_path):
    file = tmp_path / "own.csv"
    file.write_text("sense,sentence\nfog,A bank of fog.\nriver,The left bank.\nnone,Nothing here.\n", encoding="utf-8")
    text, said = read_upload(file, "bank")
    assert text == "fog\tA bank of fog.\nriver\tThe left bank."
    assert "2 uses in 2 of 3 sentences" in said
    with pytest.raises(UnsuitableText, match="none of them"):
        read_upload(file, "zebra")
    long = tmp_path / "long.txt"
    long.write_text(f"The left bank.\n{'the bank ' * 20_000}\n", encoding="utf-8")
    text, said = read_upload(long, "bank")
    assert text == "The left bank." and "A line was left out" in said and "179,999 characters" in said
    packed = tmp_path / "many.txt.gz"
    packed.write_bytes(gzip.compress("\n".join(f"bank {n}" for n in range(MOST_USES + 5)).encode()))
    text, said = read_upload(packed, "bank")
    assert len(text.splitlines()) == MOST_USES and "no more than" in said
    long.write_text("The left bank.\n" * 300_000, encoding="utf-8")
    with pytest.raises(UnsuitableText, match="larger than the 4 MiB .* Or search it as a corpus, below"):
        read_upload(long, "bank")


def test_all_that_visitors_type_is_escaped():
    uses = LabelledUses(
        (f"{HOSTILE} play", f"play {HOSTILE}"), ((len(HOSTILE) + 1, len(HOSTILE) + 5), (0, 4)), (HOSTILE, HOSTILE)
    )
    drawn = use_list(uses, 0)
    assert "<img" not in drawn and "</script>" not in drawn and "data-use='1'" in drawn
    found = read_first_neighbours()
    drawn = near_columns(found.near, None, HOSTILE, uses, 0)
    assert "<img" not in drawn and "</script>" not in drawn


@pytest.mark.parametrize(("use", "entered"), [(3, 3), (7_000, 0)])
def test_the_list_is_one_stop_of_the_tab_key(use, entered):
    drawn = use_list(shipped_uses("play"), use)
    assert re.findall("data-use='([0-9]+)' tabindex='0'", drawn) == [str(entered)]
    assert drawn.count("tabindex=") == drawn.count("<button") == 280


def test_a_bag_of_words_stands_beside_what_is_near(monkeypatch):
    near, uses = read_first_neighbours().near[0], shipped_uses("play")
    drawn = near_columns([near], None, "", uses, 0)
    by_words = f"(a bag of words) it would be {count_by_words(uses, 0, nearest=10):.1f}, by chance it would be"
    assert by_words in drawn
    monkeypatch.setattr(neighbour_figures, "MOST_BAGS", len(uses.sentences) - 1)
    assert "bag of words" not in near_columns([near], None, "", uses, 0), "too many to be compared at once"


@pytest.mark.parametrize(
    ("vector", "sentences", "why"),
    [
        (
            "input embeddings, centred",
            ("The play.", "The play ends."),
            "At layer 0 nothing of the sentence was read yet",
        ),
        ("layer 6", ("The play.", "the play ends."), "a model that reads from the left has seen no more"),
        ("layer 6", ("The play.", "The play."), ""),
        ("layer 6", ("The play.", "The last play."), ""),
    ],
)
def test_why_uses_are_as_near_as_each_other_is_said_where_it_is_known(vector, sentences, why):
    near, uses = read_first_neighbours().near[0], shipped_uses("play")
    tied = tuple(
        replace(near.neighbours[0], sentence=sentence, start=sentence.index("play"), end=sentence.index("play") + 4)
        for sentence in sentences
    )
    drawn = near_columns([replace(near, vector=vector, neighbours=tied)], None, "", uses, 0)
    after = drawn.partition("so that their order says nothing.")[2].partition("</p>")[0]
    assert why in after and bool(after) == bool(why)


def test_what_makes_a_list_say_less_is_said():
    near = read_first_neighbours().near[0]
    uses = shipped_uses("play")
    assert "as near as each other" not in near_columns([near], None, "", uses, 0)
    tied = replace(near, neighbours=tuple(replace(one, cosine=1.0) for one in near.neighbours), remarks=("Cut.",))
    drawn = near_columns([tied], None, "", uses, 0)
    assert "All of these are as near as each other" in drawn and "Cut." in drawn
    assert "<b>A tie</b>" in drawn and "share its sense;" not in drawn
    some = tuple(replace(one, cosine=1.0 if place else 1.1) for place, one in enumerate(near.neighbours))
    drawn = near_columns([replace(near, neighbours=some)], None, "", uses, 0)
    assert "9 of these are as near as each other" in drawn and "share its sense;" in drawn
    pair = [replace(one, cosine=0.8 if place < 2 else 0.7 - place / 100) for place, one in enumerate(near.neighbours)]
    assert "2 of these are as near as each other" in near_columns(
        [replace(near, neighbours=tuple(pair))], None, "", uses, 0
    )
    all_there = replace(near, count=len(near.neighbours))
    drawn = near_columns([all_there], None, "", uses, 0)
    assert "All 10 other uses; 7 of them share its sense." in drawn and "by chance" not in drawn
    senses = (uses.senses[0], *["another"] * 9)
    one = tuple(replace(each, sense=sense) for each, sense in zip(near.neighbours, senses, strict=True))
    drawn = near_columns([replace(all_there, neighbours=one)], None, "", uses, 0)
    assert "All 10 other uses; 1 of them shares its sense." in drawn
    words = StaticNeighbours("a file", "play", ("play",), 1, (), ())
    drawn = near_columns([near], words, "", uses, 0)
    assert "No other word has a vector there." in drawn and "list for all its senses" not in drawn
