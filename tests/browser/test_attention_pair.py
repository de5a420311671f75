"""A part of a pair of texts that was chosen, when the pair goes."""

import re

import pytest
from playwright.sync_api import expect

HEAD = ".attention-head"


@pytest.mark.slow
def test_a_choice_between_two_texts_counts_while_there_are_two(open_page):
    page = open_page("?tab=attention&text=The+dog+found+a+bone.&second=It+hid+it.&look=10&at=encoder-3-10")
    units = page.locator(f"{HEAD} .lines-tokens.query .unit")
    expect(page.locator(f"{HEAD} .head-said")).to_contain_text("looks at")
    expect(units).to_have_count(5)
    page.get_by_label("Second text").fill("")
    page.get_by_label("Second text").blur()
    expect(units).to_have_count(8)  # of the one text, with its special tokens
    expect(page.locator(f"{HEAD} .head-said")).to_contain_text("Strongest here")
    expect(page.locator(HEAD)).not_to_contain_text("Left out: the text")
    expect(page).to_have_url(re.compile("look=10"))  # for the next pair
