"""The program as `python app.py` starts it, for as long as a benchmark needs it."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

from playwright.sync_api import Browser, Playwright

ROOT = Path(__file__).parent.parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BROWSER_ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")
GIVE_UP_SECONDS = 120
POLL_SECONDS = 0.05


@contextmanager
def serving(settings: Mapping[str, str] | None = None) -> Iterator[str]:
    """The address of a fresh program, without network, once its page is answered in full; ended afterwards.

    Args:
        settings: Further environment variables.

    Raises:
        RuntimeError: The program ended, or nothing came for two minutes.
    """
    port = _free_port()
    address = f"http://127.0.0.1:{port}/"
    environment = os.environ | {
        "GRADIO_SERVER_PORT": str(port),
        "GRADIO_ANALYTICS_ENABLED": "False",
        "HF_HUB_OFFLINE": "1",
        **(settings or {}),
    }
    server = subprocess.Popen(
        [sys.executable, "app.py"], cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _wait_for_page(address, server)
        yield address
    finally:
        server.terminate()
        server.wait(timeout=30)


def read(address: str, body: dict | None = None) -> str:
    """What the server answers, in full."""
    data = None if body is None else json.dumps(body).encode()
    request = Request(address, data=data, headers={"Content-Type": "application/json"})
    with urlopen(request, timeout=GIVE_UP_SECONDS) as answer:
        return answer.read().decode()


def fill(address: str, model: str, text: str) -> list:
    """What /fill_blanks answers, asked the way curl does: call, then read the event."""
    event = json.loads(read(f"{address}gradio_api/call/v2/fill_blanks", {"text": text, "model": model}))["event_id"]
    stream = read(f"{address}gradio_api/call/v2/fill_blanks/{event}")
    _, done, data = stream.partition("event: complete\ndata: ")
    assert done, stream
    return json.loads(data.splitlines()[0])


def open_browser(playwright: Playwright) -> Browser:
    """The system's Chromium, or else the one that playwright fetched."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    return playwright.chromium.launch(executable_path=path, args=list(BROWSER_ARGUMENTS))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait_for_page(address: str, server: subprocess.Popen) -> None:
    deadline = time.perf_counter() + GIVE_UP_SECONDS
    while time.perf_counter() < deadline:
        if server.poll() is not None:
            raise RuntimeError(f"app.py ended with status {server.returncode}")
        try:
            with urlopen(address, timeout=GIVE_UP_SECONDS) as answer:
                page = answer.read().decode()
        except (URLError, ConnectionError):
            time.sleep(POLL_SECONDS)
            continue
        assert "gradio" in page
        return
    raise RuntimeError(f"no page within {GIVE_UP_SECONDS} s")
