"""Neighbours on the page: the lecture's table, a press on a use, two models, the visitor's own sentences."""

import csv
import io
import re

import pytest
from playwright.sync_api import expect

from explorer.analysis.sense_sentences import read_sense_sentences
from explorer.tabs.neighbours.first_neighbours import read_first_neighbours
from explorer.tabs.neighbours.gallery import read_gallery
from tests.browser.conftest import come_to_rest

TAB = "?tab=neighbours"
QUERY = ".near-query .use-sentence"
NEAR = ".near-uses li"
OWN = "#neighbours-own textarea"
ERROR = ".message.error"


def own_sentences(page, text):
    page.get_by_text("Sentences and word vectors of your own").click()
    page.locator(OWN).fill(text)


def load_file(page, button, file):
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name=button).click()
    chooser.value.set_files(file)


def test_it_opens_on_a_finished_example_and_a_press_makes_a_use_the_query(open_page):
    page = open_page(TAB)
    found = read_first_neighbours()
    expect(page.locator(QUERY)).to_have_text(found.near[0].sentence)
    expect(page.locator(f"{NEAR} .use-sentence")).to_have_text([one.sentence for one in found.near[0].neighbours])
    expect(page.locator(".near-words bdi")).to_have_text([one.text for one in found.static.neighbours])
    sentences = [entry.sentence for entry in read_sense_sentences("play")]
    expect(page.locator(".use-list [aria-current]")).to_contain_text(found.near[0].sentence)
    second = found.near[0].neighbours[1]
    page.locator(f"{NEAR} button").nth(1).click()
    expect(page.locator(QUERY)).to_have_text(second.sentence)
    expect(page.locator(f".use-list [data-use='{second.index}']")).to_have_attribute("aria-current", "true")
    assert page.locator(f".use-list [data-use='{second.index}']").evaluate(
        "row => { const [a, b] = [row.getBoundingClientRect(), row.closest('.use-list').getBoundingClientRect()];"
        "return a.top >= b.top && a.bottom <= b.bottom; }"
    )
    page.get_by_label("List one sense alone").focus()
    page.keyboard.press("Tab")
    expect(page.locator(f".use-list [data-use='{second.index}']")).to_be_focused()
    for key, use in (("End", 279), ("ArrowDown", 279), ("Home", 0), ("ArrowUp", 0), ("ArrowDown", 1), ("ArrowDown", 2)):
        page.keyboard.press(key)
        expect(page.locator(f".use-list [data-use='{use}']")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator(".use-list :focus")).to_have_count(0)
    page.keyboard.press("Shift+Tab")
    expect(page.locator(f".use-list [data-use='{second.index}']")).to_be_focused()
    page.keyboard.press("Home")
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(QUERY)).to_have_text(sentences[3])
    expect(page.locator(".use-list button[tabindex='0']")).to_have_count(1)
    page.wait_for_url("**use=3**")
    again = open_page(page.url[page.url.index("?") :])
    expect(again.locator(QUERY)).to_have_text(sentences[3])


@pytest.mark.slow
def test_a_sense_lists_its_sentences_alone(open_page):
    page = open_page(TAB)
    rows = page.locator(".use-list li")
    expect(rows).to_have_count(280)
    page.get_by_label("List one sense alone").select_option(label="◆ pun (28)")
    expect(page.locator(".use-list li:visible")).to_have_count(28)
    page.get_by_label("List one sense alone").press("Tab")
    expect(page.locator(".use-list li:visible button").first).to_be_focused()
    page.keyboard.press("End")
    expect(page.locator(".use-list li:visible button").last).to_be_focused()
    number = page.get_by_label("List one sense alone").input_value()
    page.wait_for_url(f"**listed={number}**")
    again = open_page(page.url[page.url.index("?") :])
    expect(again.locator(".use-list li:visible")).to_have_count(28)
    expect(again.get_by_label("List one sense alone")).to_have_value(number)
    page.get_by_label("List one sense alone").select_option(index=0)
    expect(page.locator(".use-list li:visible")).to_have_count(280)
    page.wait_for_url(lambda url: "listed" not in url)


@pytest.mark.slow
def test_another_model_stands_beside_with_its_last_layer_and_the_same_one_with_its_first(open_page):
    page = open_page(f"{TAB}&word=bank")
    layers = page.locator(".near h3 small")
    for chosen, layer in [("MiniLM (causal)", "layer 6"), ("another layer of the model", "input embeddings")] * 2:
        page.locator("#near-compare input").click()
        page.get_by_role("option", name=re.compile(f"^{re.escape(chosen)}")).click()
        expect(layers.nth(1)).to_have_text(layer, timeout=60_000)
    page.get_by_role("button", name="What comes after, unread").click()
    expect(layers.nth(1)).to_have_text("layer 5", timeout=60_000)


