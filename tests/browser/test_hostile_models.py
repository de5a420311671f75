"""Tokens of a model that are markup are shown as text, and no other page frames this one, in a real browser."""

from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import serving
from tests.hostile.markup_models import MASKED, TOKENS, WRITER, make_markup_models

BLANKS = f"the ___ play {TOKENS[5]} ___ the"
TEXT = f"the {TOKENS[0]} play {TOKENS[1]} {TOKENS[6]}"
SENTENCES = f"the {{play}} {TOKENS[0]}\nb\tthe {TOKENS[5]} {{play}} the\na\tthe {{play}} {TOKENS[1]}"
WRITTEN = f"the play {TOKENS[5]}"
MADE = ", ".join(
    (
        "img[src=x]", "svg[onload]", "iframe[srcdoc=a]", "[onmouseover]", "[onfocus]", "[autofocus]",
        "a[href^='javascript:']",
    )
)  # fmt: skip
OTHERS = [
    {"tab": "generate", "model": WRITER, "text": WRITTEN, "show": "next"},
    {"tab": "attention", "model": MASKED, "text": TEXT, "show": "strongest"},
    *(
        {"tab": "fill", "model": MASKED, "text": BLANKS, "show": view}
        for view in ("tokens", "watch", "models", "spans")
    ),
    {"tab": "attention", "model": MASKED, "text": TEXT, "layer": 1},
    {"tab": "attention", "model": MASKED, "text": TEXT, "show": "levels"},
    {"tab": "generate", "model": WRITER, "text": WRITTEN},
    *({"tab": "generate", "model": WRITER, "text": WRITTEN, "show": view} for view in ("beams", "layers", "score")),
    *(
        {"tab": "neighbours", "model": MASKED, "word": "play", "own": SENTENCES, "show": view}
        for view in ("map", "uses", "numbers", "quiz")
    ),
]


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A page where visitors may name the models whose tokens are markup."""
    folder = tmp_path_factory.mktemp("models")
    make_markup_models(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EXPLORER_LOCAL_MODELS", str(folder))
        with serving("app.py", tmp_path_factory.mktemp("page") / "log") as url:
            yield url


def tokens_are_text(open_page, asked) -> None:
    page = open_page("?" + urlencode(asked))
    shown = [page.get_by_text(token).locator("visible=true").first for token in (TOKENS[0], TOKENS[5])]
    expect(shown[0].or_(shown[1]).first).to_be_visible()
    expect(page.locator(MADE)).to_have_count(0)
    assert page.evaluate("window.broken") is None


def test_tokens_that_are_markup_are_shown_as_text(open_page):
    tokens_are_text(open_page, {"tab": "fill", "model": MASKED, "text": BLANKS})


@pytest.mark.slow
@pytest.mark.parametrize("asked", OTHERS, ids=lambda asked: f"{asked['tab']} {asked.get('show', '')}")
def test_and_so_they_are_in_every_other_view(open_page, asked):
    tokens_are_text(open_page, asked)


def test_no_other_page_frames_this_one(browser, address):
    context = browser.new_context()
    page = context.new_page()
    frame = f"<iframe src='{address}?tab=models'></iframe>"
    for host, is_shown in (("http://127.0.0.1:9999/", False), (f"{address}framed", True)):
        page.route(host, lambda route: route.fulfill(body=frame, content_type="text/html"))
        page.goto(host)
        inside = page.frames[1]
        inside.wait_for_load_state()
        assert (inside.locator("gradio-app").count() == 1) == is_shown, host
        assert inside.url.startswith(address) == is_shown
    context.close()
