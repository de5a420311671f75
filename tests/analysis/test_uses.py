"""Where a word is used: whole words, forms, apostrophes, hyphens, emoji, several words."""

import pytest

from explorer.analysis.uses import english_forms, find_uses
from explorer.errors import UnsuitableText


def found(text, word, **options):
    return [text[start:end] for start, end in find_uses(text, word, **options)]


@pytest.mark.parametrize(
    "text, word, uses",
    [
        ("Play, PLAY and play.", "play", ["Play", "PLAY", "play"]),
        ("The player replays a play-off.", "play", []),
        ("The play's end; the plays' ends.", "play", ["play"]),
        ("I can't, but you can.", "can", ["can"]),
        ("I don't. I don’t.", "don't", ["don't", "don’t"]),
        ("a well-known man is known", "known", ["known"]),
        ("the well-known man", "well-known", ["well-known"]),
        ("🙂🙂 and 🙂", "🙂", ["🙂", "🙂", "🙂"]),
        ("to take \n part in", "take part", ["take \n part"]),
        ("snake_play play_1 play", "play", ["play"]),
        ("Die Straße, die STRASSE", "die", ["Die", "die"]),
        ("он играет и игра", "игра", ["игра"]),
        ("a.c a+c", "a.c", ["a.c"]),
    ],
)
def test_uses_are_whole_words(text, word, uses):
    assert found(text, word) == uses


def test_scripts_without_spaces_have_no_ends_of_words():
    assert found("我去银行取钱，这家银行很大。", "银行") == ["银行", "银行"]
    assert found("ผมไปธนาคารครับ", "ธนาคาร") == ["ธนาคาร"]
    assert found("the 银行s and play银行", "play") == []


def test_forms_are_optional_and_the_longest_wins():
    text = "He plays, played and is playing a play."
    assert found(text, "play") == ["play"]
    assert found(text, "play", forms=english_forms("play")) == ["plays", "played", "playing", "play"]
    assert found("take part", "take", forms=["take part"]) == ["take part"]


def test_regular_forms_of_english():
    assert english_forms("play") == ("plays", "played", "playing")
    assert english_forms("star") == ("stars", "starred", "starring")
    assert english_forms("match") == ("matches", "matched", "matching")
    assert english_forms("try") == ("tries", "tried", "trying")
    assert english_forms("move") == ("moves", "moved", "moving")
    assert english_forms("die") == ("dies", "died", "dying")
    assert english_forms("agree") == ("agrees", "agreed", "agreeing")
    assert english_forms("Straße") == english_forms("two words") == ()


@pytest.mark.parametrize("word", ["", "  ", "a" * 101])
def test_what_is_no_word_is_refused(word):
    with pytest.raises(UnsuitableText, match="Give a word of 1 to 100 characters"):
        find_uses("a play", word)
