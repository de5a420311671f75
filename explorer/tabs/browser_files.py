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
PLOTLY = "PlotlyPlot-*.js"  # 4.6 MB: 0.2 s to pack, and the first view needs it
KEPT = "public, max-age=604800, immutable"
PACKERS: dict[str, Callable[[bytes], bytes]] = {  # the first that a browser takes
    "br": lambda content: brotli.compress(content, mode=brotli.MODE_TEXT, quality=5),
    "gzip": lambda content: gzip.compress(content, compresslevel=6),
}

# What stands in a file whose name begins so, in Gradio 6.31, and what is sent for it. Where one of these does not stand
# there exactly once, as in another Gradio, the file goes out as it is. With n components and m events:
MENDED: dict[str, tuple[tuple[str, str], ...]] = {
    "core-": (
        # Each component looks through all events for its own, in objects that Svelte watches: n m steps. Now n + m.
        (
            "find_attached_events(e,t){let n=t.filter(t=>t.targets.find(([t])=>t===e.id)).map(t=>{"
            "let n=t.targets.find(([t])=>t===e.id);return n?n[1]:null}).filter(Boolean);"
            "return e.props.shared_props.attached_events=n,e}",
            "find_attached_events(e,t){if(this.indexed!==t||this.events!==t.length){this.indexed=t;this.events=t.length;"
            "this.attached=new Map;for(let n of t)for(let[e,r]of new Map([...n.targets].reverse()))"
            "r&&(this.attached.get(e)??this.attached.set(e,[]).get(e)).push(r)}"
            "return e.props.shared_props.attached_events=[...this.attached.get(e.id)??[]],e}",
        ),
        # Fields of an accordion or a tab that is opened first get their values once more, a frame after they can be
        # seen: what was typed in it meanwhile is lost. Now what stands in them is read before, as elsewhere there.
        ("for(let e of n)this.#p(e)}}", "for(let e of n)await this.#m(e.id,e),this.#p(e)}}"),
    ),
    # Each event looks for its component in the tree, only to find that it has no arguments to set there: m n steps.
    "Blocks-": (
        (
            "async set_event_args(e,t){let n={},",
            "async set_event_args(e,t){if(!Object.keys(t).length)return()=>{};let n={},",
        ),
    ),
    "PlotlyPlot-": (
        # plotly sets up all its kinds of charts, maps of the world among them, before it draws the first. Now only
        # bars, heat maps and what is always there (scatter); the others when a figure has one of them.
        (
            "n.register([co(),So(),qo(),",
            "n.register([co(),qo()]);n.others=()=>{delete n.others;n.register([So(),",
        ),
        ("Iw(),tT()]),t.exports=n})", "Iw(),tT()])};t.exports=n})"),
        (
            "e.layout.margin.autoexpand=!0,p.default.react(g,",
            "e.layout.margin.autoexpand=!0,"
            "e.data.every(e=>[`bar`,`heatmap`,`scatter`].includes(e.type??`scatter`))||p.default.others?.(),"
            "p.default.react(g,",
        ),
        # The browser only skims a function until it is called, and then reads all of plotly again, while the page
        # stands still. One in brackets it takes for called at once, and reads it in full while the file arrives.
        ("typeof self<`u`?self:e,()=>{var e=(", "typeof self<`u`?self:e,(function(){var e=("),
        ("return window.Plotly=e,e})}))(", "return window.Plotly=e,e}))}))("),
    ),
}


def browser_files_route() -> Route:
    """The route of Gradio's scripts and styles; it has to stand before Gradio's own."""
    return Route("/assets/{name}", _send, methods=["GET"])


def pack_plotly() -> None:
    """Pack the largest script before anybody asks for it; the interpreter is free meanwhile."""
    for encoding in PACKERS:
        for path in FOLDER.glob(PLOTLY):
            _packed(path.name, encoding)


def chosen_encoding(request: Request) -> str:
    """How to pack what is sent, as the browser takes it; empty if it takes none of `PACKERS`."""
    taken = request.headers.get("accept-encoding", "")
    return next((one for one in PACKERS if one in taken), "")


@cache
def read_file(name: str) -> bytes:
    """One of these files as it is sent, mended where `MENDED` says so.

    Args:
        name: Its name in Gradio's folder.

    Raises:
        FileNotFoundError: There is none.
    """
    content = (FOLDER / name).read_bytes()
    places = next((places for start, places in MENDED.items() if name.startswith(start)), ())
    if any(content.count(plain.encode()) != 1 for plain, _ in places):
        return content
    for plain, mended in places:
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
    encoding = "" if path.suffix in PACKED_ALREADY else chosen_encoding(request)
    if encoding:
        headers["content-encoding"] = encoding
    content = _packed(name, encoding) if encoding else read_file(name)
    return Response(content, headers=headers, media_type=KINDS[path.suffix])
