"""The labelled sentences that ship, their reader, and the baselines by words alone."""

import math
import re
from collections import Counter

import pytest

from explorer.analysis import sense_sentences
from explorer.analysis.sense_sentences import (
    SenseSentence,
    guess_by_bag_of_words,
    measure_bag_of_words,
    measure_chance,
    measure_most_frequent_sense,
    read_sense_sentences,
    sense_words,
)
from explorer.errors import UnsuitableText

WORDS = sense_words()
FORMS = {
    "play": {"play", "plays", "played", "playing"},
    "bank": {"bank", "banks", "banked", "banking"},
    "mouse": {"mouse", "mice", "mouses"},
    "bass": {"bass", "basses"},
    "star": {"star", "stars", "starred", "starring"},
    "right": {"right", "rights", "righted", "righting"},
    "spring": {"spring", "springs", "sprang", "sprung", "springing"},
    "match": {"match", "matches", "matched", "matching"},
    "light": {"light", "lights", "lit", "lighted", "lighting", "lighter", "lightest"},
    "run": {"run", "runs", "ran", "running"},
    "cell": {"cell", "cells"},
    "die": {"die", "dies", "died", "dying", "dice"},
}
ALL_FORMS = {"play", "bank", "right", "spring", "match", "light", "run", "die"}  # words that are verbs too
# How much more often than a blind guess a bag of words may be right; benchmarks/sense_sentences.py has each word's own.
ABOVE_CHANCE = 0.15


def families(word: str, text: str) -> list[str]:
    """Every word of a text that is a form of this word."""
    return [found for found in re.findall(r"[^\W_]+", text.casefold()) if found in FORMS[word]]


def made(*entries: tuple[str, str]) -> tuple[SenseSentence, ...]:
    """Sentences whose use is the word "x"."""
    return tuple(SenseSentence("x", sense, text, text.index("x"), text.index("x") + 1) for sense, text in entries)


@pytest.mark.parametrize("word", WORDS)
def test_every_sentence_marks_one_use_of_the_word(word):
    for entry in read_sense_sentences(word):
        assert entry.word == word
        assert entry.form == entry.sentence[entry.start : entry.end]
        assert entry.form.casefold() in FORMS[word], entry.sentence
        assert families(word, entry.sentence) == [entry.form.casefold()], f"used more than once: {entry.sentence}"
        assert not entry.sentence[entry.start - 1 : entry.start].isalnum() or entry.start == 0, entry.sentence
        assert not entry.sentence[entry.end : entry.end + 1].isalnum(), entry.sentence


@pytest.mark.parametrize("word", WORDS)
def test_sentences_are_well_formed(word):
    for entry in read_sense_sentences(word):
        text = entry.sentence
        assert 4 <= len(text.split()) <= 30, text
        assert text == " ".join(text.split()), f"spaces: {text!r}"
        assert text.isprintable() and not re.search("[{}]", text), text
        assert entry.sense == entry.sense.strip() and entry.sense.isprintable()


@pytest.mark.parametrize("word", WORDS)
def test_no_sentence_stands_twice(word):
    counts = Counter(
        " ".join(re.findall(r"[^\W_]+", entry.sentence.casefold())) for entry in read_sense_sentences(word)
    )
    assert [text for text, number in counts.items() if number > 1] == []


@pytest.mark.parametrize("word", WORDS)
def test_a_word_has_enough_senses_of_enough_sentences(word):
    counts = Counter(entry.sense for entry in read_sense_sentences(word))
    assert len(counts) >= (8 if word == "play" else 3)
    assert min(counts.values()) >= 25, counts


@pytest.mark.parametrize("word", WORDS)
def test_forms_and_places_vary(word):
    entries = read_sense_sentences(word)
    forms = Counter(entry.form.casefold() for entry in entries)
    assert len(forms) >= (3 if word in ALL_FORMS else 2)
    assert max(forms.values()) <= 0.85 * len(entries), forms
    for sense in {entry.sense for entry in entries}:
        mine = [entry for entry in entries if entry.sense == sense]
        places = [entry.start / len(entry.sentence) for entry in mine]
        assert min(places) < 1 / 3 and max(places) > 2 / 3, f"{sense}: the use stands always in the same place"
        assert len({len(entry.sentence.split()) for entry in mine}) >= 5, f"{sense}: all sentences are as long"


@pytest.mark.parametrize("word", WORDS)
def test_words_alone_give_no_sense_away(word):
    entries = read_sense_sentences(word)
    assert measure_bag_of_words(entries) <= measure_chance(entries) + ABOVE_CHANCE


