"""The real page, started as a visitor would start it, in a real browser without a network."""

import shutil
import time
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Error, Page, expect, sync_playwright

from tests.browser.evidence import RESULTS, begin, keep, watch
from tests.program import start

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
START_SECONDS = 120
ONLY_LOOPBACK = "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"
# Chromium keeps a popup of its address bar ready beside each page, at half the cost of ours. The others are those that
# Playwright turns off, as the last list of the command line counts alone.
NO_POPUPS = "--disable-features=" + ",".join(
    "WebUIOmniboxPopup WebUIOmniboxAimPopup AimEnabled HttpsUpgrades HttpsFirstBalancedModeAutoEnable"
    " LensOverlay MediaRouter NetworkTimeServiceQuerying OptimizationHints PaintHolding PreconnectToSearch"
    " AvoidUnnecessaryBeforeUnloadCheckSync DestroyProfileOnBrowserClose ThirdPartyStoragePartitioning".split()
)
TOLD = """new MutationObserver(() => {
  for (const toast of document.querySelectorAll('.toast-body.error:not([data-told])')) {
    toast.dataset.told = 'yes';
    console.error(`Gradio says: ${toast.innerText}`);
  }
}).observe(document, {childList: true, subtree: true})"""  # our own messages stand in their place on the page
AT_REST = """() => new Promise(done => {
  const look = () => document.body.dataset.atWork ? wait() : done();
  const wait = () => setTimeout(() => requestIdleCallback(look), 100);
  wait();
})"""
LOGS: dict[str, Path] = {}  # of the pages that are served, by their addresses
expect.set_options(timeout=30_000)  # the first click may have to wait for torch


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if call.when == "call" and report.failed:
        keep(item, report)
    return report


@contextmanager
def serving(script, log):
    """A page on a free port of loopback, offline.

    Args:
        script: What serves it, from the root of the project.
        log: File for what it says; a fault in there fails the tests.
    """
    with log.open("w") as output:
        server, url = start([script], log.parent, stdout=output, stderr=output)
    try:
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                httpx.get(url, timeout=5)
                break
            except httpx.TransportError:
                if server.poll() is not None or time.monotonic() > deadline:
                    pytest.fail(f"the page did not start:\n{log.read_text()}")
                time.sleep(0.2)
        LOGS[url] = log
        yield url
    finally:
        server.terminate()
        server.wait(timeout=20)
    assert "Traceback" not in log.read_text(), log.read_text()


def come_to_rest(page: Page) -> None:
    """Return when the page has nothing more to ask and to draw."""
    page.evaluate(AT_REST)


@pytest.fixture(scope="session")
def address(tmp_path_factory):
    """The page as `python app.py` serves it; what it keeps of corpora goes with it."""
    folder = tmp_path_factory.mktemp("page")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_CACHE", str(folder / "hub"))
        with serving("app.py", folder / "log") as url:
            yield url


@pytest.fixture(scope="session")
def browser():
    """The system's Chromium or Chrome, else the one that playwright has installed."""
    shutil.rmtree(RESULTS, ignore_errors=True)  # of an earlier run
    with sync_playwright() as playwright:
        system = next(filter(None, map(shutil.which, BROWSERS)), None)
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", ONLY_LOOPBACK, NO_POPUPS]
        try:
            chromium = playwright.chromium.launch(executable_path=system, args=arguments)
        except Error:  # e.g. the placeholder of a package that was never installed
            chromium = playwright.chromium.launch(args=arguments)
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(browser, address, request):
    """Open the page at a size; nothing but loopback may be asked for, and the console stays free of errors, those that
    Gradio shows by itself among them, and the log of tracebacks.

    It is given back when all that the address names is drawn ("ready"), or stands in the fields ("restored").
    A module with a fixture `address` of its own opens its own page.
    """
    contexts, faults = [], []
    log = LOGS[address]
    said_before = log.stat().st_size
    begin(request.node)

    def check(sent):  # told, not asked: a route would bring each file of a page here and back
        asked = urlsplit(sent.url)
        if asked.scheme in ("http", "https", "ws", "wss") and asked.hostname != "127.0.0.1":
            faults.append(f"asked for {sent.url}")

    def open(
        query: str = "",
        width: int = 1280,
        height: int = 800,
        dark: bool = False,
        until: str = "ready",
        prepare: Callable[[Page], None] = lambda page: None,
    ) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
        )
        context.set_default_timeout(60_000)
        context.add_init_script(TOLD)
        contexts.append(context)
        context.on("request", check)
        page = context.new_page()
        watch(request.node, page)
        page.on("pageerror", lambda error: faults.append(f"page error: {error}"))
        page.on("console", lambda line: faults.append(f"console: {line.text}") if line.type == "error" else None)
        prepare(page)
        page.goto(address + query)
        # Not expect: it describes the whole page each time that it finds no element. What is typed earlier may be lost.
        page.wait_for_selector(f"body[data-{until}]", state="attached", timeout=90_000)
        return page

    yield open
    for context in contexts:
        context.close()
    assert not faults
    said = log.read_bytes()[said_before:].decode(errors="replace")
    assert "Traceback" not in said, said


@pytest.fixture
def page(open_page) -> Page:
    return open_page()
