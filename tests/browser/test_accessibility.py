"""Every view as axe (https://github.com/dequelabs/axe-core) judges it: contrast, names, headings, landmarks."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.browser.conftest import come_to_rest

TABS = "Fill in the blank", "Generate", "Attention", "Neighbours", "Anisotropy", "Fine-tune", "Models"
AXE = Axe()
FADED = """Promise.allSettled(  // what was dimmed while it was asked comes back within a tenth of a second of rest
  document.getAnimations().filter(one => one instanceof CSSTransition).map(one => one.finished))"""


def faults(page: Page, where: str) -> list[str]:
    come_to_rest(page)
    page.evaluate(FADED)
    found = AXE.run(page, options={"resultTypes": ["violations"]})
    return [
        f"{where}: {fault['id']}: {node['html'][:200]}"
        for fault in found.response["violations"]
        for node in fault["nodes"]
    ]


def test_axe_finds_nothing_where_the_page_begins(page):
    found = faults(page, "at first")
    assert not found, "\n".join(found)


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_nothing_in_any_view(open_page, dark):
    page, found = open_page(dark=dark), []
    for tab in TABS:
        page.get_by_role("tab", name=tab, exact=True).click()
        come_to_rest(page)
        views = page.locator(".views:visible [role=tab]:visible")
        for name in views.all_inner_texts():
            views.filter(has_text=name).first.click()
            found += faults(page, f"{tab}, {name}")
    assert not found, "\n".join(found)
