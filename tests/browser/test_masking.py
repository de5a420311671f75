"""How a masked model was trained, on a sentence of one's own, in a real browser."""

import re
from urllib.parse import urlencode

from playwright.sync_api import expect

TEXT = "The teacher opened the door and the students went home. It was a long day for all of them."


def test_a_sentence_is_masked_and_rolled_again(open_page):
    page = open_page("?" + urlencode({"tab": "fill", "show": "training", "objective": "masked", "text": TEXT}))
    expect(page.locator(".caption:visible")).to_contain_text("paper")
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
