"""bertviz's own drawings of short texts, offline: its scripts in a frame that reaches neither page nor network.

Its package writes the weights into its page twice and its tokens unescaped, and fetches three libraries; here are the
same two scripts, with the libraries beside them, and the weights once, at four decimals.
"""

from __future__ import annotations

import json
from functools import cache
from html import escape
from math import isqrt

import numpy as np

from explorer.analysis.attention_packing import PackedReading, PackedStack, unpack_weights
from explorer.settings import ASSETS

FOLDER = ASSETS / "bertviz"
MOST_TOKENS = 48
MOST_WEIGHTS = 160_000  # its drawings of more take seconds, and its page megabytes
DECIMALS = 4
FRAME_PIXELS = 620  # until what is drawn has said how high it is
WIDTH_PIXELS = {"head": 1, "model": 986}  # that a view takes at least, margins included, whatever the frame has
SMALLEST = 0.6  # that it is made, to fit into a narrower frame; from there on it scrolls
AROUND_PIXELS = 60  # above and below a drawing
FIT = """
const fit = () => {
  if (!innerWidth) return; // out of sight
  const zoom = Math.max(%(smallest)s, Math.min(1, innerWidth / %(width)s)), drawn = document.querySelector('#vis svg');
  document.body.style.zoom = zoom;
  if (drawn) parent.postMessage({bertviz: (parseFloat(drawn.getAttribute('height')) + %(around)s) * zoom}, '*');
};
new ResizeObserver(fit).observe(document.documentElement);
new MutationObserver(fit).observe(document.getElementById('vis'), {childList: true});
"""
NAMES = {"encoder": "Encoder", "decoder": "Decoder", "cross": "Cross-attention"}
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"
BODY = "margin:8px;background:#fff;color:#000;font-family:system-ui,sans-serif"
VIEWS = {"head": "head_view.js", "model": "model_view.js"}


def most_tokens(reading: PackedReading) -> int:
    """How long a text may be to be drawn so, for a model of this size."""
    heads = sum(stack.roots.shape[0] * stack.roots.shape[1] * (2 if _start(stack) else 1) for stack in reading.stacks)
    return min(MOST_TOKENS, isqrt(MOST_WEIGHTS // heads))


def bertviz_frame(reading: PackedReading, view: str, stack: str = "", layer: int = 0, head: int | None = None) -> str:
    """The frame that draws a reading.

    Args:
        reading: Of at most most_tokens(reading) tokens.
        view: A key of VIEWS.
        stack: Name of the one that it opens on; "" = the first.
        layer: That the head view opens on, counted from 0.
        head: The only one that it shows at first; None = all.
    """
    title = f"bertviz, {view} view: {reading.text}"
    frame = escape(_document(reading, view, stack, layer, head))
    return (
        f"<iframe class='bertviz' sandbox='allow-scripts' style='height:{FRAME_PIXELS}px' title='{escape(title)}' "
        f'srcdoc="{frame}"></iframe>'
    )


def _document(reading: PackedReading, view: str, stack: str, layer: int, head: int | None) -> str:
    entries = [(one, entry) for one in reading.stacks for entry in _entries(one)]
    names = [one.name for one, _ in entries]
    opens = names.index(stack) if stack in names else 0
    attention = [entry for _, entry in entries]
    layers, heads = entries[opens][0].roots.shape[:2]
    parameters = {
        "attention": attention, "default_filter": str(opens), "root_div_id": "bertviz", "display_mode": "light",
        "include_layers": list(range(layers)), "include_heads": list(range(heads)), "total_heads": heads,
        "layer": min(layer, layers - 1), "heads": None if head is None else [min(head, heads - 1)],
    }  # fmt: skip
    written = json.dumps(parameters, separators=(",", ":")).replace("<", "\\u003c")
    before, _, after = _script(VIEWS[view]).partition("PYTHON_PARAMS")  # the word stands in a comment, too
    options = "".join(
        f"<option value='{index}'{' selected' if index == opens else ''}>{entry['name']}</option>"
        for index, entry in enumerate(attention)
    )
    choice = f"Attention: <select id='filter'>{options}</select>" if len(attention) > 1 else ""
    of_layer = "Layer: <select id='layer'></select> " if view == "head" else ""
    fit = FIT % {"smallest": SMALLEST, "width": WIDTH_PIXELS[view], "around": AROUND_PIXELS}
    return (
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}"><title>bertviz</title></head>'
        f"<body style='{BODY}'><div id='bertviz'><span>{of_layer}{choice}</span><div id='vis'></div></div>"
        f"<script>{fit}</script><script>{_script('keys.js')}</script><script>{_script('jquery.min.js')}</script><script>{_script('d3.min.js')}</script>"
        "<script>window.require={config(){}};window.requirejs=(names,run)=>run(jQuery,d3)</script>"
        f"<script>{before}{written}{after}</script></body></html>"
    )


def _entries(stack: PackedStack) -> list[dict]:
    """What bertviz calls a filter: all tokens, and for a pair of texts each part of the matrix."""
    weights = np.round(unpack_weights(stack.roots).astype(np.float64), DECIMALS)
    left, right = ([_plain(token.text) for token in side] for side in (stack.queries, stack.keys))
    start = _start(stack)
    entries = [_entry(NAMES[stack.name] if not start else "All", weights, left, right)]
    if start:
        parts = {"A": slice(0, start), "B": slice(start, None)}
        entries += [
            _entry(f"Sentence {a} to sentence {b}", weights[:, :, parts[a], parts[b]], left[parts[a]], right[parts[b]])
            for a in parts
            for b in parts
        ]
    return entries


def _entry(name: str, weights: np.ndarray, left: list[str], right: list[str]) -> dict:
    return {"name": name, "attn": weights.tolist(), "left_text": left, "right_text": right}


def _start(stack: PackedStack) -> int:
    """Where the second text of a pair begins; 0 = there is none."""
    if stack.keys != stack.queries:
        return 0
    return next((index for index, token in enumerate(stack.queries) if token.segment == 1), 0)


def _plain(token: str) -> str:
    """As bertviz itself spells tokens."""
    return token.replace("Ġ", " ").replace("▁", " ").replace("</w>", "")


@cache
def _script(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")
