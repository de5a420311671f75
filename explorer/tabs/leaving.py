"""Serve until told to stop, and then leave in order: what is at work is answered, and the status is 0."""

import logging
import os
import signal
import sys
import time
from typing import NoReturn

import gradio as gr

GRACE_SECONDS = 8.0  # `docker stop` kills after 10
LOOK_SECONDS = 0.1
LOG = logging.getLogger("explorer")


def hear_signals() -> list[int]:
    """From now on SIGINT and SIGTERM are only noted: the first process of a container would not even heed SIGTERM.

    Returns:
        Those that have come, so far none; it grows.
    """
    heard: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: heard.append(number))
    return heard


def serve_until_told(page: gr.Blocks, heard: list[int]) -> NoReturn:
    """Serve until a signal comes, then take no more connections, wait for the answers under way, and end the process.

    A second signal, or the end of GRACE_SECONDS, ends the wait.

    Args:
        page: Launched, its server in a thread of its own.
        heard: As hear_signals returns it.
    """
    while not heard:
        time.sleep(LOOK_SECONDS)
    LOG.info("Stopping. Answers under way have %g s; a second signal ends at once.", GRACE_SECONDS)
    page.app.stop_event.set()  # else every open page would keep a connection
    page.server.should_exit = True  # and its thread ends with the last connection
    until = time.monotonic() + GRACE_SECONDS
    while page.server.thread.is_alive() and len(heard) < 2 and time.monotonic() < until:
        time.sleep(LOOK_SECONDS)
    LOG.info("Stopped.")
    logging.shutdown()
    sys.stdout.flush()
    os._exit(0)  # Python's own way down aborts the process where a thread computes in torch
