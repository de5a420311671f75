"""Gradio's scripts and styles as the browser gets them: packed once, kept by the browser, and mended in places.

Gradio packs each file anew for each visitor, in the one thread that answers all of them. The names of these files hold
a digest of what is in them.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from functools import cache
from pathlib import Path

import brotli
import gradio
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

FOLDER = Path(gradio.__file__).parent / "templates" / "frontend" / "assets"
KINDS = {  # not by mimetypes, which asks the system
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".ttf": "font/ttf",
    ".woff": "font/woff",
    ".woff2": "font/woff2",
}
PACKED_ALREADY = (".woff", ".woff2")
KEPT = "public, max-age=604800, immutable"
PACKERS: dict[str, Callable[[bytes], bytes]] = {  # the first that a browser takes
    "br": lambda content: brotli.compress(content, mode=brotli.MODE_TEXT, quality=5),
    "gzip": lambda content: gzip.compress(content, compresslevel=6),
}

# What stands in a file whose name begins so, in Gradio 6.31, and what is sent for it. Where it does not stand exactly
# once, as in another Gradio, it goes out as it is. With n components and m events:
MENDED = (
    # Each component looks through all events for its own, through objects that Svelte watches: n m steps. Now n + m.
    (
        "core-",
        "find_attached_events(e,t){let n=t.filter(t=>t.targets.find(([t])=>t===e.id)).map(t=>{"
        "let n=t.targets.find(([t])=>t===e.id);return n?n[1]:null}).filter(Boolean);"
        "return e.props.shared_props.attached_events=n,e}",
        "find_attached_events(e,t){if(this.indexed!==t||this.events!==t.length){this.indexed=t;this.events=t.length;"
        "this.attached=new Map;for(let n of t)for(let[e,r]of new Map([...n.targets].reverse()))"
        "r&&(this.attached.get(e)??this.attached.set(e,[]).get(e)).push(r)}"
        "return e.props.shared_props.attached_events=[...this.attached.get(e.id)??[]],e}",
    ),
    # Each event looks for its component in the tree, only to find that it has no arguments to set there: m n steps.
    (
        "Blocks-",
        "async set_event_args(e,t){let n={},",
        "async set_event_args(e,t){if(!Object.keys(t).length)return()=>{};let n={},",
    ),
    # Fields of an accordion or a tab that is opened first get their values once more, a frame after they can be seen:
    # what was typed in it meanwhile is lost. Now what stands in them is read before, as elsewhere in that file.
    ("core-", "for(let e of n)this.#p(e)}}", "for(let e of n)await this.#m(e.id,e),this.#p(e)}}"),
)


def browser_files_route() -> Route:
    """The route of Gradio's scripts and styles; it has to stand before Gradio's own."""
    return Route("/assets/{name}", _send, methods=["GET"])


@cache
def read_file(name: str) -> bytes:
    """One of these files as it is sent, mended where `MENDED` says so.

    Args:
        name: Its name in Gradio's folder.

    Raises:
        FileNotFoundError: There is none.
    """
    content = (FOLDER / name).read_bytes()
    for start, plain, mended in MENDED:
        if name.startswith(start) and content.count(plain.encode()) == 1:
            content = content.replace(plain.encode(), mended.encode())
    return content


@cache
def _packed(name: str, encoding: str) -> bytes:
    return PACKERS[encoding](read_file(name))


def _send(request: Request) -> Response:
    """Starlette calls it in a thread: who asks for a file first waits for its packing, and nobody else does."""
    name = request.path_params["name"]
    path = FOLDER / name
    if path.parent != FOLDER or path.suffix not in KINDS or not path.is_file():
        return PlainTextResponse("There is no such file.", status_code=404)
    headers = {"cache-control": KEPT, "vary": "accept-encoding"}
    taken = request.headers.get("accept-encoding", "")
    encoding = None if path.suffix in PACKED_ALREADY else next((one for one in PACKERS if one in taken), None)
    if encoding:
        headers["content-encoding"] = encoding
    content = _packed(name, encoding) if encoding else read_file(name)
    return Response(content, headers=headers, media_type=KINDS[path.suffix])
