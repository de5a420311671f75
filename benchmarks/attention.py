"""Heads on the page against bertviz's page: bytes sent, and seconds from the click to the drawing, in one Chromium.

Both show the same random network of BERT base's shape (12 layers of 12 heads) and the same text, in one run, and take
turns. bertviz's page is what its `head_view` and `model_view` return, sent by a server that computes the attention when
it is asked; the libraries that it fetches from a content network are answered from this disk and not counted. Ours is
the page of `app.py`. At 512 tokens, where bertviz's page does not open, ours is measured alone.

    python benchmarks/attention.py [--rounds 5] [--json]
"""

import argparse
import json
import tempfile
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from attention_pages import (
    ALL_ARE_SHOWN,
    GO,
    HEAD_IS_SHOWN,
    NAME,
    OPEN_ALL,
    OPEN_HEAD,
    TEXT_IS_SHOWN,
    TYPE,
    VIEWS,
    WAIT_MS,
    Meter,
    Peer,
    answer_locally,
    make_model,
    make_text,
    measure_peer,
    seconds_between,
    serve_peer,
)
from measuring import describe_machine, print_table, ratio_of
from playwright.sync_api import Browser, Page, sync_playwright
from serving import open_browser, serving

SHORT, LONG = 32, 512


@dataclass(frozen=True)
class Round:
    """One view of one text, in each page.

    Attributes:
        view: "head" or "model".
        ours_seconds: From the text to the drawing; of the model view, from the press on its tab.
        theirs_seconds: From the click on its link to the last line.
        ours_bytes: Received until then, before compression.
        theirs_bytes: Likewise, without the libraries.
    """

    view: str
    ours_seconds: float
    theirs_seconds: float
    ours_bytes: int
    theirs_bytes: int


@dataclass(frozen=True)
class Long:
    """Ours alone, at 512 tokens.

    Attributes:
        first_seconds: From the text to its first head.
        at_once_seconds: From there to a head of another layer, which waits for all layers.
        next_seconds: From one head to another that was not fetched before, each time after that.
        heap_mib: JavaScript's heap and its buffers after that.
        head_bytes: Received for one further head.
    """

    first_seconds: list[float]
    at_once_seconds: list[float]
    next_seconds: list[float]
    heap_mib: float
    head_bytes: int