@pytest.mark.slow
def test_two_models_stand_side_by_side_and_a_link_brings_them_back(open_page):
    page = open_page(TAB)
    start = next(start for start in read_gallery() if start.label == "What comes after, unread")
    page.get_by_role("button", name=start.label).click()
    titles = page.locator(".near h3 bdi")
    expect(titles).to_have_text(["MiniLM (masked)", "MiniLM (causal)"], timeout=60_000)
    shared = page.locator(".near-shared b")
    expect(shared.nth(0)).to_have_text("8 of the 10 nearest")
    expect(shared.nth(1)).to_have_text("0 of the 10 nearest")
    page.wait_for_url("**beside_layer=5**")
    again = open_page(page.url[page.url.index("?") :])
    expect(again.locator(".near h3 bdi")).to_have_text(["MiniLM (masked)", "MiniLM (causal)"], timeout=60_000)
    expect(again.locator(".near h3 small").first).to_have_text("layer 5")
    expect(again.locator(".near h3 small").nth(1)).to_have_text("layer 5")
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV of uses").click()
    rows = list(csv.DictReader(io.StringIO(download.value.path().read_text(encoding="utf-8-sig"))))
    assert [row["model"] for row in rows] == ["MiniLM (masked)"] * 10 + ["MiniLM (causal)"] * 10
    assert {row["vector"] for row in rows} == {"layer 5"} and rows[0]["rank"] == "1"


@pytest.mark.slow
def test_a_sentence_that_is_typed_is_the_query_until_another_is_pressed(open_page):
    page = open_page(TAB)
    page.locator("#near-query textarea").fill("</script><b>A</b> play in three acts")
    expect(page.locator(QUERY)).to_have_text("</script><b>A</b> play in three acts")
    expect(page.locator(".near-shared").first).to_contain_text("Of the 10 nearest: ")
    come_to_rest(page)
    for one in (page, open_page("?" + page.url.partition("?")[2])):
        expect(one.locator(".look.block", has_text="uses on a stage")).to_be_hidden()
    page.locator("#near-query textarea").fill("我 play 喜欢")
    expect(page.locator("#near-wrong")).to_contain_text("tokens, special ones included, are unknown to this model")
    page.locator("#near-query textarea").fill("</script><b>A</b> play in three acts")
    expect(page.locator(QUERY)).to_have_text("</script><b>A</b> play in three acts")
    page.locator("#near-query textarea").fill("No such word")
    expect(page.locator(ERROR)).to_contain_text("“play” is not in your sentence")
    expect(page.locator(QUERY)).to_have_text("</script><b>A</b> play in three acts")  # the answer before
    page.locator(f"{NEAR} button").first.click()
    expect(page.locator("#near-query textarea")).to_have_value("")
    expect(page.locator(ERROR)).to_have_count(0)


@pytest.mark.slow
def test_what_was_taken_of_a_file_is_said_as_long_as_it_stands_there(open_page, tmp_path):
    page = open_page(TAB)
    page.get_by_text("Sentences and word vectors of your own").click()
    said = page.locator("#neighbours-sentences-said")
    file = tmp_path / "own.csv"
    file.write_text("sense,sentence\n🎲,A play.\ngame,Another play here.\nnone,Nothing.\n", encoding="utf-8")
    load_file(page, "Sentences from a file", file)
    expect(said).to_contain_text("own.csv: 2 uses in 2 of 3 sentences.")
    come_to_rest(page)
    expect(said).to_contain_text("own.csv")
    page.locator(OWN).fill("A play of mine.\nMine is another play.")
    expect(said).to_contain_text("Text, csv or tsv")
    expect(said).not_to_contain_text("own.csv")
    file.write_bytes(b"PK\x03\x04 no text")
    load_file(page, "Sentences from a file", file)
    expect(said).to_contain_text("own.csv")
    page.locator(OWN).fill("A play.\nAnother play.")
    expect(said).not_to_contain_text("own.csv")


