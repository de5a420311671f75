"""Uses of a word in a corpus: against a plain reading of all of it, whatever the file is like."""

import gzip
import lzma
import random
import tracemalloc
from collections import Counter
from pathlib import Path

import pytest

from explorer.analysis import corpus_search
from explorer.analysis.corpus_results import CorpusProgress, CorpusUses
from explorer.analysis.corpus_search import cut_sentences, find_corpus_uses, hash_corpus
from explorer.analysis.uses import find_uses
from explorer.errors import UnsuitableText
from explorer.settings import Settings

FORMS = ("plays", "played", "playing")
WORDS = "the a of on with river garden teacher child evening young quick ball piano drum stone display".split()


def search(path, word="play", **options) -> CorpusUses:
    *before, uses = find_corpus_uses(path, word, **options)
    assert isinstance(uses, CorpusUses) and all(isinstance(event, CorpusProgress) for event in before)
    return uses


def write(tmp_path, text, name="corpus.txt", encoding="utf-8") -> Path:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
    return path


def made_lines(count, seed=0, share=0.2):
    draw = random.Random(seed)
    for number in range(count):
        words = [draw.choice(WORDS) for _ in range(draw.randint(3, 15))]
        if draw.random() < share:
            words[draw.randrange(len(words))] = draw.choice(["play", "Plays", "played", "playing", "play-off"])
        yield " ".join(words) + f" {number}."


def plain(lines, forms=FORMS):
    """Every use by a plain loop."""
    return [(line, span) for line in lines for span in find_uses(line, "play", forms=forms)]


def test_all_uses_are_found_in_order(tmp_path):
    lines = list(made_lines(5_000))
    uses = search(write(tmp_path, "\n".join(lines)), forms=FORMS)
    expected = plain(lines)
    assert list(zip(uses.sentences, uses.positions, strict=True)) == expected
    assert uses.sentences_read == 5_000 and uses.found == len(expected) > 500 and uses.left_out == 0
    assert [lines[line - 1] for line in uses.lines] == list(uses.sentences) and uses.remarks == ()
    few = search(write(tmp_path, "\n".join(lines)))
    assert list(zip(few.sentences, few.positions, strict=True)) == plain(lines, ())


@pytest.mark.parametrize("chunk", [1, 7, 1000])
def test_it_does_not_matter_how_the_file_is_cut(tmp_path, chunk, monkeypatch):
    lines = [*made_lines(60), "They play 玩 😀 – “play”.", ""]
    for encoding in ("utf-8", "utf-16"):
        for end in ("\n", "\r\n", "\r"):
            path = write(tmp_path, end.join(lines), encoding=encoding)
            monkeypatch.setattr("explorer.analysis.text_files.CHUNK_BYTES", 2**18)
            whole = search(path, forms=FORMS)
            assert list(whole.sentences) == [line for line, _ in plain(lines)]
            if chunk > 1 or (encoding, end) == ("utf-8", "\r\n"):
                monkeypatch.setattr("explorer.analysis.text_files.CHUNK_BYTES", max(chunk, 4))
                assert search(path, forms=FORMS) == whole


@pytest.mark.parametrize("name, pack", [("corpus.txt.gz", gzip.compress), ("corpus.txt.xz", lzma.compress)])
def test_packed_corpora(tmp_path, name, pack):
    lines = list(made_lines(3_000))
    uses = search(write(tmp_path, pack("\n".join(lines).encode()), name), forms=FORMS)
    assert list(zip(uses.sentences, uses.positions, strict=True)) == plain(lines)


