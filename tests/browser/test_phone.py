"""The fill-in-the-blank tab on a phone."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_fill_blanks import BEST, bars

CHARTS = """() => {
  const [figure] = [...document.querySelectorAll('.figure .js-plotly-plot')].filter(one => one.offsetParent);
  const [first, second] = [...figure.querySelectorAll('.annotation')].map(one => one.getBoundingClientRect());
  return {areBeside: first.y === second.y, isInside: second.right <= innerWidth, height: figure.clientHeight};
}"""


def expect_charts(page: Page, *, beside: bool) -> None:
    """Two charts in sight, beside each other or not, and none of them cut; plotly draws after the screen has turned."""
    page.wait_for_function(
        f"wanted => {{ const is = ({CHARTS})(); return is.areBeside === wanted && is.isInside && is.height > 250; }}",
        arg=beside,
    )


def test_on_a_phone_charts_stand_below_each_other_and_an_example_brings_its_answer_into_sight(open_page):
    page = open_page(width=390, height=844)
    expect_charts(page, beside=False)
    # After a second drawing plotly by itself would forget how high it is; 834 is a tablet.
    for width, height in ((1100, 500), (390, 844), (1280, 800), (834, 1100), (1280, 800), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        expect_charts(page, beside=width > 1023)
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


@pytest.mark.parametrize("show", ["similarity", "rogue", "cures"])
@pytest.mark.slow
def test_tables_of_numbers_fit_a_phone(open_page, show):
    page = open_page(f"?tab=anisotropy&show={show}", until="restored", width=390, height=844)
    expect(page.locator(".scores:visible").first).to_be_visible()
    wide = "all => all.filter(one => one.scrollWidth > one.clientWidth).map(one => one.ariaLabel)"
    assert page.locator(".scores-scroll:visible").evaluate_all(wide) == []


@pytest.mark.slow
def test_a_matrix_on_a_phone_is_as_high_as_its_rows(open_page):
    page = open_page("?tab=attention&look=matrix", until="restored", width=390, height=844)
    expect(page.locator(".matrix-canvas")).to_be_visible()
    stage, sheet = (page.locator(one).bounding_box() for one in (".head-stage", ".matrix-sheet"))
    assert sheet["height"] <= stage["height"] <= sheet["height"] + 4
