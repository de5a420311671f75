"""The page as it is first sent, made once; and it says when it is drawn, as what would slow it can wait until then."""

from threading import Event

from gradio.route_utils import get_root_url
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from explorer.tabs.browser_files import PACKERS, chosen_encoding

MOST_KEPT = 12  # anybody may ask under any name


def page_route() -> Route:
    """The route of the page; it has to stand before Gradio's own.

    Gradio copies, writes and packs the page's two megabytes anew for each visitor. What it holds depends only on the
    address that the visitor knows the server by.
    """
    kept: dict[str, dict[str, bytes]] = {}  # address -> encoding -> page

    def send(request: Request) -> Response:
        encoding = chosen_encoding(request)
        root_path = request.app.root_path or request.scope.get("root_path")
        address = get_root_url(request, "/", root_path)
        pages = kept.get(address)
        if pages is None:
            pages = {"": _gradio_page(request)}
            if len(kept) >= MOST_KEPT:
                kept.clear()
            kept[address] = pages
        if encoding not in pages:
            pages[encoding] = PACKERS[encoding](pages[""])
        packed = {"content-encoding": encoding} if encoding else {}
        return HTMLResponse(pages[encoding], headers={"vary": "accept-encoding", **packed})

    return Route("/", send, methods=["GET"])


def _gradio_page(request: Request) -> bytes:
    """What Gradio would have sent to a visitor without a name; the page has no login."""
    make = next(route.endpoint for route in request.app.routes if getattr(route, "name", "") == "main")
    return make(request, user=None).body


def drawn_route(drawn: Event) -> Route:
    """The route that work.js calls when all of the page is drawn.

    Args:
        drawn: Set by the first call.
    """

    async def hear(request: Request) -> Response:
        drawn.set()
        return Response(status_code=204)

    return Route("/drawn", hear, methods=["POST"])
