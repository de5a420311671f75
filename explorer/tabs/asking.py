"""Who asks through the page, or over HTTP, and whether he still waits: told to all that his question sets to work."""

import asyncio
import re
from collections.abc import Callable
from typing import Any

import gradio as gr
from gradio.exceptions import ComponentProcessingError
from gradio.queueing import Event
from pydantic import ValidationError

from explorer.models.callers import Caller, calling
from explorer.settings import settings
from explorer.tabs.answering import explain_mistake
from explorer.tabs.fair_queue import FairQueue, visitor_name
from explorer.tabs.kinds import take_values
from explorer.tabs.messages import fault_message

QUESTION_HEADER = "x-question"  # says work.js
UNREADABLE = "A file, or another value that was sent, cannot be read."


class Page(gr.Blocks):
    """A page whose handlers, at each of their steps, are called by the visitor who pressed.

    His question is over when he stops it, closes the page, or hangs up.
    """

    def queue(self, *given: Any, **named: Any) -> "Page":
        """Have questions wait in a queue, as gr.Blocks does, but in a fair one."""
        super().queue(*given, **named)
        self._queue = FairQueue.instead_of(self._queue)
        return self

    def get_config_file(self) -> dict[str, Any]:
        """What a page is told of itself, as gr.Blocks has it, but that it shall keep no connection open.

        By that Gradio hears when a page is closed. A browser has six for all pages of a server, and some wait for ever
        where more are open: work.js says by itself when its page is left (first_page.left_route).
        """
        return super().get_config_file() | {"connect_heartbeat": False}

    async def process_api(
        self, *given: Any, session_hash: str | None = None, event_id: str | None = None, **named: Any
    ) -> dict[str, Any]:
        """Answer an event, or the next step of one; as gr.Blocks does.

        Raises:
            gr.Error: What was sent cannot be taken; or the fault is ours, and is logged.
        """
        is_generating = False
        if left := self.state_holder.session_data.get(session_hash):
            left.is_closed = False  # its browser had kept it, and brought it back
        try:
            answer = await super().process_api(*given, session_hash=session_hash, event_id=event_id, **named)
            is_generating = answer["is_generating"]
            return answer
        except gr.Error as error:
            error.print_exception = False  # it repeats what was sent
            raise
        except Exception as error:
            mistake = explain_mistake(error)
            raise gr.Error(mistake[1] if mistake else fault_message(), print_exception=False) from error
        finally:
            if session_hash is not None and session_hash == event_id and not is_generating:
                self.state_holder.session_data.pop(session_hash, None)  # of one question over HTTP, which has no others
                self.state_holder.time_last_used.pop(session_hash, None)

    async def preprocess_data(self, block_fn: Any, inputs: list[Any], *given: Any, **named: Any) -> list[Any]:
        """What a handler is called with, of what was sent; as gr.Blocks does.

        Raises:
            gr.Error: A value is not of the kind that the handler, or Gradio's component, takes.
        """
        try:
            return await super().preprocess_data(block_fn, take_values(block_fn, inputs), *given, **named)
        except (ComponentProcessingError, ValidationError) as error:
            raise gr.Error(UNREADABLE, print_exception=False) from error

    async def call_function(
        self,
        block_fn: Any,
        processed_input: list[Any],
        iterator: Any = None,
        requests: Any = None,
        event_id: str | None = None,
        *others: Any,
        **named: Any,
    ) -> Any:
        """Call a handler, or have it take its next step; as gr.Blocks does."""
        request = requests[0] if isinstance(requests, list) else requests
        with calling(_caller_of(self, request, event_id)):
            return await super().call_function(
                block_fn, processed_input, iterator, requests, event_id, *others, **named
            )


def _caller_of(page: gr.Blocks, request: gr.Request | None, event_id: str | None) -> Caller:
    """The visitor behind an event."""
    name = visitor_name(getattr(request, "session_hash", None), event_id, request)
    event = page._queue.event_ids_to_events.get(event_id)  # None: it went past the queue
    number = event.request.headers.get(QUESTION_HEADER, "") if event else ""
    question = int(number) if re.fullmatch("[0-9]{1,9}", number) else 0
    return Caller(name, _waits_for(event), settings().longest_analysis_seconds, question)


def _waits_for(event: Event | None) -> Callable[[], bool]:
    """Whether an event is still to be answered.

    Gradio marks the events of a page that was closed, and of a client that hung up, and cancels the task of an event
    that is stopped. None of these ends a handler at work; a stop even waits for its step to end.
    """
    task = asyncio.current_task()

    def is_waiting() -> bool:
        return (event is None or event.alive) and not (task.done() or task.cancelling())

    return is_waiting
