"""Which addresses of the web server are answered, and to whom: Gradio has more than this page needs."""

import logging
import re
from urllib.parse import urlsplit

import gradio as gr
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Receive, Scope, Send

from explorer.settings import settings
from explorer.tabs.answering import send_text

LOG = logging.getLogger("explorer")
API = "/gradio_api/"
CLOSED = f"Nothing is answered here. Questions go to {API}call/ and the name of an endpoint; {API}info lists them."
FOREIGN = "A page of another address asked this. If it is yours, set EXPLORER_ORIGINS to that address."
MOST_LOGGED = 20  # origins; they are whatever a stranger says
DEFAULT_PORTS = {"http": ":80", "https": ":443"}

# What is read, what is asked, and who needs it. HEAD goes with GET; a proxy's own path before these is not looked at.
_READ = (
    "/",
    "/config",  # the page, and gradio_client
    "/(assets|static|svelte)/.+",
    "/theme.css|/manifest.json|/favicon.ico|/robots.txt|/pwa_icon(/[0-9]+)?",
    "/tuned/.+",  # models that visitors made
    f"{API}(info|openapi.json|startup-events|theme.css)/?",
    f"{API}heartbeat/[^/]+",  # other clients; our own page says when it is left
    f"{API}app_id/?",  # a page that lost its server asks for it until it is back, and then opens anew
    f"{API}queue/data",
    f"{API}call/(v2/)?(?P<endpoint>[^/]+)/[^/]+",
    f"{API}upload_progress",
    f"{API}file=(?![A-Za-z][A-Za-z0-9+.-]+:).+",  # what a visitor uploaded; Gradio would fetch an address, too
)
_ASKED = (
    "/(drawn|left)",
    f"{API}queue/join",
    f"{API}call/(v2/)?(?P<endpoint>[^/]+)/?",
    f"{API}(cancel|reset)/?",
    f"{API}upload",
    f"{API}component_server/?",  # the attention tab fetches heads so
)
_OPEN = {
    method: re.compile("|".join(f"(?:{path})" for path in paths))
    for methods, paths in ((("GET", "HEAD"), _READ), (("POST",), _ASKED))
    for method in methods
}


class Doors:
    """ASGI middleware: addresses that are not open get 404, and what pages of other addresses ask gets 403.

    Args:
        app: What the others are passed on to.
        endpoints: Names under which questions are answered over HTTP.
        origins: Other addresses under which this page is known, e.g. "https://explorer.example.edu"; "*" = any.
    """

    def __init__(self, app: ASGIApp, endpoints: frozenset[str], origins: tuple[str, ...] = ()) -> None:
        self._app = app
        self._endpoints = endpoints
        self._hosts = {"*" if one == "*" else _host(one) for one in origins}
        self._logged: set[str] = set()

    @classmethod
    def middleware(cls, page: gr.Blocks) -> Middleware:
        """For the endpoints of a page, with the origins of the settings.

        Raises:
            ValueError: One of them is not an address.
        """
        origins = tuple(settings().origins.split())
        for one in origins:
            if one != "*" and not urlsplit(one).netloc:
                raise ValueError(f"EXPLORER_ORIGINS: {one!r} is not an address as https://explorer.example.edu")
        named = (fn.api_name for fn in page.fns.values() if fn.api_visibility != "private")
        return Middleware(cls, endpoints=frozenset(filter(None, named)), origins=origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] != "http":  # nothing here speaks websocket
            await send({"type": "websocket.close"})
        elif not self._is_open(scope):
            await send_text(send, 404, CLOSED)
        elif scope["method"] == "POST" and not self._is_own(scope):
            await send_text(send, 403, FOREIGN)
        else:
            await self._app(scope, receive, send)

    def _is_open(self, scope: Scope) -> bool:
        path = scope["path"].removeprefix(scope.get("root_path", "").rstrip("/"))
        found = _OPEN[scope["method"]].fullmatch(path) if scope["method"] in _OPEN else None
        if found is None:
            return False
        endpoint = found["endpoint"]
        return endpoint is None or endpoint in self._endpoints

    def _is_own(self, scope: Scope) -> bool:
        """Whether it was asked by a page of this server, or by something else than a browser.

        Browsers say by themselves where the page that asks came from, and let no page change what they say:
        https://developer.mozilla.org/docs/Web/HTTP/Reference/Headers/Sec-Fetch-Site (over HTTPS, and on this machine),
        https://developer.mozilla.org/docs/Web/HTTP/Reference/Headers/Origin (always).
        """
        headers = dict(scope["headers"])
        origin = headers.get(b"origin", b"").decode("latin-1")
        if not origin or headers.get(b"sec-fetch-site") == b"same-origin":
            return True
        scheme = origin.partition(":")[0]
        known = (headers.get(name, b"").decode("latin-1") for name in (b"host", b"x-forwarded-host"))
        if _host(origin) in self._hosts | {_host(f"{scheme}://{one.split(',')[0].strip()}") for one in known if one}:
            return True
        if "*" in self._hosts:
            return True
        if origin not in self._logged and len(self._logged) < MOST_LOGGED:
            self._logged.add(origin)
            LOG.warning("refused what a page of %.100r asked; EXPLORER_ORIGINS can name it", origin)
        return False


def _host(origin: str) -> str:
    """The host and port that an origin names; what is none ("null", of a page without) stays as it is."""
    try:
        split = urlsplit(origin)
    except ValueError:
        return origin
    return split.netloc.lower().removesuffix(DEFAULT_PORTS.get(split.scheme, "")) or origin
