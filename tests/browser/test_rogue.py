"""The view "Rogue dimensions", driven as a visitor drives it."""

import re

import pytest
from playwright.sync_api import expect

ROGUE = "?tab=anisotropy&show=rogue&own=" + "%0A".join(
    ["The+cat+sat+on+the+mat.", "A+dog+saw+the+cat+and+the+<b>mat</b>.", "The+dog+ran+home.", "At+home+the+dog+slept."]
)
SLOW = 180_000  # the first measurement on a busy machine


def test_rogue_dimensions_are_named_and_taken_away(open_page):
    page = open_page(ROGUE + "&model=GPT+mini&layer=3&top=2")
    expect(page.locator("#rogue-said")).to_contain_text("GPT mini, layer 3:", timeout=SLOW)
    expect(page.locator("#rogue-lost tbody tr")).to_have_count(2, timeout=SLOW)
    expect(page.locator("#rogue-top tbody tr")).to_have_count(2)
    for chart in ("contributions", "without", "predictions", "over-layers", "covariance"):
        expect(page.locator(f"#rogue-{chart} .js-plotly-plot")).to_be_visible(timeout=SLOW)
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    page.locator("#rogue-count input[type=number]").fill("3")
    page.locator("#rogue-count input[type=number]").press("Enter")
    expect(page.locator("#rogue-lost tbody tr")).to_have_count(3, timeout=SLOW)
    page.get_by_label("0", exact=True).check()
    expect(page).to_have_url(re.compile("top=3.*put=zero"))
    with page.expect_download() as taken:
        page.locator("[data-file^=rogue-contributions]").click()
    assert taken.value.suggested_filename == "rogue-contributions-GPT-mini.png"


@pytest.mark.slow
def test_a_model_that_predicts_nothing_says_so_on_a_phone(open_page):
    page = open_page(ROGUE + "&model=ELMo+mini", width=390, dark=True)
    expect(page.locator("#rogue-said")).to_contain_text("ELMo mini, layer 2:", timeout=SLOW)
    expect(page.locator(".missing:visible")).to_contain_text("ELMo mini is neither", timeout=SLOW)
    expect(page.locator("#rogue-predictions")).to_be_attached()  # though it takes no place
    expect(page.locator("#rogue-predictions")).to_be_hidden()
    expect(page.locator("#rogue-covariance .js-plotly-plot")).to_be_visible(timeout=SLOW)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
