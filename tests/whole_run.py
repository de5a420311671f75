"""What is true of a whole run of the tests: nothing is left behind, and memory stays within bounds.

Hooks of pytest, which conftest.py takes over. With several workers each looks for its own child processes; the files
are looked at once, at the end.
"""

import os
import time
from pathlib import Path
from threading import Event, Thread

import psutil
import pytest

ROOT = Path(__file__).parent.parent
NOT_OURS = {".git", ".venv", "__pycache__", ".hypothesis", ".pytest_cache", ".ruff_cache", "test-results", "build"}
GONE_SECONDS = 10.0  # a process that was asked to end may take a moment
MOST_GIB = 8
SAMPLE_SECONDS = 5.0
MOST_CHARACTERS = 300
GIB = 2**30
FILES = pytest.StashKey[set[str]]()
LEFT = pytest.StashKey[list[str]]()
PEAK = pytest.StashKey["PeakMemory"]()


class PeakMemory:
    """The most memory that this process and all below it held at once, looked at every few seconds."""

    def __init__(self) -> None:
        self.bytes = 0
        self._ended = Event()
        self._thread = Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._ended.wait(SAMPLE_SECONDS):
            self.bytes = max(self.bytes, held_bytes())

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()


def held_bytes() -> int:
    """Memory of this process and all below it, what they share counted once where the system says so."""
    total = 0
    for process in (psutil.Process(), *psutil.Process().children(recursive=True)):
        try:
            held = process.memory_full_info()
        except psutil.Error:  # it has ended meanwhile, or is not ours to ask
            continue
        total += getattr(held, "pss", held.uss)
    return total


def files_here() -> set[str]:
    """Files of the checkout, but for those that tools keep."""
    found = set()
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in NOT_OURS and not name.endswith(".egg-info")]
        found |= {str((Path(folder) / name).relative_to(ROOT)) for name in names}
    return found


def children_left() -> list[str]:
    """Processes that tests started and that do not end."""
    deadline = time.monotonic() + GONE_SECONDS
    while (left := [words for child in psutil.Process().children() if (words := describe(child))]) and (
        time.monotonic() < deadline
    ):
        time.sleep(0.1)
    return left


def describe(process: psutil.Process) -> str:
    """What a process is called with; "" if it has ended, or is Python's own helper, which ends with its parent."""
    try:
        words = " ".join(process.cmdline())
        is_over = process.status() == psutil.STATUS_ZOMBIE or "multiprocessing.resource_tracker" in words
    except psutil.Error:
        return ""
    return "" if is_over else f"process {process.pid}: {words[:MOST_CHARACTERS]}"


def is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")


def pytest_sessionstart(session: pytest.Session) -> None:
    session.config.stash[LEFT] = []
    if not is_worker(session.config):
        session.config.stash[FILES] = files_here()
        session.config.stash[PEAK] = PeakMemory()


def pytest_sessionfinish(session: pytest.Session) -> None:
    config = session.config
    left = config.stash[LEFT]
    if not getattr(config.option, "numprocesses", None):
        left += children_left()
    if is_worker(config):
        config.workeroutput["left"] = left
        return
    config.stash[PEAK].stop()
    left += [f"file {name}" for name in sorted(files_here() - config.stash[FILES])]
    if left and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: object) -> None:
    """What a worker of pytest-xdist has found."""
    node.config.stash[LEFT] += getattr(node, "workeroutput", {}).get("left", [])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if is_worker(config):
        return
    peak = config.stash[PEAK].bytes / GIB
    terminalreporter.write_line(f"Most memory held at once: {peak:.1f} GiB (at most {MOST_GIB} are meant to be).")
    for what in config.stash[LEFT]:
        terminalreporter.write_line(f"LEFT BEHIND {what}", red=True)
