"""Models brought into memory and taken out of it by visitors who press at awkward moments."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import serving
from tests.browser.test_models_tab import LOAD, UNLOAD, row

EARLY, CAUSAL = "MiniLM (masked, early)", "MiniLM (causal)"
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A page of its own: no other test brings models into its memory."""
    with serving("app.py", tmp_path_factory.mktemp("models") / "log") as url:
        yield url


def centre(button):
    button.scroll_into_view_if_needed()
    box = button.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_a_press_during_which_the_table_is_redrawn_counts_and_so_does_one_during_another_load(open_page):
    page, colleague = open_page("?tab=models"), open_page("?tab=models")
    page.mouse.move(*centre(row(page, EARLY).get_by_role("button", name=LOAD)))
    page.mouse.down()
    row(colleague, CAUSAL).get_by_role("button", name=LOAD).click()
    expect(row(page, CAUSAL)).to_contain_text("ready on cpu")
    page.mouse.up()
    row(page, CAUSAL).get_by_role("button", name=UNLOAD).click()
    expect(page.get_by_role("alert")).to_contain_text("another visitor used it")
    row(colleague, CAUSAL).get_by_role("button", name=UNLOAD).click()
    expect(row(page, CAUSAL)).to_contain_text("on this machine")
    expect(row(page, EARLY)).to_contain_text("ready on cpu")
    row(page, EARLY).get_by_role("button", name=UNLOAD).click()
    expect(row(page, EARLY)).to_contain_text("on this machine")


def test_a_press_counts_though_the_table_moves_away_under_it_and_a_drag_is_none(open_page):
    page = open_page("?tab=models")
    dragged, pressed = (row(page, name).get_by_role("button", name=LOAD) for name in (EARLY, CAUSAL))
    x, y = centre(dragged)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 40, y)
    page.mouse.up()
    page.mouse.move(*centre(pressed))
    page.mouse.down()
    page.locator(".models").evaluate("table => (table.style.marginTop = '300px')")
    page.mouse.up()
    expect(row(page, CAUSAL)).to_contain_text("ready on cpu")
    expect(row(page, EARLY)).to_contain_text("on this machine")
    row(page, CAUSAL).get_by_role("button", name=UNLOAD).click()
    expect(row(page, CAUSAL)).to_contain_text("on this machine")
