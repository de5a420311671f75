"""The page says when it is drawn, so that what would make it slow can wait until then."""

from threading import Event

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route


def drawn_route(drawn: Event) -> Route:
    """The route that work.js calls when all of the page is drawn.

    Args:
        drawn: Set by the first call.
    """

    async def hear(request: Request) -> Response:
        drawn.set()
        return Response(status_code=204)

    return Route("/drawn", hear, methods=["POST"])
