"""How a masked model was trained, on a sentence of one's own, in a real browser."""

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from explorer.tabs.fill_blanks.training import PASSAGE

TEXT = "The teacher opened the door and the students went home. It was a long day for all of them."


@pytest.mark.slow
def test_a_sentence_is_masked_and_rolled_again_until_it_shows_each_fate(open_page):
    page = open_page("?" + urlencode({"tab": "fill", "show": "training", "objective": "masked", "text": TEXT}))
    expect(page.locator(".caption:visible")).to_contain_text("paper")
    objective = page.get_by_label("Objective").locator("visible=true").first
    objective.click()
    page.keyboard.press("Escape")
    expect(page.get_by_role("listbox")).to_have_count(0)
    objective.click()
    expect(page.get_by_role("listbox")).to_be_visible()  # a field that kept the focus opens again
    page.keyboard.press("Escape")
    picked = page.locator(".tokens:visible .token:is(.masked, .randomized, .unchanged)")
    expect(picked).to_have_count(3)
    before = page.locator(".tokens:visible").inner_text()
    expect(page.locator(".epoch:visible")).to_have_count(8)
    expect(page.locator(".formula:visible .katex").first).to_be_visible()
    page.get_by_role("button", name="Roll again").click()
    expect(page.locator(".caption:visible").last).to_contain_text("seed 1")
    expect(picked).to_have_count(3)
    assert page.locator(".tokens:visible").inner_text() != before
    expect(page).to_have_url(re.compile("roll=1"))
    assert "trained_model" not in page.url and "noise" not in page.url
    expect(page.locator(".note:visible", has_text="Of so short a text 15 % are 3 tokens")).to_be_visible()
    page.get_by_role("button", name="Longer text").click()
    expect(page.locator("#fill-text textarea")).to_have_value(PASSAGE)
    expect(picked).to_have_count(9)
    page.get_by_role("button", name="Back to the text before").click()
    expect(page.locator("#fill-text textarea")).to_have_value(TEXT)
    expect(page.get_by_role("button", name="Back to the text before")).to_be_hidden()
    page.get_by_role("button", name="Longer text").click()
    expect(picked).to_have_count(9)
    page.get_by_role("button", name="Roll to one of each").click()
    for fate in ("masked", "randomized", "unchanged"):
        expect(page.locator(f".tokens:visible .token.{fate}").first).to_be_visible()
    expect(picked).to_have_count(9)
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280, "the strips of epochs have room"

    page.locator("#fill-text textarea").fill("The teacher smiled.")
    expect(picked).to_have_count(1)
    page.get_by_role("button", name="Roll to one of each").click()
    expect(page.locator(".message.error:visible")).to_contain_text("None of the next 500 rolls shows one of each")
    expect(page.locator(".result:visible").filter(has=page.locator(".tokens")).first).to_have_css("opacity", "1")
    page.get_by_role("button", name="Copy link").locator("visible=true").click()  # the answer is still that of the seed
    expect(page.get_by_role("button", name="Copied").locator("visible=true")).to_be_visible()
