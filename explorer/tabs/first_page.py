"""The page as it is first sent, made once; and it says when it is drawn, and when it is left."""

from threading import Event

from gradio import Blocks
from gradio.route_utils import get_root_url
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from explorer.tabs.browser_files import PACKERS, chosen_encoding

MOST_KEPT = 12  # anybody may ask under any name
LONGEST_NAME = 100  # bytes of a session's


def page_routes() -> list[Route]:
    """The routes of the page, and of what it consists of for programs; they have to stand before Gradio's own.

    Gradio copies, writes and packs these two megabytes anew for each visitor. What they hold depends only on the
    address that the visitor knows the server by.
    """
    return [_made_once("/", "main", "text/html"), _made_once("/config", "get_config", "application/json")]


def _made_once(path: str, name: str, media_type: str) -> Route:
    """A route that sends what Gradio's route of that name would."""
    kept: dict[str, dict[str, bytes]] = {}  # address -> encoding -> what is sent

    def send(request: Request) -> Response:
        encoding = chosen_encoding(request)
        root_path = request.app.root_path or request.scope.get("root_path")
        address = get_root_url(request, path, root_path)
        made = kept.get(address)
        if made is None:
            made = {"": _make(request, name)}
            if len(kept) >= MOST_KEPT:
                kept.clear()
            kept[address] = made
        if encoding not in made:
            made[encoding] = PACKERS[encoding](made[""])
        packed = {"content-encoding": encoding} if encoding else {}
        return Response(made[encoding], headers={"vary": "accept-encoding", **packed}, media_type=media_type)

    return Route(path, send, methods=["GET"])


def _make(request: Request, name: str) -> bytes:
    """What Gradio would have sent to a visitor without a name; the page has no login."""
    make = next(route.endpoint for route in request.app.routes if getattr(route, "name", "") == name)
    return make(request, user=None).body


def drawn_route(drawn: Event) -> Route:
    """The route that work.js calls when all of the page is drawn, as what would slow it can wait until then.

    Args:
        drawn: Set by the first call.
    """

    async def hear(request: Request) -> Response:
        drawn.set()
        return Response(status_code=204)

    return Route("/drawn", hear, methods=["POST"])


def left_route(page: Blocks) -> Route:
    """The route that work.js calls when a page is closed, or left for another: what it asked for ends.

    What its States hold goes an hour later, as Gradio has it; unless it asks again, as one that its browser kept does.

    Args:
        page: Whose visitors leave.
    """

    async def hear(request: Request) -> Response:
        said = b""
        async for part in request.stream():
            said += part[: LONGEST_NAME - len(said)]
        session = said.decode("ascii", "replace")
        if session in page.state_holder.session_data:
            page.state_holder.session_data[session].is_closed = True
        await page._queue.clean_events(session_hash=session)  # no more: a stream of answers that ends looks things up
        return Response(status_code=204)

    return Route("/left", hear, methods=["POST"])
