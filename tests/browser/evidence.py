"""What a failed browser test leaves in test-results/: a picture, a Playwright trace and the log of each page."""

import re
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page

RESULTS = Path(__file__).parents[2] / "test-results"
PICTURE_MS = 10_000
MOST_CHARACTERS = 120  # of a folder's name


@dataclass
class Watched:
    """A page of a test, and what it has said so far."""

    context: BrowserContext
    page: Page
    lines: list[str] = field(default_factory=list)


WATCHED = pytest.StashKey[list[Watched]]()


def begin(item: pytest.Item) -> None:
    """Forget the pages of an earlier run of the same test."""
    item.stash[WATCHED] = []


def watch(item: pytest.Item, page: Page) -> None:
    """Note what a page says and does, to be kept if its test fails."""
    watched = Watched(page.context, page)
    page.on("console", lambda line: watched.lines.append(f"{line.type}: {line.text}"))
    page.on("pageerror", lambda error: watched.lines.append(f"page error: {error}"))
    page.on("requestfailed", lambda request: watched.lines.append(f"failed: {request.url} {request.failure}"))
    is_repeated = getattr(item, "execution_count", 1) > 1
    page.context.tracing.start(snapshots=is_repeated)  # which take time
    item.stash[WATCHED].append(watched)


def keep(item: pytest.Item, report: pytest.TestReport) -> None:
    """Write it all down, and name the folder in the report."""
    name = re.sub(r"[^\w.-]+", "-", item.nodeid.removeprefix("tests/browser/")).strip("-")[:MOST_CHARACTERS]
    folder = RESULTS / name / f"run-{getattr(item, 'execution_count', 1)}"
    folder.mkdir(parents=True, exist_ok=True)
    for number, watched in enumerate(item.stash.get(WATCHED, []), start=1):
        try:
            watched.lines.append(f"at the end: {watched.page.url}")
            watched.page.screenshot(path=folder / f"page-{number}.png", timeout=PICTURE_MS)
            watched.context.tracing.stop(path=folder / f"trace-{number}.zip")
        except Exception as error:  # a page that is gone; the failure of the test itself is what counts
            watched.lines.append(f"not kept: {error}")
        (folder / f"log-{number}.txt").write_text("\n".join(watched.lines) + "\n", encoding="utf-8")
    report.sections.append(("kept for you", f"{folder}: pictures, logs, and traces for `playwright show-trace`"))
