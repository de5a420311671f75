"""Who asks, where a component on the page fetches something by itself: Gradio answers that past its queue."""

import asyncio

import orjson
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorer.models.callers import Caller, calling
from explorer.settings import settings
from explorer.tabs.answering import send_text

FETCH = "/gradio_api/component_server"


class Fetching:
    """ASGI middleware: what a component fetches is asked by its page, until that hangs up.

    Args:
        app: What answers.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    @classmethod
    def middleware(cls) -> Middleware:
        """For launch."""
        return Middleware(cls)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http" or not scope["path"].rstrip("/").endswith(FETCH):
            await self._app(scope, receive, send)
            return
        body, has_more = b"", True
        try:
            while has_more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return
                body += message.get("body", b"")
                has_more = message.get("more_body", False)
        except ValueError:  # the guard before this one has an answer of its own
            await send_text(send, 413, "The request is larger than announced.")
            return
        coming = [{"type": "http.request", "body": body, "more_body": False}]
        left = asyncio.ensure_future(receive())  # nothing else can come than that it hung up

        async def replayed() -> Message:
            return coming.pop() if coming else await asyncio.shield(left)

        name = _session_in(body) or (scope.get("client") or ("somebody",))[0]
        caller = Caller(name, lambda: not left.done(), settings().longest_analysis_seconds)
        try:
            with calling(caller):
                await self._app(scope, replayed, send)
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
