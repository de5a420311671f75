"""The view "Cures", driven as a visitor drives it."""

import re

import pytest
from playwright.sync_api import expect

CORPUS = "%0A".join(f"Day+{day}:+the+dog+saw+a+cat+and+the+mouse+ran+home+{'again+' * (day % 3)}." for day in range(9))
VIEW = "?tab=anisotropy&show=cures&model=GPT+mini&cured_word=mouse&own=" + CORPUS
SLOW = 120_000  # the first measurement on a busy machine


@pytest.mark.slow
def test_cures_stand_beside_what_was_before_and_a_link_restores_them(open_page):
    page = open_page(VIEW + "&cured=rank|all_but_the_top&taken=2&cured_metric=isoscore")
    for chart in ("by-layer", "spectrum", "cosines", "centroid", "nearest"):
        expect(page.locator(f"#cures-{chart} .js-plotly-plot")).to_be_visible(timeout=SLOW)
    expect(page.locator("#cures-said")).to_contain_text(re.compile("IsoScore.*as they are .*all but the top .*ranks"))
    expect(page.locator("#cures-verdict")).to_contain_text("Does it help?")
    expect(page.locator("#cures-table tbody tr")).to_have_count(3)
    expect(page.locator("#cures-table")).to_contain_text("All but the top 2")
    expect(page.locator("#cures-which li")).to_have_count(2)
    page.get_by_label("All but the top").uncheck()
    expect(page.locator("#cures-table tbody tr")).to_have_count(2, timeout=SLOW)
    expect(page.locator("#cures-components")).to_be_hidden()
    expect(page).to_have_url(re.compile("cured=rank&"))
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
