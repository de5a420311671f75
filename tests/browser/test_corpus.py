"""A corpus searched on the page: progress, what is found becomes the desk's own, Stop, a second time from the cache."""

import random

import pytest
from playwright.sync_api import expect

WORDS = "the a of with river garden teacher child evening young quick ball piano drum stone".split()


@pytest.fixture
def corpus(tmp_path):
    draw, lines = random.Random(0), []
    for number in range(3_000):
        words = [draw.choice(WORDS) for _ in range(draw.randint(4, 12))]
        if number % 20 == 0:
            words[draw.randrange(len(words))] = draw.choice(["<b>zither</b>", "zithers"])
        lines.append(" ".join(words).capitalize() + f" {number}.")
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def open_panel(page):
    page.get_by_role("button", name="Search a corpus for the word").click()
    expect(page.locator("#corpus-start")).to_be_visible()


def name_word(page, word):
    box = page.locator("#neighbours-word input")
    box.fill(word)
    box.press("Enter")


def test_what_a_corpus_holds_becomes_the_sentences_of_the_page(open_page, corpus):
    page = open_page("?tab=neighbours&word=zither&own=music | The zither sang.")
    open_panel(page)
    expect(page.locator("#corpus-found")).to_contain_text("What is found takes the place of")
    page.locator("#corpus-start").click()
    expect(page.locator("#corpus .message.error")).to_contain_text("Choose a text file")
    page.locator("#corpus-file input[type=file]").set_input_files(corpus)
    expect(page.locator("#corpus-file")).to_contain_text("corpus")
    name_word(page, "zither")
    page.locator("#corpus-start").click()
    found = page.locator("#corpus-found")
    expect(found).to_contain_text("150 uses of “zither” from corpus.txt, which has 3,000", timeout=120_000)
    expect(page.locator("#near-columns")).to_contain_text("zither", timeout=60_000)
    expect(page.locator("#near-columns b")).to_have_count(0)  # what stands in a corpus is text
    expect(page.locator("#corpus .message")).to_have_count(0)
    page.locator("#corpus-start").click()
    expect(found).to_contain_text("Their vectors were kept from before", timeout=60_000)
    page.locator("#corpus-back").click()
    expect(page.locator("#use-list")).to_contain_text("The zither sang.")
    expect(page.locator("#corpus-back")).to_be_hidden()
    name_word(page, "nowhere")
    page.locator("#corpus-start").click()
    expect(page.locator("#corpus .message.error")).to_contain_text("“nowhere” is in none of the 3,000 lines")


@pytest.mark.slow
def test_the_list_marks_the_use_that_is_looked_at(open_page, tmp_path):
    path = tmp_path / "plays.txt"
    path.write_text("\n".join(f"The children play cards in garden {number}." for number in range(60)))
    page = open_page("?tab=neighbours&use=21")
    chosen = page.locator("#use-list [aria-current]")
    expect(chosen).to_have_attribute("data-use", "21")
    open_panel(page)
    page.locator("#corpus-file input[type=file]").set_input_files(path)
    expect(page.locator("#corpus-file")).to_contain_text("plays")
    page.locator("#corpus-start").click()
    expect(page.locator("#near-columns")).to_contain_text("garden 0", timeout=60_000)
    expect(chosen).to_contain_text("garden 0")
    expect(chosen).to_have_attribute("data-use", "0")
    page.locator("#corpus-back").click()  # to those that come with the explorer
    expect(chosen).not_to_contain_text("garden 0")
    expect(page.locator("#use-list [data-use]")).to_have_count(280)


@pytest.mark.slow
def test_a_search_is_stopped_and_goes_on(open_page, tmp_path):
    path = tmp_path / "long.txt"
    path.write_text("\n".join(f"They play match {number} in the garden." for number in range(30_000)))
    page = open_page("?tab=neighbours", width=390)
    open_panel(page)
    page.locator("#corpus-file input[type=file]").set_input_files(path)
    expect(page.locator("#corpus-file")).to_contain_text("long")
    page.locator("#corpus-start").click()
    expect(page.locator("#corpus .message.working")).to_contain_text("Embedding uses", timeout=60_000)
    page.locator("#corpus [data-action=stop]").click()
    expect(page.locator("#corpus .message.stopped")).to_contain_text("goes on from there")
    expect(page.locator("#corpus-found")).not_to_contain_text("uses of")
    page.locator("#corpus-start").click()
    name_word(page, "bank")  # what is found of the other does not stand under it
    expect(page.locator("#corpus-found")).to_contain_text("30,000 times; 500 of these", timeout=200_000)
    expect(page.locator("#neighbours-word input")).to_have_value("play")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