def test_every_sense_is_explained():
    lines = (sense_sentences.FOLDER / "SENSES.md").read_text(encoding="utf-8").splitlines()
    explained: dict[str, set[str]] = {}
    for line in lines:
        if line.startswith("## "):
            explained[line[3:]] = set()
        elif found := re.fullmatch(r"- \*\*(.+?)\*\*: .{10,}", line):
            explained[list(explained)[-1]].add(found[1])
    assert explained == {word: {entry.sense for entry in read_sense_sentences(word)} for word in WORDS}


def test_a_word_without_sentences_is_refused_with_those_that_have_some():
    with pytest.raises(UnsuitableText, match=r"“xylophone”.*play"):
        read_sense_sentences("xylophone")


def test_a_path_is_no_word():
    with pytest.raises(UnsuitableText):
        read_sense_sentences("../sentences/play")


@pytest.mark.parametrize(
    "line",
    ["", "pun", "pun\tA play on words.", "pun\tA {play} on {words}.", "\tA {play}.", "pun\tA {}.", "pun\tA {play}\t."],
)
def test_a_broken_line_is_named(line, tmp_path, monkeypatch):
    (tmp_path / "play.tsv").write_text(f"sense\tsentence\npun\tA {{play}} on words.\n{line}\n", encoding="utf-8")
    monkeypatch.setattr(sense_sentences, "FOLDER", tmp_path)
    with pytest.raises(ValueError, match="play.tsv, line 3"):
        read_sense_sentences("play")


def test_reading_takes_the_braces_out(tmp_path, monkeypatch):
    (tmp_path / "play.tsv").write_text("sense\tsentence\npun\tA “{Play}” on words.\n", encoding="utf-8")
    monkeypatch.setattr(sense_sentences, "FOLDER", tmp_path)
    assert sense_sentences.sense_words() == ("play",)
    assert read_sense_sentences("play") == (SenseSentence("play", "pun", "A “Play” on words.", 3, 7),)


def test_a_file_without_its_header_is_refused(tmp_path, monkeypatch):
    (tmp_path / "play.tsv").write_text("pun\tA {play} on words.\n", encoding="utf-8")
    monkeypatch.setattr(sense_sentences, "FOLDER", tmp_path)
    with pytest.raises(ValueError, match="play.tsv starts with"):
        read_sense_sentences("play")


def test_words_that_go_with_a_sense_are_found():
    entries = made(("a", "red x"), ("a", "red x now"), ("b", "blue x"), ("b", "the blue x"))
    assert guess_by_bag_of_words(entries) == ("a", "a", "b", "b")
    assert measure_bag_of_words(entries) == 1
    assert measure_chance(entries) == measure_most_frequent_sense(entries) == 0.5


def test_the_use_itself_is_no_cue():
    texts = [("a", "x one"), ("b", "x two"), ("b", "x three"), ("b", "x four")]
    assert guess_by_bag_of_words(made(*texts)) == ("b",) * 4  # nothing shared: the sense that most of the others have
    assert measure_most_frequent_sense(made(*texts)) == 0.75


def test_one_sentence_has_no_others_to_learn_from():
    assert measure_bag_of_words(made(("a", "a red x"))) == 0
    with pytest.raises(ValueError, match="no sentences"):
        measure_bag_of_words(())


def test_the_bag_of_words_is_what_plain_loops_make_it():
    entries = read_sense_sentences("play")[::3]
    bags = []
    for entry in entries:
        around = (entry.sentence[: entry.start] + " " + entry.sentence[entry.end :]).casefold()
        bags.append(Counter(re.findall(r"[^\W_]+(?:['’-][^\W_]+)*|[^\w\s]", around)))
    number_holding = Counter(token for bag in bags for token in bag)
    vectors = []
    for bag in bags:
        vector = {token: count * math.log(len(bags) / number_holding[token]) for token, count in bag.items()}
        length = math.sqrt(sum(value**2 for value in vector.values()))
        vectors.append({token: value / length for token, value in vector.items()})
    expected = []
    for index, query in enumerate(vectors):
        score = {}
        for sense in {entry.sense for entry in entries}:
            mean: Counter[str] = Counter()
            for other, vector in enumerate(vectors):
                if other != index and entries[other].sense == sense:
                    mean.update(vector)
            length = math.sqrt(sum(value**2 for value in mean.values()))
            score[sense] = sum(value * mean[token] for token, value in query.items()) / length
        expected.append(max(score, key=score.get))
    assert guess_by_bag_of_words(entries) == tuple(expected)
