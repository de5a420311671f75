"""How long a visitor waits in the tab Anisotropy: for each view, another model, another query.

A real Chromium, a fresh program, without network; our own corpus, MiniLM (masked). What is seen first is stored and not
measured here; a view is ready when it says something and nothing is at work:

    python benchmarks/anisotropy_page.py [--rounds 5] [--json]
"""

import time
from collections.abc import Callable

from page_waits import SETTLE_MILLISECONDS, report_waits
from playwright.sync_api import Page, expect

MODEL, FURTHER = "MiniLM (masked)", ("all-MiniLM-L6-v2", "GPT mini", "ELMo mini")
VIEWS = {"Rogue dimensions": "#rogue-said", "Similarity": "#similarity-table tbody tr", "Search": "#search-columns li"}
QUERIES = ("rain and wind", "a cat asleep", "the match was lost", "music at night", "a letter from the bank")
AT_REST = "() => ![...document.querySelectorAll('.message.working')].some(box => box.offsetParent)"


def wait_for(page: Page, act: Callable[[], object], shown: Callable[[], object]) -> float:
    """Milliseconds from an act of the visitor until its result is shown and nothing is at work."""
    began = time.perf_counter()
    act()
    shown()
    page.wait_for_function(AT_REST)
    waited = 1000 * (time.perf_counter() - began)
    page.wait_for_timeout(SETTLE_MILLISECONDS)
    return waited


def choose_model(page: Page, name: str) -> float:
    """Milliseconds until the layers of another model are in the table."""
    picker = page.locator("[role=tabpanel]:visible .model-picker input").first
    option = page.get_by_role("option", name=name).first

    def act() -> None:
        picker.click()
        option.click()

    return wait_for(page, act, lambda: expect(page.locator("#layers-said")).to_contain_text(name, timeout=120_000))


def search_for(page: Page, query: str) -> float:
    """Milliseconds until other sentences are found for a query."""
    before = page.locator("#search-columns").inner_text()
    changed = "before => document.querySelector('#search-columns').innerText !== before"
    box = page.locator("#search-query textarea, #search-query input").first
    return wait_for(page, lambda: box.fill(query), lambda: page.wait_for_function(changed, arg=before))


def measure(page: Page, rounds: int) -> dict[str, list[float]]:
    """All of it; what is measured of a model is kept, so that each is a first time but for the words of Search."""
    waited = {"Layers, another model": [choose_model(page, name) for name in (*FURTHER, MODEL)]}
    for view, sign in VIEWS.items():
        tab = page.get_by_role("tab", name=view, exact=True)
        shown = page.locator(sign).first
        waited[f"{view}, first look"] = [wait_for(page, tab.click, lambda shown=shown: shown.wait_for())]
    queries = [QUERIES[number % len(QUERIES)] + " " * (number // len(QUERIES)) for number in range(rounds)]
    waited["Search, another query"] = [search_for(page, query) for query in queries]
    return waited


if __name__ == "__main__":
    report_waits(__doc__.splitlines()[0], "anisotropy", measure, rounds=5)
