"""Both pages of benchmarks/attention.py: served, clicked, and measured by the browser's own clock."""

import random
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import torch
from bertviz import head_view, model_view
from playwright.sync_api import CDPSession, Page, Route
from transformers import AutoTokenizer, BertConfig, BertForMaskedLM, BertTokenizerFast

import explorer
from explorer.models.catalogue import DEFAULT_MODEL
from explorer.settings import ASSETS

NAME = "bert-base-random"
WAIT_MS = 120_000
VIEWS = {"head": head_view, "model": model_view}
LOADER = "window.require={config(){}};window.requirejs=(names,run)=>run(jQuery,d3);"


def make_model(folder: Path) -> None:
    """A network of BERT base's shape with random weights, and a real vocabulary."""
    registry = explorer.open_registry()
    registry.run(DEFAULT_MODEL, lambda model: model.tokenizer.save_pretrained(folder))
    torch.manual_seed(0)
    vocabulary = len(AutoTokenizer.from_pretrained(folder))
    BertForMaskedLM(BertConfig(vocab_size=vocabulary)).save_pretrained(folder)


def make_text(tokenizer: BertTokenizerFast, tokens: int, seed: int) -> str:
    """Whole words, so many that [CLS] and [SEP] make it a text of that many tokens."""
    words = sorted(word for word in tokenizer.get_vocab() if word.isascii() and word.isalpha() and len(word) > 2)
    return " ".join(random.Random(seed).choices(words, k=tokens - 2))


class Peer:
    """bertviz behind a server: the attention is computed, and its page made, when a browser asks."""

    def __init__(self, folder: Path) -> None:
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.network = BertForMaskedLM.from_pretrained(folder, attn_implementation="eager").eval()
        self.text = ""

    def page(self, view: str) -> bytes:
        """The page that bertviz returns, in the least of HTML."""
        inputs = self.tokenizer(self.text, return_tensors="pt")
        with torch.inference_mode():
            attentions = self.network(**inputs, output_attentions=True).attentions
        tokens = self.tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])
        made = VIEWS[view](attentions, tokens, html_action="return").data
        return f"<!doctype html><meta charset='utf-8'><body>{made}</body>".encode()


@contextmanager
def serve_peer(peer: Peer):
    """Its address: "/" has a link to each view, which is what is clicked."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            view = self.path.strip("/")
            links = "".join(f"<a href='/{name}'>{name}</a> " for name in VIEWS)
            body = peer.page(view) if view in VIEWS else f"<!doctype html><body>{links}</body>".encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


@cache
def library(name: str) -> str:
    return (ASSETS / "bertviz" / name).read_text(encoding="utf-8")


def answer_locally(route: Route) -> None:
    """The loader, with both libraries in it, in place of three requests to a content network."""
    body = (
        library("jquery.min.js") + ";" + library("d3.min.js") + ";" + LOADER if "require" in route.request.url else ""
    )
    route.fulfill(content_type="text/javascript", body=body)


class Meter:
    """Bytes that a page receives, before compression."""

    def __init__(self, page: Page) -> None:
        self.session: CDPSession = page.context.new_cdp_session(page)
        self.session.send("Network.enable")
        self.session.on("Network.dataReceived", lambda event: self._add(event["dataLength"]))
        self.bytes = 0

    def _add(self, count: int) -> None:
        self.bytes += count

    def read(self) -> int:
        """Bytes since it was read last."""
        count, self.bytes = self.bytes, 0
        return count


def seconds_between(page: Page, act: str, done: str, argument: object = None) -> float:
    """Do something in the page, wait until a condition holds there, and a frame was painted; by the page's own clock.

    Args:
        page: The page.
        act: JavaScript that clicks or types; it gets the argument.
        done: JavaScript that says whether the drawing is complete.
        argument: For both.
    """
    return page.evaluate(
        f"""argument => new Promise(resolve => {{
            const done = {done};
            const began = performance.now();
            ({act})(argument);
            const look = () => done(argument)
                ? requestAnimationFrame(() => setTimeout(() => resolve((performance.now() - began) / 1000)))
                : setTimeout(look, 4);
            look();
        }})""",
        argument,
    )


def measure_peer(page: Page, address: str, view: str, lines: int) -> tuple[float, int]:
    """Seconds and bytes of one of bertviz's views, from the click on its link until all its lines are there."""
    page.goto(address)
    meter = Meter(page)
    began = page.evaluate("performance.timeOrigin + performance.now()")
    page.locator(f"a[href='/{view}']").click(no_wait_after=True)
    page.wait_for_function(f"document.querySelectorAll('svg line').length >= {lines}", polling=20, timeout=WAIT_MS)
    ended = page.evaluate(
        "new Promise(done => requestAnimationFrame(() => setTimeout("
        "() => done(performance.timeOrigin + performance.now()))))"
    )
    return (ended - began) / 1000, meter.read()


TYPE = """text => {
    const box = document.querySelector('#attention-text textarea');
    box.value = text;
    box.dispatchEvent(new Event('input', {bubbles: true}));
}"""
HEAD = "document.querySelector('.attention-head')"
TEXT_IS_SHOWN = f"""text => {{
    const {{data}} = {HEAD}.explorer ?? {{}};
    return data?.asked.text === text && {HEAD}.dataset.turn === String(data.turn);
}}"""
OPEN_HEAD = """() => document.querySelector('.views [data-tab-id="head"]').click()"""
OPEN_ALL = """() => document.querySelector('.views [data-tab-id="all"]').click()"""
ALL_ARE_SHOWN = "text => document.querySelector('.attention-all')?.explorer?.text === text"
GO = "which => explorer.attention.go(which)"
HEAD_IS_SHOWN = f"which => {HEAD}.dataset.which === which"
