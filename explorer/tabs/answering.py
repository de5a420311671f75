"""What every answer of the web server says to the browser, and what becomes of a fault of the server itself."""

import os
import re
from traceback import walk_tb

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorer.logs import log_fault
from explorer.settings import settings

TEXT = (b"content-type", b"text/plain; charset=utf-8")
OF_HUGGING_FACE = "https://huggingface.co https://*.huggingface.co https://*.hf.space"
# Gradio compiles the templates of its components (eval) and starts the page by scripts in it; all else is our own.
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; frame-src 'self'; object-src 'none'; "
    "base-uri 'self'; form-action 'self'; frame-ancestors {frames}"
)
FAULT = "Something went wrong on our side (reference {reference})."
NO_ENDPOINT = "Nothing here has this name or number."
NO_TEXT = "The request has a value of another kind than is wanted, and characters that are none."
NO_FILE = "A file is sent with a name."


class Answering:
    """ASGI middleware: headers on every answer; a fault is logged under a reference, and answered with 500.

    Args:
        app: What answers.
        frames: Pages that may show this one in a frame, as Content-Security-Policy names them.
    """

    def __init__(self, app: ASGIApp, frames: str = "") -> None:
        self._app = app
        self._headers = (
            (b"x-content-type-options", b"nosniff"),
            (b"referrer-policy", b"same-origin"),
            (b"content-security-policy", POLICY.format(frames=f"'self' {frames}".strip()).encode()),
        )

    @classmethod
    def middleware(cls) -> Middleware:
        """With the pages of the settings; on a Hugging Face Space those of Hugging Face too.

        Raises:
            ValueError: The setting is not a list of pages.
        """
        frames = settings().frames
        if re.search(r"[;,\r\n]|[^ -~]", frames):
            raise ValueError(f"EXPLORER_FRAMES={frames!r} has to name pages, separated by spaces")
        on_space = OF_HUGGING_FACE if os.environ.get("SPACE_ID") else ""
        return Middleware(cls, frames=f"{frames} {on_space}".strip())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and dress the answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        has_begun = False

        async def dressed(message: Message) -> None:
            nonlocal has_begun
            if message["type"] == "http.response.start":
                has_begun = True
                message = {**message, "headers": [*message.get("headers", ()), *self._headers]}
            await send(message)

        try:
            await self._app(scope, receive, dressed)
        except Exception as error:
            mistake = explain_mistake(error)
            if not has_begun:
                await send_text(dressed, *(mistake or (500, FAULT.format(reference=log_fault("the server")))))
            elif mistake:  # and the stream says so
                await send({"type": "http.response.body", "body": b""})
            else:
                log_fault("the server")


def explain_mistake(error: Exception) -> tuple[int, str] | None:
    """The status and the words for a question that Gradio cannot take; None = the fault is not the question's.

    Gradio raises plain KeyError, TypeError and ValueError then, so the function that raised it tells.
    """
    if isinstance(error.__cause__, HTTPException):  # a stream of answers that are not here, or no longer
        return error.__cause__.status_code, NO_ENDPOINT
    match [frame.f_code.co_name for frame, _ in walk_tb(error.__traceback__)][-1]:
        case "get_fn" | "component_server":
            return 404, NO_ENDPOINT
        case "construct_args" | "validate_inputs":  # too few values, or a parameter that it does not have
            return 400, str(error)
        case "upload_fn" if isinstance(error, TypeError):
            return 400, NO_FILE
    if isinstance(error, UnicodeError) and isinstance(error.__context__, RequestValidationError):
        return 422, NO_TEXT  # what FastAPI would say of the request repeats it
    return None


async def send_text(send: Send, status: int, text: str) -> None:
    """A whole answer of one text."""
    await send({"type": "http.response.start", "status": status, "headers": [TEXT]})
    await send({"type": "http.response.body", "body": text.encode()})
