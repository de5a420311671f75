"""Anything is sent to any handler of the page, in one process, and what becomes of it is looked at.

    EXPLORER_JOBS_FOLDER=$(mktemp -d) python -m tests.hostile.anything_page COUNT

asks so many times, without models, and ends with a traceback at the first fault. The inputs are the same each time, as
long as the code is: Hypothesis also takes constants from the modules that are loaded.
"""

import argparse
import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import gradio as gr
import orjson
from gradio.block_function import BlockFunction
from gradio.events import EventData
from gradio.state_holder import SessionState
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from starlette.requests import Request

from explorer import analysis
from explorer.logs import LOG
from explorer.models.catalogue import CATALOGUE
from explorer.models.registry import Registry
from explorer.tabs import messages
from explorer.tabs.page import build_page
from explorer.training.jobs.supervising import WorkerStarter
from tests.hostile.anything import Senders, clicks
from tests.hostile.test_every_handler import Nobody

NAME = "a page"
REQUEST = Request({"type": "http", "method": "POST", "path": "/", "query_string": b"", "headers": []})


class _Faults(logging.Handler):
    """Faults of ours that are logged."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.found.append(logging.Formatter().format(record))


@contextmanager
def no_faults() -> Iterator[None]:
    """Inside, nothing may be logged as a fault of ours."""
    faults = _Faults()
    LOG.addHandler(faults)
    try:
        yield
    finally:
        LOG.removeHandler(faults)
    assert not faults.found, faults.found[0]


def handlers_of(page: gr.Blocks) -> list[BlockFunction]:
    """All that can be asked for."""
    return [one for one in page.fns.values() if one.fn is not None]


async def answers(page: gr.Blocks, handler: BlockFunction, given: list, click: Any, state: SessionState) -> list[bytes]:
    """All that a handler sends, step by step, as it is sent; nothing more after an error that is said to the visitor.

    Args:
        page: The page.
        handler: One of its handlers.
        given: A value for each input.
        click: What a script of the page tells.
        state: Of the visitor.
    """
    iterator, sent = None, []
    while True:
        try:
            answer = await page.process_api(
                handler, list(given), state=state, iterator=iterator, event_data=EventData(None, click),
                request=gr.Request(REQUEST, session_hash=NAME),
            )  # fmt: skip
        except gr.Error as error:
            return [*sent, orjson.dumps(error.message)]
        sent.append(orjson.dumps(answer["data"], default=str))
        iterator = answer["iterator"]
        if iterator is None or not answer["is_generating"]:
            return sent


def ask_anything(page: gr.Blocks, count: int) -> None:
    """Send so much to the handlers of a page.

    Raises:
        AssertionError: A fault of ours was logged.
    """
    handlers, senders, state = handlers_of(page), Senders(page), SessionState(page)
    loop = asyncio.new_event_loop()

    @seed(0)
    @settings(max_examples=count, database=None, deadline=None, phases=[Phase.generate],
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(st.sampled_from(handlers), clicks(), st.data())
    def ask(handler, click, data) -> None:
        sent = data.draw(senders.values(handler), label=f"{handler.fn}")
        with no_faults():
            assert loop.run_until_complete(answers(page, handler, sent, click, state))

    try:
        ask()
    finally:
        loop.close()


def main() -> None:
    """Ask a page without models, whose jobs wait for ever."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("count", type=int)
    count = parser.parse_args().count
    for name in analysis.ANALYSES:  # each is imported when it is first asked for
        getattr(analysis, name)
    with (
        patch.object(WorkerStarter, "__call__", lambda self: None),
        patch.object(messages, "LATE_SECONDS", 0),  # no browser is there to be late
    ):
        ask_anything(build_page(Registry(CATALOGUE, Nobody)), count)
    print(f"{count} inputs")


if __name__ == "__main__":
    main()
