"""What the web server refuses before Gradio reads it, and the headers it adds."""

from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorer.settings import settings

HEADERS = ((b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"same-origin"))
MIB = 2**20


class RequestLimits:
    """ASGI middleware: bodies above the limit get 413, whether or not they announce their length."""

    def __init__(self, app: ASGIApp, most_bytes: int) -> None:
        self._app = app
        self._most_bytes = most_bytes

    @classmethod
    def middleware(cls) -> Middleware:
        """With the limit of the settings."""
        return Middleware(cls, most_bytes=int(settings().largest_request_mib * MIB))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        announced = dict(scope["headers"]).get(b"content-length", b"0")
        if not announced.isdigit() or int(announced) > self._most_bytes:
            await self._refuse(send)
            return
        read_bytes = 0

        async def counted() -> Message:
            nonlocal read_bytes
            message = await receive()
            read_bytes += len(message.get("body", b""))
            if read_bytes > self._most_bytes:  # it was not announced; the app makes an error of its own of this
                raise ValueError("the body is larger than announced")
            return message

        async def dressed(message: Message) -> None:
            is_start = message["type"] == "http.response.start"
            if read_bytes > self._most_bytes:
                if is_start:
                    await self._refuse(send)
                return
            if is_start:
                message = {**message, "headers": [*message.get("headers", ()), *HEADERS]}
            await send(message)

        await self._app(scope, counted, dressed)

    async def _refuse(self, send: Send) -> None:
        text = f"The request is larger than {self._most_bytes // MIB} MiB.".encode()
        headers = [(b"content-type", b"text/plain; charset=utf-8"), *HEADERS]
        await send({"type": "http.response.start", "status": 413, "headers": headers})
        await send({"type": "http.response.body", "body": text})
