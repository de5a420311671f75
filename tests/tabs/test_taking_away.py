"""The files that a visitor takes away have names that say what they are."""

import pytest

from explorer.tabs.taking_away import download_links, name_after, picture_link, picture_title
from tests.figures.results import fills, reveal


def test_files_are_named_after_what_they_hold_and_the_model():
    assert "download='steps-M.csv'" in download_links(reveal(), "steps")
    links = download_links(fills(), "blanks", ("The <b> ___", "M & M"))
    assert "download='blanks-choices-M-M.csv'" in links and "data-file='blanks-M-M'" in links
    assert "download='blanks-M-M.json'" in links
    assert "download='blanks-M-M.json'" in download_links((fills(), fills()), "blanks"), "each model once"


@pytest.mark.parametrize(
    ("models", "name"),
    [
        ((), "map"),
        (("MiniLM (masked)",), "map-MiniLM-masked"),
        (("google-bert/bert-base-uncased", "ELMo (5.5B)"), "map-google-bert-bert-base-uncased-ELMo-5.5B"),
        (("A", "B", "C", "D"), "map-A-B-and-2-more"),
        (("../../'><b>",), "map-b"),
        (("模型",), "map"),
        (("x" * 999,), "map-" + "x" * 40),
    ],
)
def test_any_model_makes_a_name_that_every_disk_takes(models, name):
    assert name_after("map", models) == name
    assert f"data-file='{name}'" in picture_link("map", ("A map",), models)


def test_the_title_of_a_picture_is_text_to_plotly_and_to_the_page():
    links = download_links(fills(), "blanks", ("It's <b> ___ " + "word " * 200, "M & M"))
    assert "data-title='It&#x27;s &amp;lt;b&amp;gt; ___" in links and "M &amp;amp; M'" in links
    assert links.count("&lt;br&gt;") == 4 and " …&lt;br&gt;" in links


def test_without_a_figure_there_is_no_picture():
    assert "PNG" not in download_links(fills(), "tokens")


def test_the_title_of_a_picture_holds_the_blank_of_a_long_text():
    long = f"{'The ferry was late again. ' * 20}Nobody minded the ___, for the sun shone. {'They sang. ' * 40}"
    title = picture_title((long,)).split("<br>")
    assert len(title) == 4 and title[0].startswith("… ") and "___" in title[0] and title[-1].endswith(" …")
    assert picture_title((f"A ___. {long}",)).startswith("A ___. The ferry")
