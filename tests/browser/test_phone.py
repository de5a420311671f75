"""The fill-in-the-blank tab on a phone."""

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.test_fill_blanks import BEST, bars


def are_beside(titles: Locator) -> bool:
    """Whether two titles of charts stand at one height; plotly draws after the screen has turned."""
    titles.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    first, second = (titles.nth(number).bounding_box() for number in range(2))
    return first["y"] == second["y"]


def test_on_a_phone_charts_stand_below_each_other_and_an_example_brings_its_answer_into_sight(open_page):
    page = open_page(width=390, height=844)
    titles = page.locator(".js-plotly-plot:visible .annotation")
    expect(titles).to_have_count(2)
    assert are_beside(titles) is False
    page.set_viewport_size({"width": 844, "height": 390})
    assert are_beside(titles) is True
    page.set_viewport_size({"width": 390, "height": 844})
    assert are_beside(titles) is False
    page.get_by_role("button", name="Capital of Japan").click()
    expect(page.locator(BEST)).to_contain_text("Tokyo")
    expect(page.locator(BEST)).to_be_in_viewport()
    expect(page.locator("footer .divider:visible")).to_have_count(0)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.slow
def test_a_phone_shows_the_page_without_scrolling_sideways(open_page, dark):
    page = open_page(width=390, height=844, dark=dark)
    expect(bars(page)).to_have_count(10)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
