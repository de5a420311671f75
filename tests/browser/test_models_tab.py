"""What a teacher sees of the models: what each can do, and what is in memory."""

import re

import pytest
from playwright.sync_api import expect

from explorer.figures.learning import short_tokens
from explorer.models.catalogue import CATALOGUE
from explorer.training.trace import bundled_traces

LOADED = "T5 mini"  # which no other test asks of this page
LOAD, UNLOAD = re.compile("^Load"), re.compile("^Unload")


def row(page, name):
    return page.locator(".models tbody tr", has=page.locator("b", has_text=re.compile(f"^{re.escape(name)}$")))


def test_models_are_loaded_and_unloaded(open_page):
    page = open_page("?tab=models")
    what_needs_internet_cannot_be_asked_for_offline(page)
    loaded = row(page, LOADED)
    loaded.get_by_role("button", name=LOAD).click()
    expect(loaded).to_contain_text("ready on cpu")
    expect(loaded.get_by_role("button", name=UNLOAD)).to_be_focused()  # the row had no button meanwhile
    expect(page.locator(".budget:visible")).to_be_visible()
    loaded.get_by_role("button", name=UNLOAD).click()
    expect(loaded).to_contain_text("on this machine")
    a_phone_shows_each_model_as_a_card_with_its_button(page)


@pytest.mark.slow
def test_models_are_found_by_what_they_can_do(open_page):
    page = open_page("?tab=models&family=T5")
    names = page.locator(".models td > b")
    here = ["MiniLM (span)", "T5 mini"]
    expect(names).to_have_text([*here, "T5 small", "T5 base", "Flan-T5 small", "BART base", "BART large"])
    expect(page.locator(".models .family")).to_have_text([re.compile("^Encoder–decoders: T5, BART")])
    page.get_by_label("On this machine only").check()
    expect(names).to_have_text(here)
    expect(page).to_have_url(re.compile("family=T5&here=true"))
    page.get_by_role("button", name="Copy link").locator("visible=true").click()
    expect(page.get_by_role("button", name="Copied").locator("visible=true")).to_be_visible()
    page.get_by_role("combobox", name="What it can do").click()
    page.get_by_role("option", name="spots replaced words").click()
    expect(names).to_have_count(0)
    page.get_by_role("combobox", name="Family").click()
    page.get_by_role("option", name="any", exact=True).click()
    expect(names).to_have_text(["ELECTRA mini"])
    page.get_by_role("combobox", name="Family").click()
    page.get_by_role("option", name="Two LSTMs: ELMo").click()
    expect(page.locator(".note:visible", has_text="No model on offer is such")).to_be_visible()


def what_needs_internet_cannot_be_asked_for_offline(page):
    expect(row(page, "BERT base")).to_contain_text("needs internet")
    expect(page.locator(".note:visible", has_text="need internet, which this explorer runs without")).to_be_visible()
    expect(row(page, "BERT base").get_by_role("button", name="Not available")).to_be_disabled()
    expect(row(page, "BERT large")).to_contain_text("To be checked at its first download: size of the file, licence")


def a_phone_shows_each_model_as_a_card_with_its_button(page):
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator(".models thead").first).to_be_hidden()
    for name in (LOADED, "BERT base"):
        button = row(page, name).get_by_role("button", name=re.compile("^Load|^Not available"))
        button.scroll_into_view_if_needed()
        title, pressed, card = (
            one.bounding_box() for one in (row(page, name).locator("td > b"), button, row(page, name))
        )
        assert abs(title["y"] - pressed["y"]) < 20, "side by side"
        assert title["x"] + title["width"] <= pressed["x"] and pressed["x"] + pressed["width"] <= 390
        assert card["x"] >= 0 and card["x"] + card["width"] <= 390 and card["height"] < 400
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.slow
def test_a_link_shows_what_a_model_learned_when(open_page):
    traces = bundled_traces(CATALOGUE)
    name = list(traces)[-1]
    page = open_page(f"?tab=models&models_view=learning&trained={name}")
    expect(page.get_by_label("Model", exact=True).locator("visible=true")).to_have_value(name)
    last = traces[name].points[-1]
    expect(page.locator(".answers tbody tr").last).to_contain_text(short_tokens(last.tokens))
    for _, answer in last.answers:
        expect(page.locator(".answers tbody tr").last).to_contain_text(answer.replace("%", " %"))  # as all shares
    expect(page.locator(".js-plotly-plot:visible")).to_contain_text("Tokens seen in training")
    page.get_by_role("tab", name="On offer").click()
    expect(row(page, name)).to_be_visible()
