"""Anything is sent to any handler of the page, in one process, and what becomes of it is looked at."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import gradio as gr
import orjson
from gradio.block_function import BlockFunction
from gradio.events import EventData
from gradio.state_holder import SessionState
from starlette.requests import Request

from explorer.logs import LOG

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
