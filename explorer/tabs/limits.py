"""What the web server refuses for its size before Gradio reads it."""

from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorer.settings import settings
from explorer.tabs.answering import send_text

MIB = 2**20
UPLOAD = "/gradio_api/upload"
FORM_MIB = 1  # what stands around a file


class RequestLimits:
    """ASGI middleware: bodies above the limit get 413, whether or not they announce their length.

    Args:
        app: What they are passed on to.
        most_bytes: The limit.
        most_upload_bytes: That of files, which Gradio writes to disk as they come; None = the same.
    """

    def __init__(self, app: ASGIApp, most_bytes: int, most_upload_bytes: int | None = None) -> None:
        self._app = app
        self._most_bytes = most_bytes
        self._most_upload_bytes = most_upload_bytes or most_bytes

    @classmethod
    def middleware(cls) -> Middleware:
        """With the limits of the settings."""
        most, most_upload = settings().largest_request_mib, settings().largest_upload_mib
        most_upload = max(most, most_upload + FORM_MIB)
        return Middleware(cls, most_bytes=int(most * MIB), most_upload_bytes=int(most_upload * MIB))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        most_bytes = self._most_upload_bytes if scope["path"].endswith(UPLOAD) else self._most_bytes
        announced = dict(scope["headers"]).get(b"content-length", b"0")
        if not announced.isdigit() or int(announced) > most_bytes:
            await _refuse(send, most_bytes)
            return
        read_bytes = 0

        async def counted() -> Message:
            nonlocal read_bytes
            message = await receive()
            read_bytes += len(message.get("body", b""))
            if read_bytes > most_bytes:  # it was not announced; the app makes an error of its own of this
                raise ValueError("the body is larger than announced")
            return message

        async def instead(message: Message) -> None:
            if read_bytes <= most_bytes:
                await send(message)
            elif message["type"] == "http.response.start":
                await _refuse(send, most_bytes)

        await self._app(scope, counted, instead)


async def _refuse(send: Send, most_bytes: int) -> None:
    await send_text(send, 413, f"The request is larger than {most_bytes // MIB} MiB.")