def open_ours(browser: Browser, address: str) -> Page:
    """Our page, the model in memory."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(f"{address}?tab=attention&model={NAME}&text=warm&at=encoder-1-1", timeout=WAIT_MS)
    page.locator("body[data-ready]").wait_for(state="attached", timeout=WAIT_MS)
    page.wait_for_function(f"({TEXT_IS_SHOWN})('warm')", timeout=WAIT_MS)
    return page


def compare(browser: Browser, peer: Peer, theirs: str, ours: str, rounds: int) -> list[Round]:
    """Both at 32 tokens, in turns."""
    page, other = open_ours(browser, ours), browser.new_page(viewport={"width": 1280, "height": 800})
    other.route("https://cdnjs.cloudflare.com/**", answer_locally)
    layers, heads = peer.network.config.num_hidden_layers, peer.network.config.num_attention_heads
    lines = {"head": heads * SHORT**2, "model": layers * heads * SHORT**2}
    found = []
    for turn in range(-1, rounds):  # the first is not counted
        peer.text = make_text(peer.tokenizer, SHORT, seed=turn)
        meter = Meter(page)
        drawn = seconds_between(page, TYPE, TEXT_IS_SHOWN, peer.text)
        page.wait_for_timeout(400)  # what is fetched ahead counts, too
        sent = meter.read()
        all_drawn = seconds_between(page, OPEN_ALL, ALL_ARE_SHOWN, peer.text)
        all_sent = meter.read()
        ours_of = {"head": (drawn, sent), "model": (all_drawn, all_sent)}
        for view in VIEWS:
            their_seconds, their_bytes = measure_peer(other, theirs, view, lines[view])
            if turn >= 0:
                found.append(Round(view, ours_of[view][0], their_seconds, ours_of[view][1], their_bytes))
        page.evaluate(OPEN_HEAD)
        page.wait_for_timeout(500)
    page.close()
    other.close()
    return found


def measure_long(browser: Browser, peer: Peer, ours: str, rounds: int) -> Long:
    """Ours at 512 tokens: the first head, others all over the model, and the memory that the browser takes."""
    page = open_ours(browser, ours)
    firsts, at_once, nexts, sent = [], [], [], []
    for turn in range(rounds):
        text = make_text(peer.tokenizer, LONG, seed=1000 + turn)
        firsts.append(seconds_between(page, TYPE, TEXT_IS_SHOWN, text))
        meter = Meter(page)
        for step in range(6):
            which = f"encoder-{2 + step * 2 % 11}-{1 + (step * 5 + turn) % 12}"
            (nexts if step else at_once).append(seconds_between(page, GO, HEAD_IS_SHOWN, which))
            sent.append(meter.read())
    session = page.context.new_cdp_session(page)
    usage = session.send("Runtime.getHeapUsage")
    heap = usage["usedSize"] + usage.get("embedderHeapUsedSize", 0) + usage.get("backingStorageSize", 0)
    page.close()
    return Long(firsts, at_once, nexts, heap / 2**20, int(median(sent)))


def report(rounds: list[Round], long: Long) -> None:
    """Tables for the README."""
    rows = []
    for view in VIEWS:
        mine = [one for one in rounds if one.view == view]
        ours, theirs = [one.ours_seconds for one in mine], [one.theirs_seconds for one in mine]
        sent, their = median(one.ours_bytes for one in mine), median(one.theirs_bytes for one in mine)
        names = {"head": "one head", "model": "all heads"}
        rows += [
            [f"{names[view]}, drawn", f"{median(ours):.2f} s", f"{median(theirs):.2f} s", ratio_of(ours, theirs)],
            [f"{names[view]}, sent", f"{sent:,.0f} B", f"{their:,.0f} B", f"{sent / their:.4f}"],
        ]
    print_table(f"{SHORT} tokens, 12 x 12 heads, n = {len(rounds) // len(VIEWS)}",
                ["what", "explorer", "bertviz", "ratio [95 %]"], rows)  # fmt: skip
    print_table(
        f"{LONG} tokens, 12 x 12 heads, explorer alone",
        ["what", "median", "most"],
        [
            ["first head", f"{median(long.first_seconds):.2f} s", f"{max(long.first_seconds):.2f} s"],
            [
                "a head of another layer, at once",
                f"{median(long.at_once_seconds):.2f} s",
                f"{max(long.at_once_seconds):.2f} s",
            ],
            ["any other head after that", f"{median(long.next_seconds):.2f} s", f"{max(long.next_seconds):.2f} s"],
            ["bytes of another head", f"{long.head_bytes:,}", ""],
            ["browser heap", f"{long.heap_mib:.0f} MiB", ""],
        ],
    )


def main() -> None:
    """Measure, and print tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    machine = describe_machine()
    with ExitStack() as stack:
        root = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        make_model(root / NAME)
        peer = Peer(root / NAME)
        theirs = stack.enter_context(serve_peer(peer))
        ours = stack.enter_context(serving({"EXPLORER_LOCAL_MODELS": str(root)}))
        playwright = stack.enter_context(sync_playwright())
        browser = open_browser(playwright)
        rounds = compare(browser, peer, theirs, ours, given.rounds)
        long = measure_long(browser, peer, ours, max(given.rounds // 2, 2))
        browser.close()
    if given.json:
        print(json.dumps({"machine": machine, "rounds": [asdict(one) for one in rounds], "long": asdict(long)}))
        return
    print(machine)
    report(rounds, long)


if __name__ == "__main__":
    main()
