"""The real page, started as a visitor would start it, in a real browser without a network."""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Error, Page, expect, sync_playwright

ROOT = Path(__file__).parents[2]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
START_SECONDS = 120
expect.set_options(timeout=30_000)  # the first click may have to wait for torch


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def address(tmp_path_factory):
    """The page on a free port of loopback, as `python app.py` serves it, offline."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("page") / "log"
    environment = os.environ | {"GRADIO_SERVER_PORT": str(port), "HF_HUB_OFFLINE": "1", "PYTHONUNBUFFERED": "1"}
    with log.open("w") as output:
        server = subprocess.Popen([sys.executable, "app.py"], cwd=ROOT, env=environment, stdout=output, stderr=output)
    url = f"http://127.0.0.1:{port}/"
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
        yield url
    finally:
        server.terminate()
        server.wait(timeout=20)
    assert "Traceback" not in log.read_text(), log.read_text()


@pytest.fixture(scope="session")
def browser():
    """The system's Chromium or Chrome, else the one that playwright has installed."""
    with sync_playwright() as playwright:
        system = next(filter(None, map(shutil.which, BROWSERS)), None)
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        try:
            chromium = playwright.chromium.launch(executable_path=system, args=arguments)
        except Error:  # e.g. the placeholder of a package that was never installed
            chromium = playwright.chromium.launch(args=arguments)
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(browser, address):
    """Open the page at a size; nothing but loopback may be asked for, and the console stays free of errors."""
    contexts, faults = [], []

    def allow(route):
        if urlsplit(route.request.url).hostname == "127.0.0.1":
            route.continue_()
        else:
            faults.append(f"asked for {route.request.url}")
            route.abort()

    def open(query: str = "", width: int = 1280, height: int = 800, dark: bool = False) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
        )
        context.set_default_timeout(60_000)
        contexts.append(context)
        context.route(re.compile("^https?://"), allow)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(f"page error: {error}"))
        page.on("console", lambda line: faults.append(f"console: {line.text}") if line.type == "error" else None)
        page.goto(address + query)
        expect(page.locator("body[data-ready]")).to_be_attached()  # what is typed earlier may be lost
        return page

    yield open
    for context in contexts:
        context.close()
    assert not faults


@pytest.fixture
def page(open_page) -> Page:
    return open_page()
