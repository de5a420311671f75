"""The log says of a fault what an operator needs, and nothing of what visitors typed."""

import logging
import subprocess
import sys

import pytest

from explorer.logs import FORMAT, TextlessFormatter, log_fault
from explorer.settings import settings

TYPED = "my own diary"
PROGRAM = f"""
import asyncio, gc, logging, sys, threading, warnings
import httpx, httpx2
from explorer.logs import begin_log, take_over
begin_log()
def fail():
    raise KeyError({TYPED!r})
thread = threading.Thread(target=fail)
thread.start()
thread.join()
class Late:
    def __del__(self):
        fail()
Late()
async def forget():
    async def fails():
        fail()
    task = asyncio.create_task(fails())
    await asyncio.sleep(0)
    del task
    gc.collect()
asyncio.run(forget())
warnings.warn_explicit({TYPED!r}, UserWarning, "/lib/gradio/components/dropdown.py", 7)
warnings.warn_explicit("of torch", UserWarning, "/lib/torch/cuda.py", 8)
for client in (httpx, httpx2):  # the Hub's is one of them
    transport = client.MockTransport(lambda asked: client.Response(200))
    client.Client(transport=transport).get("https://huggingface.co/api/models/people/diary")
library = logging.getLogger("library")
library.addHandler(logging.StreamHandler(sys.stderr))
take_over("library")
try:
    fail()
except KeyError:
    library.exception("of its own")
"""


def told(error):
    """What the log says of an error that is raised."""
    try:
        raise error
    except BaseException:
        reference = log_fault("a test")
        text = TextlessFormatter(FORMAT).formatException(sys.exc_info())
    return reference, text


@pytest.fixture
def with_texts(monkeypatch):
    monkeypatch.setenv("EXPLORER_LOG_TEXTS", "1")
    settings.cache_clear()
    yield
    monkeypatch.undo()
    settings.cache_clear()


def caused():
    error = RuntimeError(f"cannot read {TYPED}")
    error.__cause__ = KeyError(TYPED)
    error.add_note(TYPED)
    return error


@pytest.mark.parametrize(
    ("error", "kinds"),
    [
        (KeyError(TYPED), ["builtins.KeyError"]),
        (caused(), ["builtins.KeyError", "builtins.RuntimeError"]),
        (ExceptionGroup(TYPED, [ValueError(TYPED), caused()]), ["builtins.ExceptionGroup", "builtins.ValueError"]),
        (UnicodeEncodeError("utf-8", TYPED, 0, 1, TYPED), ["builtins.UnicodeEncodeError"]),
        (SyntaxError("x", ("f", 1, 1, TYPED)), ["builtins.SyntaxError"]),
    ],
    ids=lambda value: "" if isinstance(value, list) else type(value).__name__,
)
def test_a_fault_is_told_by_kind_and_place(caplog, error, kinds):
    reference, text = told(error)
    assert f"fault {reference} in a test" in caplog.messages[-1] and len(reference) == 8
    assert TYPED not in text and "test_logs.py" in text and "in told" in text
    places = [text.index(kind) for kind in kinds]
    assert places == sorted(places)


def test_an_operator_may_have_the_texts(with_texts):
    assert TYPED in told(caused())[1]


def test_what_another_handler_wrote_of_it_is_not_repeated():
    try:
        raise KeyError(TYPED)
    except KeyError:
        record = logging.LogRecord("x", logging.ERROR, "x.py", 1, "fault", None, sys.exc_info())
    assert TYPED in logging.Formatter().format(record)
    assert TYPED not in TextlessFormatter(FORMAT).format(record)


def test_errors_that_led_to_each_other_end():
    first, second = ValueError("a"), ValueError("b")
    first.__cause__, second.__cause__ = second, first
    assert told(first)[1].count("Traceback") == 2


def test_whatever_fails_beside_the_handlers_is_logged_so_too():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60)
    log = done.stdout + done.stderr
    assert done.returncode == 0 and TYPED not in log and "diary" not in log, log
    for words in ("fault in a thread", "fault while memory was freed", "Task exception was never retrieved",
                  "dropdown.py:7: UserWarning", "cuda.py:8: UserWarning: of torch", "of its own"):  # fmt: skip
        assert log.count(words) == 1, f"{words}\n{log}"
    assert log.count("builtins.KeyError") == 4
