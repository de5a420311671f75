"""What the benchmarks of a page share: a fresh program, a tab in a real Chromium, and a table of how long one waits."""

import argparse
import json
import sys
from collections.abc import Callable
from statistics import median

from measuring import describe_machine, print_table
from playwright.sync_api import Page, sync_playwright
from serving import open_browser, serving

SETTLE_MILLISECONDS = 1500
PATIENCE_SECONDS = 120


def report_waits(says: str, tab: str, measure: Callable[[Page, int], dict[str, list[float]]], rounds: int) -> None:
    """Open a tab, measure, and print what a visitor waited.

    Args:
        says: What is measured, for --help.
        tab: Its name in the address.
        measure: Milliseconds by what was waited for, from the page and the number of rounds.
        rounds: How many, unless --rounds says otherwise.
    """
    parser = argparse.ArgumentParser(description=says)
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    machine = describe_machine()
    with serving() as address, sync_playwright() as playwright:
        browser = open_browser(playwright)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(PATIENCE_SECONDS * 1000)
        page.goto(f"{address}?tab={tab}")
        page.wait_for_selector("body[data-ready]")
        page.wait_for_timeout(2 * SETTLE_MILLISECONDS)
        waited = measure(page, options.rounds)
        browser.close()
    if options.json:
        json.dump({"machine": machine, "milliseconds": waited}, sys.stdout, indent=2)
        print()
        return
    rows = [(what, len(all_), f"{median(all_):.0f} ms", f"{max(all_):.0f} ms") for what, all_ in waited.items()]
    print_table("In Chromium", ("what", "times", "median", "longest"), rows)
    print(f"Machine: {machine}")
