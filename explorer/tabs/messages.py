"""What a handler tells the visitor: progress while a model is on its way, and errors where the mistake is."""

import logging
import secrets
import time
from collections.abc import Callable, Iterator
from html import escape
from threading import Thread

import gradio as gr

from explorer.errors import ExplorerError
from explorer.models.registry import Registry
from explorer.tabs.visitors import find_model

QUIET = {"api_visibility": "private", "show_progress": "hidden"}  # events of the page itself: not listed, no spinner
LOG = logging.getLogger("explorer")
POLL_SECONDS = 0.25
SLOW_SECONDS = 0.4  # anything longer shows what is going on


def error_box(text: str) -> str:
    """A message about a mistake, and what to do."""
    return f"<div class='message error' role='alert'>{escape(text)}</div>"


def progress_box(text: str) -> str:
    """A message about work under way."""
    return f"<div class='message working' role='status'>{escape(text)}</div>"


def in_place(registry: Registry, outputs: int) -> Callable[[Callable[..., tuple]], Callable[..., Iterator[tuple]]]:
    """Make an event handler of `draw(registry, model, *inputs) -> outputs`.

    The handler takes the name of a model, or a list of names, which draw gets as the registry has them.

    The handler's first output is the message. While the model is on its way it says so and leaves the old result; an
    ExplorerError becomes a message and leaves the old result; any other error is logged under a reference.

    Args:
        registry: The models on offer; a visitor's own model is added for the call.
        outputs: How many outputs draw returns.
    """
    unchanged = [gr.skip()] * outputs

    def decorate(draw: Callable[..., tuple]) -> Callable[..., Iterator[tuple]]:
        def handler(model: str | list[str], *inputs: object) -> Iterator[tuple]:
            try:
                own, found = registry, []
                for asked in model if isinstance(model, list) else [model]:
                    own, name = find_model(own, asked)
                    found.append(name)
                    for words in loading_words(own, name):
                        yield progress_box(words), *unchanged
                yield "", *draw(own, found if isinstance(model, list) else name, *inputs)
            except ExplorerError as error:
                yield error_box(str(error)), *unchanged
            except Exception:  # a fault of ours: the visitor gets a reference to it, the log the rest
                yield error_box(fault_message()), *unchanged

        return handler

    return decorate


def fault_message() -> str:
    """Log the exception being handled, and return what to tell the visitor."""
    reference = secrets.token_hex(4)
    LOG.exception("fault %s", reference)
    return (
        f"Something went wrong on our side (reference {reference}). Your input is kept; try again, "
        "or tell the operator the reference."
    )


def loading_words(registry: Registry, name: str) -> Iterator[str]:
    """Load a model, and say from time to time how far it is; nothing is said of one that is ready or quick.

    Raises:
        ExplorerError: The model cannot be had.
    """
    if _status(registry, name).state == "ready":
        return
    failed: list[BaseException] = []

    def load() -> None:
        try:
            registry.load(name)
        except BaseException as error:  # carried to the visitor's thread
            failed.append(error)

    worker = Thread(target=load, daemon=True, name=f"load {name}")
    began = time.monotonic()
    worker.start()
    worker.join(SLOW_SECONDS)
    while worker.is_alive():
        status = _status(registry, name)
        verb = "Downloading" if status.state == "downloading" else "Loading"
        share = status.progress
        seconds = time.monotonic() - began
        words = f"{verb} {name}"
        if share and share < 1:
            words += f": {share:.0%}"
            if 0.02 < share < 0.99 and seconds > 2:
                words += f", about {seconds * (1 - share) / share:.0f} s left"
        yield words + " …"
        worker.join(POLL_SECONDS)
    if failed:
        raise failed[0]


def _status(registry: Registry, name: str):
    registry.card(name)  # raises UnknownModel with the names that exist
    return next(status for status in registry.status() if status.name == name)
