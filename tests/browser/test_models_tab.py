"""What a teacher sees of the models: what each can do, and what is in memory."""

import re

from playwright.sync_api import expect


def row(page, name):
    return page.locator(".models tbody tr", has=page.locator("b", has_text=re.compile(f"^{re.escape(name)}$")))


def test_models_are_loaded_and_unloaded(open_page):
    page = open_page("?tab=models")
    page.get_by_role("tab", name="Models", exact=True).click()
    expect(row(page, "BERT base")).to_contain_text("needs internet")
    early = row(page, "MiniLM (masked, early)")
    if early.get_by_role("button", name="Unload").count() == 0:
        early.get_by_role("button", name="Load").click()
    expect(early).to_contain_text("ready on cpu")
    expect(page.locator(".budget:visible")).to_be_visible()
    early.get_by_role("button", name="Unload").click()
    expect(early).to_contain_text("on this machine")


def test_a_model_that_needs_internet_says_so(open_page):
    page = open_page("?tab=models")
    page.get_by_role("tab", name="Models", exact=True).click()
    row(page, "BERT base").get_by_role("button", name="Load").click()
    expect(page.locator(".message.error:visible")).to_contain_text("BERT base")
    expect(page.locator(".message.error:visible")).to_contain_text("offline")
