import pytest

from explorer.analysis.words import blank_words, carry_hidden, last_word, split_words, toggle_blank


def test_words_and_marks_are_split_blanks_and_hyphens_are_kept_whole():
    words = split_words("Mother-in-law's ___, isn't it? 😀")
    assert [word.text for word in words] == ["Mother-in-law's", "___", ",", "isn't", "it", "?", "😀"]
    assert [word.is_blank for word in words] == [False, True, False, False, False, False, False]
    assert words[3].start == 21


def test_a_word_becomes_a_blank_and_comes_back():
    blanked, hidden = toggle_blank("The cat sat.", (), 1)
    assert (blanked, hidden) == ("The ___ sat.", ("cat",))
    assert toggle_blank(blanked, hidden, 1) == ("The cat sat.", ())


def test_each_blank_remembers_its_own_word():
    text, hidden = toggle_blank("The cat sat on ___.", ("",), 2)
    assert (text, hidden) == ("The cat ___ on ___.", ("sat", ""))
    text, hidden = toggle_blank(text, hidden, 0)
    assert (text, hidden) == ("___ cat ___ on ___.", ("The", "sat", ""))
    assert toggle_blank(text, hidden, 2) == ("___ cat sat on ___.", ("The", ""))


@pytest.mark.parametrize("index", [1, -1, 99])
def test_what_hides_nothing_stays(index):
    assert toggle_blank("The ___ sat.", ("",), index) == ("The ___ sat.", ("",))


def test_blanks_written_next_to_each_other_are_one_word_each():
    assert [word.text for word in split_words("___ ____x")] == ["___", "____", "x"]


@pytest.mark.parametrize(
    ("before", "hidden", "after", "carried"),
    [
        ("The ___ sat on it.", ("cat",), "___ The ___ sat on it.", ("", "cat")),  # a blank typed before
        ("The ___ sat on it.", ("cat",), "The ___ sat on ___.", ("cat", "")),  # and behind
        ("The ___ sat on ___.", ("cat", "mats"), "The big ___ sat on ___.", ("cat", "mats")),  # words typed between
        ("The ___ sat on ___.", ("cat", "mats"), "The dog sat on ___.", ("mats",)),  # a blank typed over
        ("The ___ sat.", ("cat",), "The ____ sat.", ("cat",)),  # one more underscore
        ("The ___ sat.", ("cat",), "Birds ___ because they fly", ("",)),  # another sentence
        ("The ___ sat.", ("cat",), "", ()),
        ("", (), "A ___.", ("",)),
    ],
)
def test_a_word_stays_with_its_blank_when_the_text_is_edited(before, hidden, after, carried):
    assert carry_hidden(before, hidden, after) == carried


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("The cat sat.", "sat"),
        ("She isn't", "isn't"),
        ("a well-known! (…)\n", "well-known"),
        ("The cat ___.", None),
        ("The cat _.", None),
        ("?!", None),
        ("", None),
    ],
)
def test_the_last_word_is_one_that_no_blank_stands_behind(text, last):
    word = last_word(text)
    assert (word and word.text) == last
    assert word is None or text[word.start :].startswith(last)


def test_several_words_become_one_blank_and_come_back():
    blanked, hidden = blank_words("She saw a big, red dog.", (), 3, 5)
    assert (blanked, hidden) == ("She saw a ___ dog.", ("big, red",))
    assert toggle_blank(blanked, hidden, 3) == ("She saw a big, red dog.", ())


def test_neighbouring_blanks_are_joined_with_what_they_hide():
    text, hidden = toggle_blank("___ saw a red  dog.", ("",), 3)
    text, hidden = toggle_blank(text, hidden, 4)
    assert (text, hidden) == ("___ saw a ___  ___.", ("", "red", "dog"))
    text, hidden = blank_words(text, hidden, 3, 4)
    assert (text, hidden) == ("___ saw a ___.", ("", "red  dog"))
    assert toggle_blank(text, hidden, 3) == ("___ saw a red  dog.", ("",))


def test_what_a_typed_blank_stood_for_is_not_known():
    assert blank_words("a ___ ___ cat ___", ("", "big", "sat"), 1, 3) == ("a ___ ___", ("", "sat"))


@pytest.mark.parametrize(("first", "last"), [(2, 1), (-1, 1), (0, 99), (1, 1)])
def test_no_words_and_one_blank_stay(first, last):
    assert blank_words("The ___ sat.", ("cat",), first, last) == ("The ___ sat.", ("cat",))
