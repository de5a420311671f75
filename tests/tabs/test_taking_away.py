"""The files that a visitor takes away have names that say what they are."""

from explorer.tabs.taking_away import download_links
from tests.figures.results import fills, reveal


def test_files_are_named_after_what_they_hold():
    assert "download='steps.csv'" in download_links(reveal(), "steps")
    links = download_links(fills(), "blanks", ("The <b> ___", "M & M"))
    assert "download='blanks-choices.csv'" in links and "data-file='blanks'" in links


def test_the_title_of_a_picture_is_text_to_plotly_and_to_the_page():
    links = download_links(fills(), "blanks", ("It's <b> ___ " + "word " * 200, "M & M"))
    assert "data-title='It&#x27;s &amp;lt;b&amp;gt; ___" in links and "M &amp;amp; M'" in links
    assert links.count("&lt;br&gt;") == 3 and " …&lt;br&gt;" in links


def test_without_a_figure_there_is_no_picture():
    assert "PNG" not in download_links(fills(), "tokens")
