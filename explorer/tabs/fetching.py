"""Who asks, where a component on the page fetches something by itself: Gradio answers that past its queue."""

import asyncio
from collections import Counter

import orjson
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorer.models.callers import Caller, calling
from explorer.settings import settings
from explorer.tabs.answering import send_text
from explorer.tabs.fair_queue import may_have_one_more, visitor_name

FETCH = "/gradio_api/component_server"
MOST_AT_WORK = 50  # each takes a thread, of as many as app.py lets Gradio have; the queue needs some, too
NO_FILES = "No component here takes a file so. Send JSON."
TOO_MANY = "Too many such requests are at work. Ask again in a minute."


class Fetching:
    """ASGI middleware: what a component fetches is asked by its page, until that hangs up.

    Who has as many at work as are still free (may_have_one_more) gets 429; a file, which none takes, gets 415.

    Args:
        app: What answers.
        most: At work together.
    """

    def __init__(self, app: ASGIApp, most: int = MOST_AT_WORK) -> None:
        self._app = app
        self._most = most
        self._at_work: Counter[str] = Counter()

    @classmethod
    def middleware(cls) -> Middleware:
        """For launch."""
        return Middleware(cls)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http" or not scope["path"].rstrip("/").endswith(FETCH):
            await self._app(scope, receive, send)
            return
        if dict(scope["headers"]).get(b"content-type", b"").startswith(b"multipart/"):
            await send_text(send, 415, NO_FILES)
            return
        parts, has_more = [], True
        try:
            while has_more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return
                parts.append(message.get("body", b""))
                has_more = message.get("more_body", False)
        except ValueError:  # the guard before this one has an answer of its own
            await send_text(send, 413, "The request is larger than announced.")
            return
        body = b"".join(parts)
        coming = [{"type": "http.request", "body": body, "more_body": False}]
        left = asyncio.ensure_future(receive())  # nothing else can come than that it hung up

        async def replayed() -> Message:
            return coming.pop() if coming else await asyncio.shield(left)

        name = visitor_name(_session_in(body), None, Request(scope))
        caller = Caller(name, lambda: not left.done(), settings().longest_analysis_seconds)
        try:
            if not may_have_one_more(self._at_work[name], self._most - self._at_work.total()):
                await send_text(send, 429, TOO_MANY)
                return
            self._at_work[name] += 1
            try:
                with calling(caller):
                    await self._app(scope, replayed, send)
            finally:
                self._at_work -= Counter((name,))  # forgets who has none
        finally:
            left.cancel()


def _session_in(body: bytes) -> str:
    """The page that a request names; "" = none."""
    try:
        asked = orjson.loads(body)
    except orjson.JSONDecodeError:
        return ""
    session = asked.get("session_hash") if isinstance(asked, dict) else None
    return session if isinstance(session, str) else ""
