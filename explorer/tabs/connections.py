"""Connections of clients who are slow, or never finish: they end, and others always find room.

uvicorn waits for ever for the rest of a request, and for a client to read. A thousand connections that stop in the
middle of a line, from one machine, would fill the files that a process may have open, and nobody else could connect.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress
from typing import Any

import gradio as gr
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

LOOK_SECONDS = 5.0
HEAD_SECONDS = 20.0  # until the first line and the headers of a request are here
SLOW_START_SECONDS = 60.0  # for which a body may come, and an answer be read, however slowly
LEAST_BYTES_A_SECOND = 4096  # of a body, or of an answer that waits to be read, after that, on average
MOST_CONNECTIONS = 4000
MOST_ENDED_AT_ONCE = 100
MOST_FILES = 8192  # that a process needs for these and for all else
OTHER_FILES = 256  # models, jobs, libraries


class Connection(H11Protocol):
    """A connection that ends when its request does not come, or its answer is not read.

    It must send the headers of a request within HEAD_SECONDS, of 64 KiB at most, as h11 takes no more; a body at
    LEAST_BYTES_A_SECOND; read something of what is sent within SLOW_START_SECONDS, and all of it at that rate, too.
    Where there is no more room, such end as have waited longest for their clients, of the address that has most of
    them.
    """

    most_connections = MOST_CONNECTIONS

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Take it, if there is room, or room can be made."""
        self._waits_since = self._read_since = self._unread_since = self.loop.time()
        self._body_of, self._body_since, self._body_bytes = None, 0.0, 0
        self._read_bytes = self._read_before = 0  # in all; before something began to wait
        self.is_ended = False
        super().connection_made(_Counting(transport))
        if len(self.connections) > self.most_connections:
            _make_room(self.connections, self.most_connections)
        self.loop.call_later(LOOK_SECONDS, self._look)

    def data_received(self, data: bytes) -> None:
        """Take what a client sends."""
        super().data_received(data)
        if self.cycle is not self._body_of:
            self._body_of, self._body_since, self._body_bytes = self.cycle, self.loop.time(), 0
        self._body_bytes += len(data)

    def on_response_complete(self) -> None:
        """Begin to wait for another request."""
        self._waits_since = self.loop.time()
        super().on_response_complete()

    def end(self) -> None:
        """Close it at once, and forget what is not sent."""
        self.is_ended = True
        self.transport.abort()

    @property
    def is_answered(self) -> bool:
        """Whether a request is here in full, and its answer is not yet."""
        return self.cycle is not None and not self.cycle.response_complete and not self.cycle.more_body

    @property
    def waits_since(self) -> float:
        """When it began to wait for what the client sends, on the clock of the loop."""
        return self._waits_since if self._awaits_head else self._body_since

    @property
    def _awaits_head(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _look(self) -> None:
        if self not in self.connections or self.is_ended:  # one that is closing may still have to be read
            return
        if self._is_slow(self.loop.time()):
            self.end()
        else:
            self.loop.call_later(LOOK_SECONDS, self._look)

    def _is_slow(self, now: float) -> bool:
        unread_bytes = self.transport.get_write_buffer_size()
        if self._reads_slowly(now, unread_bytes):
            return True
        if self._awaits_head:
            return not unread_bytes and now - self._waits_since > HEAD_SECONDS
        if not self.cycle.more_body or self.flow.read_paused:
            return False
        return self._body_bytes < _least_bytes(now - self._body_since)

    def _reads_slowly(self, now: float, unread_bytes: int) -> bool:
        read_bytes = self.transport.written_bytes - unread_bytes
        if not unread_bytes:
            self._unread_since, self._read_before = now, read_bytes
        if not unread_bytes or read_bytes > self._read_bytes:
            self._read_since, self._read_bytes = now, read_bytes
        if now - self._read_since > SLOW_START_SECONDS:
            return True
        return read_bytes - self._read_before < _least_bytes(now - self._unread_since)


class _Counting:
    """A transport that knows how much was written to it."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self.written_bytes = 0
        self._transport = transport

    def write(self, data: bytes) -> None:
        self.written_bytes += len(data)
        self._transport.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


def _least_bytes(seconds: float) -> float:
    """How much must have come through after so long; 0 = nothing yet."""
    return max(0.0, seconds - SLOW_START_SECONDS) * LEAST_BYTES_A_SECOND


def _make_room(connections: set[Any], most: int) -> None:
    """Of the address with most of those that wait for their clients, end such as have waited longest.

    Several at once, as looking for them takes as long as for one; not the newest, unless there is no other.
    """
    taken = [one for one in connections if isinstance(one, Connection) and not one.is_ended]
    if len(taken) <= most:  # those that were ended are about to leave
        return
    waiting = [one for one in taken if not one.is_answered]
    [(crowded, _)] = Counter(map(_address, waiting)).most_common(1)
    crowd = sorted((one for one in waiting if _address(one) == crowded), key=lambda one: one.waits_since)
    for one in crowd[: max(1, min(MOST_ENDED_AT_ONCE, len(crowd) // 2))]:
        one.end()


def _address(connection: Connection) -> str:
    return connection.client[0] if connection.client else ""


def bound_connections(page: gr.Blocks) -> None:
    """From now on, bound the connections of a page that is launched.

    The process may open more files from now on, where the system lets it; there are as many connections as these leave
    room for.
    """
    Connection.most_connections = _most_connections(_let_open_files())
    config = page.server.config
    config.http_protocol_class = Connection
    config.loaded_app = _naming_host(config.loaded_app)


def _naming_host(app: ASGIApp) -> ASGIApp:
    """Have each request name the host that it came to; in HTTP/1.0 it may name none, which Gradio cannot bear."""

    async def name(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not any(key == b"host" for key, _ in scope["headers"]):
            host, port = scope["server"]
            scope = {**scope, "headers": [*scope["headers"], (b"host", f"{host}:{port}".encode())]}
        await app(scope, receive, send)

    return name


def _most_connections(files: int) -> int:
    return min(MOST_CONNECTIONS, max(files - OTHER_FILES, files // 2))


def _let_open_files() -> int:
    """How many files this process may have open, raised as far as it may be and as is useful."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return MOST_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_FILES if hard == resource.RLIM_INFINITY else min(MOST_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):  # macOS has a lower limit beside the one it names
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
    return MOST_FILES if soft == resource.RLIM_INFINITY else soft
