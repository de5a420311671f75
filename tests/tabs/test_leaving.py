"""How the page ends when it is told to: answers under way are given, and the status is 0 whatever is at work."""

import json
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from threading import Event, Thread
from types import SimpleNamespace
from urllib.error import URLError
from urllib.request import Request, urlopen

import pytest

from explorer.tabs import leaving
from explorer.tabs.leaving import serve_until_told
from tests.models.tiny_loader import wait_until
from tests.program import start
from tests.tabs.stopping_page import ENDLESS

GIVE_UP_SECONDS = 60


class Program:
    """A page in a process of its own, whose every line can be waited for."""

    def __init__(self, process: subprocess.Popen, url: str) -> None:
        self.process = process
        self.url = url

    def until(self, words: str) -> None:
        said = []
        while words not in (line := self.process.stdout.readline()):
            said.append(line)
            assert line, f"it ended without {words!r}:\n{''.join(said)}"

    def fill(self, text: str) -> str:
        body = json.dumps({"text": text, "model": "MiniLM (masked)"}).encode()
        address = f"{self.url}gradio_api/call/v2/fill_blanks"
        with urlopen(Request(address, body, {"Content-Type": "application/json"}), timeout=GIVE_UP_SECONDS) as answer:
            event = json.load(answer)["event_id"]
        with urlopen(f"{address}/{event}", timeout=GIVE_UP_SECONDS) as stream:
            return stream.read().decode()

    def takes_connections(self) -> bool:
        try:
            urlopen(self.url, timeout=GIVE_UP_SECONDS).close()
        except (URLError, ConnectionError):
            return False
        return True


@contextmanager
def serving(folder: Path):
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    process, url = start(["-m", "tests.tabs.stopping_page"], folder, **streams)
    with process:
        try:
            program = Program(process, url)
            program.until("Running on local URL")
            yield program
        finally:
            process.kill()


@pytest.mark.slow
def test_what_is_at_work_is_answered_and_nobody_else_let_in(tmp_path):
    with serving(tmp_path) as page, ThreadPoolExecutor() as pool:
        answer = pool.submit(page.fill, "The cat ___ on the mat.")
        page.until("at work")
        page.process.send_signal(signal.SIGTERM)
        page.until("Stopping.")
        wait_until(lambda: not page.takes_connections())
        assert not answer.done()
        page.process.stdin.write("\n")
        page.process.stdin.flush()
        assert "event: complete" in answer.result(timeout=GIVE_UP_SECONDS)
        page.until("Stopped.")
        assert page.process.wait(timeout=GIVE_UP_SECONDS) == 0


@pytest.mark.slow
def test_a_second_signal_ends_what_computes(tmp_path):
    with serving(tmp_path) as page, ThreadPoolExecutor() as pool:
        answer = pool.submit(page.fill, f"The {ENDLESS} cat ___ on the mat.")
        page.until("at work")
        page.process.send_signal(signal.SIGINT)
        page.until("Stopping.")
        page.process.send_signal(signal.SIGINT)
        assert page.process.wait(timeout=GIVE_UP_SECONDS) == 0
        assert isinstance(answer.exception(timeout=GIVE_UP_SECONDS), (OSError, HTTPException))


def test_what_takes_longer_than_the_grace_is_left(monkeypatch):
    ended, left = Event(), []
    thread = Thread(target=ended.wait, daemon=True)
    thread.start()
    server = SimpleNamespace(should_exit=False, thread=thread)
    page = SimpleNamespace(app=SimpleNamespace(stop_event=Event()), server=server)
    monkeypatch.setattr(leaving, "GRACE_SECONDS", 0.3)
    monkeypatch.setattr(leaving.logging, "shutdown", lambda: None)
    monkeypatch.setattr(leaving.os, "_exit", left.append)
    serve_until_told(page, [signal.SIGTERM])
    assert left == [0] and thread.is_alive()
    assert server.should_exit and page.app.stop_event.is_set()
    ended.set()
    thread.join()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_are_only_noted(number):
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        heard = leaving.hear_signals()
        signal.raise_signal(number)
        assert heard == [number]
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