@pytest.mark.slow
def test_sentences_of_ones_own_in_any_language_and_few_of_them(open_page, tmp_path):
    page = open_page(TAB)
    own_sentences(page, "reading\tFür dieses {Schloss} gibt es keinen Schlüssel.\nDas {Schloss} hat viele Zimmer.")
    expect(page.locator(QUERY)).to_have_text("Für dieses Schloss gibt es keinen Schlüssel.")
    expect(page.locator(NEAR)).to_have_count(1)
    expect(page.locator("#neighbours-word input")).to_have_value("Schloss")  # as marked: both lists are of it
    page.wait_for_url("**own=**")
    again = open_page(page.url[page.url.index("?") :])
    expect(again.locator(QUERY)).to_have_text("Für dieses Schloss gibt es keinen Schlüssel.")
    page.locator(OWN).fill("Das {Schloss} hat viele Zimmer.")
    expect(page.locator(ERROR)).to_contain_text("Give at least two")
    page.locator("#neighbours-word input").fill("play")
    page.locator("#neighbours-word input").press("Enter")
    expect(page.locator(ERROR)).to_contain_text("mark uses of “Schloss” in braces, and none of “play”")
    page.locator(OWN).fill("play\n" * 3 + "nothing")
    expect(page.locator(NEAR)).to_have_count(2)
    expect(page.locator("#use-list .note")).to_have_text("One sentence without the word was left out.")
    expect(page.locator(".use-list button[tabindex='0']")).to_have_count(1)
    expect(page.locator(".use-list [aria-current][tabindex='0']")).to_have_count(1)
    page.locator(OWN).fill("play " * 3_000)
    expect(page.locator(ERROR)).to_contain_text("3,000 uses; the page takes at most 2,000")
    file = tmp_path / "own.csv"
    file.write_text("label;text\nfirst;A play.\nsecond;Another play here.\nnone;Nothing.\n", encoding="utf-16")
    load_file(page, "Sentences from a file", file)
    expect(page.locator(OWN)).to_have_value("first\tA play.\nsecond\tAnother play here.")
    expect(page.locator(NEAR)).to_have_count(1)
    file.write_bytes(b"PK\x03\x04 no text")
    load_file(page, "Sentences from a file", file)
    expect(page.locator(ERROR)).to_contain_text("own.csv")
    expect(page.locator(OWN)).to_have_value("first\tA play.\nsecond\tAnother play here.")


@pytest.mark.slow
def test_word_vectors_from_a_file(open_page, tmp_path):
    page = open_page(TAB)
    page.get_by_text("Sentences and word vectors of your own").click()
    file = tmp_path / "glove.txt"
    file.write_text("play 1 0\ngame 0.9 0.1\ndrama 0.5 0.5\n", encoding="utf-8")
    load_file(page, "Word vectors from a file", file)
    expect(page.locator(".near-words bdi")).to_have_text(["game", "drama"])
    expect(page.locator(".near-static h3")).to_contain_text("glove.txt")
    back = page.get_by_role("button", name="Back to the model’s own word vectors")
    bad = tmp_path / "bad.vec"
    bad.write_text("No vectors stand here.", encoding="utf-8")
    load_file(page, "Word vectors from a file", bad)
    expect(page.locator(ERROR)).to_contain_text("is not a word and 2 to 2,048 numbers")
    come_to_rest(page)
    expect(page.locator(".near-static h3")).to_contain_text("glove.txt")  # what was refused takes nothing away
    back.click()
    expect(page.locator(".near-words bdi").first).to_have_text("plays")
    expect(page.locator(ERROR)).to_have_count(0)
    load_file(page, "Word vectors from a file", bad)
    expect(page.locator(ERROR)).to_contain_text("is not a word and 2 to 2,048 numbers")
    expect(page.locator(".near-words bdi").first).to_have_text("plays")
    expect(back).to_be_hidden()
    load_file(page, "Word vectors from a file", file)
    expect(page.locator(".near-static h3")).to_contain_text("glove.txt")


@pytest.mark.slow
def test_a_word_without_sentences_and_a_model_without_a_table(open_page):
    page = open_page(f"{TAB}&word=zebra")
    expect(page.locator(ERROR)).to_contain_text("No sentences of “zebra” come with the explorer")
    page = open_page(f"{TAB}&model=ELMo mini&word=mouse&use=2&layer=1")
    expect(page.locator(".near h3 small").first).to_have_text("layer 1")
    expect(page.locator(NEAR)).to_have_count(10)


@pytest.mark.slow
def test_nothing_is_too_wide_for_a_phone(open_page):
    page = open_page(TAB, width=390, height=844, dark=True)
    expect(page.locator(NEAR)).to_have_count(10)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
