"""How much disk the files of visitors may fill, until they leave."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorer.settings import GIB, settings
from explorer.tabs.answering import send_text
from explorer.tabs.limits import UPLOAD

KEPT_SECONDS = 3000  # files older than this leave when Gradio looks next
LOOK_SECONDS = 600  # how often it looks; together an hour
UNSAID = "Say how long the file is: there is no Content-Length."
FULL = "There is no room for more files now. Those that are here leave within an hour."


@dataclass(frozen=True)
class _Upload:
    address: str
    size_bytes: int
    leaves: float


class UploadRoom:
    """ASGI middleware: files for which there is no room get 507.

    Args:
        app: What they are passed on to.
        most_bytes: Of all visitors together; one address may have half of it.
        clock: The time, in seconds.
    """

    def __init__(self, app: ASGIApp, most_bytes: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._app = app
        self._most_bytes = most_bytes
        self._clock = clock
        self._uploads: list[_Upload] = []

    @classmethod
    def middleware(cls) -> Middleware:
        """With the room of the settings."""
        return Middleware(cls, most_bytes=int(settings().uploads_room_gib * GIB))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http" or not scope["path"].endswith(UPLOAD):
            await self._app(scope, receive, send)
            return
        announced = dict(scope["headers"]).get(b"content-length", b"")  # the server reads no more than this
        if not announced.isdigit():
            await send_text(send, 411, UNSAID)
            return
        address = (scope.get("client") or ("",))[0]
        upload = _Upload(address, int(announced), self._clock() + KEPT_SECONDS + LOOK_SECONDS)
        if not self._has_room(upload):
            await send_text(send, 507, FULL)
            return
        self._uploads.append(upload)
        is_kept = False

        async def told(message: Message) -> None:
            nonlocal is_kept
            if message["type"] == "http.response.start":
                is_kept = message["status"] < 300
            await send(message)

        try:
            await self._app(scope, receive, told)
        finally:
            if not is_kept:
                self._uploads.remove(upload)

    def _has_room(self, upload: _Upload) -> bool:
        now = self._clock()
        self._uploads = [one for one in self._uploads if one.leaves > now]
        own = sum(one.size_bytes for one in self._uploads if one.address == upload.address)
        return (
            own + upload.size_bytes <= self._most_bytes / 2
            and sum(one.size_bytes for one in self._uploads) + upload.size_bytes <= self._most_bytes
        )
