"""What a visitor wrote, as messages repeat it."""

from explorer.errors import MOST_QUOTED, quoted


def test_what_is_quoted_stays_on_one_line_and_is_cut():
    assert quoted("play") == "“play”" and quoted('it\'s "so"') == '“it\'s "so"”'
    assert quoted("one\ntwo\t\ud800") == r"“one\ntwo\t\ud800”"
    assert quoted("x" * 100) == f"“{'x' * MOST_QUOTED}…”"
