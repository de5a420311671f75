"""Reading what an encoder-decoder wrote, however odd."""

import pytest

from explorer.analysis.written_spans import read_rewritten, read_sentinels

SENTINELS, END = (100, 101, 102, 103), 1


@pytest.mark.parametrize(
    ("ids", "fills", "words"),
    [
        ((100, 7, 8, 101, 9, 102), ((7, 8), (9,)), ""),
        ((100, 7, 101, 9, END), ((7,), (9,)), ""),
        ((100, 7, 101, 9), ((7,), (9,)), ""),  # cut
        ((100, 7, 101, 9, 102, 5, 103, 6, END), ((7,), (9,)), ""),  # more than was asked
        ((100, 101, 9, 102), ((), (9,)), "It left blank 1 empty."),
        ((100, 7, 102), ((7,), None), "nothing at all for blank 2"),
        ((101, 9, 100, 7, 102), ((7,), (9,)), "out of order"),
        ((100, 7, 100, 8, 101, 9, 102), ((7,), (9,)), "twice for blank 1"),
        ((5, 6, 100, 7, 101, 9, 102), ((7,), (9,)), "before the first sentinel"),
        ((END,), (None, None), "nothing at all for blank 1"),
        ((), (None, None), "nothing at all for blank 2"),
        ((102, 5), (None, None), "nothing at all for blank 1"),
    ],
)
def test_each_blank_has_what_stands_behind_its_sentinel(ids, fills, words):
    written = read_sentinels(ids, SENTINELS, [END, 0], 2)
    assert written.fills == fills
    assert words in " ".join(written.remarks)
    assert bool(words) == bool(written.remarks)


def test_what_fills_up_behind_the_end_is_nothing():
    written = read_sentinels((100, 7, END, 0, 0, 0), SENTINELS, [END, 0], 1)
    assert written.fills == ((7,),)
    assert written.remarks == ()


@pytest.mark.parametrize(
    ("text", "fills"),
    [
        ("The old cat sat on a mat.", ("old cat", "a mat")),
        ("The sat on .", ("", "")),
        ("The cat sat on sat on it.", ("cat", "sat on it")),
        ("A cat sat on a mat.", None),
        ("The cat stood on a mat.", None),
        ("The cat sat on a mat", None),
        ("", None),
    ],
)
def test_fills_are_read_off_a_rewritten_text(text, fills):
    found, remark = read_rewritten(text, ("The ", " sat on ", "."))
    assert found == fills
    assert bool(remark) == (fills is None)


def test_a_blank_at_either_end_is_read_too():
    assert read_rewritten("Dogs and cats play", ("", " and cats ", ""))[0] == ("Dogs", "play")