def test_of_many_uses_a_random_sample_is_kept(tmp_path):
    lines = list(made_lines(2_000, share=1))
    path = write(tmp_path, "\n".join(lines))
    all_uses, some = search(path, forms=FORMS, sample=20_000), search(path, forms=FORMS, sample=100, seed=1)
    assert len(some.sentences) == 100 and some.found == all_uses.found and some.sentences_read == 2_000
    assert some.remarks == (f"The word is used {some.found:,} times; 100 of these uses were drawn at random (seed 1).",)
    assert set(some.sentences) < set(all_uses.sentences) and list(some.lines) == sorted(some.lines)
    assert search(path, forms=FORMS, sample=100, seed=1) == some
    assert search(path, forms=FORMS, sample=100, seed=2).sentences != some.sentences
    random.Random(5).shuffle(lines)
    shuffled = search(write(tmp_path, "\n".join(lines)), forms=FORMS, sample=100, seed=1)
    assert set(shuffled.sentences) == set(some.sentences)  # wherever they stand
    drawn = Counter()  # of each quarter of the corpus about as many
    for seed in range(10):
        drawn.update(line // 500 for line in search(path, forms=FORMS, sample=100, seed=seed).lines)
    assert all(190 < drawn[quarter] < 310 for quarter in range(4))


def test_repeated_sentences_count_once(tmp_path):
    uses = search(write(tmp_path, "A play.\nThe  play.\nA play.\nA play and a play.\n" * 50))
    assert uses.sentences == ("A play.", "The play.", "A play and a play.", "A play and a play.")
    assert uses.positions == ((2, 6), (4, 8), (2, 6), (13, 17)) and uses.found == 250
    assert uses.remarks == ("The word is used 250 times; 246 of these in a sentence that was there before.",)


def test_long_lines_are_cut_into_sentences(tmp_path):
    text = "Dr. Smith saw a play. It was good! “Really?” asked J. Smith, who plays. 他们在玩。Play on … and on. " * 20
    assert list(cut_sentences(text))[:6] == [
        "Dr. Smith saw a play. ", "It was good! ", "“Really?” asked J. Smith, who plays. ", "他们在玩。",
        "Play on … and on. ", "Dr. Smith saw a play. ",
    ]  # fmt: skip
    uses = search(write(tmp_path, text), forms=FORMS)
    assert uses.sentences[:2] == ("Dr. Smith saw a play.", "“Really?” asked J. Smith, who plays.")
    assert uses.sentences_read == 100 and set(uses.lines) == {1}
    assert search(write(tmp_path, "Dr. A. Play. We play.")).sentences == ("Dr. A. Play. We play.",) * 2


def test_sentences_that_cannot_be_read_are_counted(tmp_path):
    lines = ["A play.", "A \x07 play.", "A {play}.", "A play " + "x" * 3_000, "No use \x07.", "caf\xe9 play"]
    uses = search(write(tmp_path, ("\n".join(lines[:5]) + "\n" * 300_000).encode() + b"caf\xe9 play"))
    assert uses.sentences == ("A play.",) and uses.left_out == 4 and uses.found == 1
    assert uses.remarks == ("4 sentences with the word could not be read, and were left out.",)
    western = search(write(tmp_path, "caf\xe9 play", encoding="cp1252"))
    assert western.sentences == ("café play",) and "Windows-1252" in western.remarks[0]


@pytest.mark.slow
def test_a_line_of_50_mb_and_a_file_that_swells_take_little_memory(tmp_path, monkeypatch):
    tracemalloc.start()
    path = tmp_path / "one_line.txt.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for number in range(500):
            file.write(
                (f"They play match {number}. " + "The rest of it is long and says nothing at all. " * 2_000).encode()
            )
    assert len(search(path).sentences) == 500
    bomb = tmp_path / "bomb.txt.gz"
    with gzip.open(bomb, "wb", compresslevel=1) as file:
        file.write(b"We play.\n")
        for _ in range(30):
            file.write(b"x" * 2**20)
    assert search(bomb).sentences == ("We play.",)
    assert tracemalloc.get_traced_memory()[1] < 40 * 2**20
    tracemalloc.stop()
    monkeypatch.setattr("explorer.analysis.corpus_search.settings", lambda: Settings(largest_corpus_gib=2**-10))
    cut = search(bomb)
    assert cut.sentences == ("We play.",)
    assert cut.remarks == ("The corpus is larger than 0.000976562 GiB; as much was searched.",)


@pytest.mark.parametrize(
    "content, word, options, message",
    [
        ("No use here.\nNor here.", "play", {}, "“play” is in none of the 2 lines of corpus.txt. Look for another"),
        ("A {play}.", "play", {}, "one sentence with it could not be read"),
        ("", "play", {}, "none of the 0 lines"),
        ("A play.", "", {}, "Give a word"),
        ("A play.", "x" * 101, {}, "Give a word of 1 to 100"),
        ("A play.", "play", {"sample": 0}, "sample"),
        ("A play.", "play", {"sample": 20_001}, "sample"),
        (b"PK\x03\x04...", "play", {}, "is a spreadsheet"),
        (b"a play\0\0", "play", {}, "NUL characters"),
        (gzip.compress(b"A play.\n" * 99)[:-9], "play", {}, "damaged or incomplete"),
    ],
)  # fmt: skip
def test_what_cannot_be_searched_is_said(tmp_path, content, word, options, message):
    with pytest.raises(UnsuitableText, match=message):
        search(write(tmp_path, content), word, **options)


def test_two_words_and_letters_without_case(tmp_path):
    path = write(tmp_path, "We play  chess.\nPlay chess\nplay, chess\n他们 玩 棋\n")
    assert search(path, "play chess").sentences == ("We play chess.", "Play chess")
    assert search(path, "玩").sentences == ("他们 玩 棋",)
    assert search(write(tmp_path, "Don’t play.\nI don't."), "don't").sentences == ("Don’t play.", "I don't.")


def test_a_missing_file_is_said(tmp_path):
    with pytest.raises(UnsuitableText, match="nowhere.txt cannot be read: No such file"):
        list(hash_corpus(tmp_path / "nowhere.txt"))
    with pytest.raises(UnsuitableText, match="nowhere.txt cannot be read: No such file"):
        search(tmp_path / "nowhere.txt")


def test_it_says_how_far_it_is_and_can_be_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(corpus_search, "TOLD_EVERY_SECONDS", 0.0)
    path = write(tmp_path, "\n".join(made_lines(40_000)))
    events = find_corpus_uses(path, "play", forms=FORMS)
    told = [next(events) for _ in range(3)]
    assert all(one.stage == "reading" for one in told)
    assert 0 < told[0].share < told[1].share < told[2].share < 1 and told[0].uses < told[2].uses
    assert told[2].seconds_left > 0 and told[0].sentences < told[2].sentences < 40_000
    events.close()
    *_, digest = hash_corpus(path)
    assert len(digest) == 64
