"""Answers that were asked for over HTTP and that nobody fetches: Gradio would keep them for good."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gradio as gr
import orjson

from explorer.logs import log_fault
from explorer.settings import settings
from explorer.tabs.fair_queue import FairQueue

MIB = 2**20
LOOK_SECONDS = 5.0
KEPT_SECONDS = 300.0
IN_MEMORY = 5  # times what an answer takes as it is sent: 4.4 by benchmarks/unread_answers.py


@dataclass
class _Waiting:
    """What waits for one who asked; as long as he reads none of it, its first message is the same."""

    first: Any
    since: float
    counted: int = 0  # messages
    size_bytes: int = 0  # of those


class Unread:
    """Drops answers that wait too long, or are too many; what is still at work on them stops.

    Args:
        queue: Of the page.
        most_bytes: Of memory, for all that wait.
        clock: The time, in seconds.
    """

    def __init__(self, queue: FairQueue, most_bytes: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._queue = queue
        self._most_bytes = most_bytes
        self._clock = clock
        self._waiting: dict[str, _Waiting] = {}
        self._empty: set[str] = set()

    @classmethod
    def watch(cls, page: gr.Blocks, look_seconds: float = LOOK_SECONDS) -> None:
        """Look after a page as long as it is served, with the limit of the settings."""

        async def start() -> None:
            unread = cls(page._queue, int(settings().most_unread_mib * MIB))
            tasks.append(asyncio.create_task(unread.look_again_and_again(look_seconds)))

        tasks: list[asyncio.Task] = []  # asyncio itself holds none
        page.extra_startup_events.append(start)

    async def look_again_and_again(self, look_seconds: float) -> None:
        """Look until the page is closed."""
        while not self._queue.stopped:
            await asyncio.sleep(look_seconds)
            try:
                await self.look()
            except Exception:  # the next look may do
                log_fault("the look for unread answers")

    async def look(self) -> None:
        """Drop what nobody read since the last looks, and forget those who have read all."""
        now, before, empty_before = self._clock(), self._waiting, self._empty
        self._waiting, self._empty = {}, set()
        for session in self._queue.pending_messages_per_session:
            if messages := self._messages(session):
                known = before.get(session)
                is_known = known is not None and known.first is messages[0]
                self._waiting[session] = known if is_known else _Waiting(messages[0], now)
            elif not self._queue.pending_event_ids_session.get(session):
                self._empty.add(session)
        for session in self._empty & empty_before:  # else its stream may still be open
            self._queue.forget(session)
        longest = sorted(self._waiting, key=lambda session: self._waiting[session].since)
        for session in longest:
            if self._waiting[session].since < now:  # else it may be on its way to a reader
                await self._count(session)
        size_bytes = sum(waiting.size_bytes for waiting in self._waiting.values())
        for session in longest:
            waiting = self._waiting[session]
            if now - waiting.since <= KEPT_SECONDS and size_bytes <= self._most_bytes:
                break
            size_bytes -= waiting.size_bytes
            if self._messages(session)[:1] == [waiting.first]:
                await self._queue.drop(session)

    async def _count(self, session: str) -> None:
        waiting = self._waiting[session]
        new = self._messages(session)[waiting.counted :]
        waiting.size_bytes += await asyncio.to_thread(lambda: sum(map(_size_bytes, new)))
        waiting.counted += len(new)

    def _messages(self, session: str) -> list[Any]:
        """What waits for who asked, which asyncio's queues show to nobody but by giving it away."""
        messages = self._queue.pending_messages_per_session.get(session)
        return [] if messages is None else list(messages._queue)


def _size_bytes(message: Any) -> int:
    told = message.model_dump()
    try:
        return IN_MEMORY * len(orjson.dumps(told, default=str))
    except TypeError:  # it holds half a character, and cannot be sent either
        return IN_MEMORY * len(repr(told))
