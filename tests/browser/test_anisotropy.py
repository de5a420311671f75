"""The tab about anisotropy, driven as a visitor drives it."""

import re

import pytest
from playwright.sync_api import expect

LAYERS = "?tab=anisotropy"
OWN = "&own=" + "%0A".join(
    ["The+cat+sat+on+the+mat.", "A+dog+saw+the+cat+and+the+<b>mat</b>.", "The+dog+ran+home.", "At+home+the+dog+slept."]
)
SLOW = 180_000  # the first measurement on a busy machine


def test_the_tab_opens_on_a_finished_example_and_follows_the_slider(open_page):
    page = open_page(LAYERS)
    for chart in ("raw", "cosines"):
        expect(page.locator(f"#layers-{chart} .js-plotly-plot")).to_be_visible()
    expect(page.locator("#layers-adjusted")).to_be_hidden()
    expect(page.locator("#layers-said")).to_contain_text("MiniLM (causal), layer 6:")
    expect(page.locator("#layers-table tbody tr")).to_have_count(8)
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    layer = page.locator("#anisotropy-layer input[type=number]")
    layer.fill("2")
    layer.press("Enter")
    expect(page.locator("#layers-said")).to_contain_text("MiniLM (causal), layer 2:", timeout=SLOW)
    expect(page.locator("#layers-cosines")).to_contain_text("layer 2")
    expect(page).to_have_url(re.compile("layer=2"))
    page.locator("#layers-metric input").click()
    page.get_by_role("option", name="Self-similarity", exact=True).click()
    expect(page.locator("#layers-adjusted .js-plotly-plot")).to_be_visible(timeout=SLOW)
    expect(page.locator("#layers-table thead")).to_contain_text("adjusted")
    with page.expect_download() as taken:
        page.locator(".with-figure [data-file^=self_similarity_adjusted]").click()
    assert taken.value.suggested_filename == "self_similarity_adjusted-MiniLM-masked-MiniLM-causal-and-1-more.png"


@pytest.mark.slow
def test_a_link_restores_own_sentences_and_what_is_counted_on_a_phone(open_page):
    page = open_page(
        LAYERS + OWN + "&model=ELMo+mini&beside=protocols&specials=true&metric=isoscore",
        width=390,
        height=844,
        dark=True,
    )
    expect(page.locator("#layers-said")).to_contain_text("ELMo mini, words, layer", timeout=SLOW)
    expect(page.locator("#layers-said")).to_contain_text("IsoScore")
    expect(page.locator(".caption:visible").last).to_contain_text("Your sentences")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator("#layers-table b").count() == 0
    page.get_by_role("button", name="Corpus, and what is counted").click()
    specials = page.get_by_label("Count special tokens")
    expect(specials).to_be_checked()
    page.locator("#anisotropy-unit").get_by_label("words").check()
    expect(specials).to_be_hidden()  # of words there are none
    page.locator("#anisotropy-unit").get_by_label("tokens").check()
    expect(specials).to_be_checked()
    page.locator("#anisotropy-own textarea").fill("the the the the")
    expect(page.locator(".message.error:visible")).to_contain_text("one word again and again", timeout=SLOW)


@pytest.mark.slow
def test_the_slider_stands_where_its_box_says_when_an_example_brings_a_deeper_model(open_page):
    page = open_page(LAYERS + "&model=ELMo+mini&show=search")
    layer = page.locator("#anisotropy-layer input[type=range]")
    expect(layer).to_have_attribute("max", "2", timeout=SLOW)
    page.get_by_role("button", name="Cures, before and after").click()
    expect(layer).to_have_attribute("max", "6", timeout=SLOW)
    expect(page.locator("#anisotropy-layer input[type=number]")).to_have_value("6")
    expect(layer).to_have_value("6")
