"""How long from `python app.py` to a page, to the first blank filled over HTTP, and to a page ready in a browser.

A fresh process each time, without network; the browser is open already, and opens the page when it is served first:

    python benchmarks/startup.py [--rounds 3] [--openings 20] [--json]
"""

import argparse
import json
import sys
import time
from dataclasses import asdict, dataclass
from statistics import median

from measuring import describe_machine, print_table
from playwright.sync_api import Browser, sync_playwright
from serving import GIVE_UP_SECONDS, fill, open_browser, serving

WANTED_SECONDS = 3.0
TEXT = "The cat ___ on the mat."


@dataclass(frozen=True)
class Start:
    """One start of the program, in seconds since it was called.

    Attributes:
        page_seconds: When the page and its configuration were answered in full.
        answer_seconds: When the first blank was filled, asked for as soon as the page was there.
        second_answer_seconds: How long the same question takes after that, by itself.
    """

    page_seconds: float
    answer_seconds: float
    second_answer_seconds: float


def measure(model: str) -> Start:
    """Start the program once, and stop it again."""
    start = time.perf_counter()
    with serving() as address:
        page = time.perf_counter() - start
        fill(address, model, TEXT)
        answer = time.perf_counter() - start
        fill(address, model, TEXT)
        return Start(page, answer, time.perf_counter() - start - answer)


def measure_opening(browser: Browser) -> float:
    """Start the program once; seconds from its first answer until the page says that all of it is drawn."""
    page = browser.new_page()  # an empty tab is open already
    with serving() as address:
        start = time.perf_counter()
        page.goto(address)
        page.wait_for_selector("body[data-ready]", state="attached", timeout=1000 * GIVE_UP_SECONDS)
        ready = time.perf_counter() - start
        page.close()
        return ready


def main() -> None:
    """Start the program several times and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="MiniLM (masked)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--openings", type=int, default=20, help="starts that a browser waits for")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    machine = describe_machine() | {"model": options.model}
    starts = [asdict(measure(options.model)) for _ in range(options.rounds)]
    with sync_playwright() as playwright:
        browser = open_browser(playwright)
        openings = [measure_opening(browser) for _ in range(options.openings)]
        browser.close()
    if options.json:
        json.dump({"machine": machine, "starts": starts, "openings": openings}, sys.stdout, indent=2)
        print()
        return
    print("\n".join(f"{key}: {value}" for key, value in machine.items()))
    rows = [
        (what, f"{median(start[key] for start in starts):.1f} s", f"{max(start[key] for start in starts):.1f} s")
        for what, key in (
            ("page served", "page_seconds"),
            ("first blank filled", "answer_seconds"),
            ("the same again, by itself", "second_answer_seconds"),
        )
    ]
    print_table(f"Since python app.py was called, {options.rounds} starts:", ("what", "median", "slowest"), rows)
    if openings:
        in_time = sum(seconds <= WANTED_SECONDS for seconds in openings)
        print(f"Ready in a browser {median(openings):.1f} s after the first answer (slowest {max(openings):.1f} s):")
        print(f"within {WANTED_SECONDS:g} s in {in_time} of {len(openings)} starts.")


if __name__ == "__main__":
    main()
