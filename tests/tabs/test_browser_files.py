"""Gradio's scripts come packed, may be kept, and are what Gradio ships but for the places that are mended."""

import gzip
from threading import Event

import brotli
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

import app
from explorer.tabs import browser_files
from explorer.tabs.browser_files import FOLDER, MENDED, browser_files_route, pack_plotly, read_file
from explorer.tabs.first_page import drawn_route

PLAIN = next(path.name for path in sorted(FOLDER.glob("index-*.js")))
UNPACK = {"br": brotli.decompress, "gzip": gzip.decompress}


@pytest.fixture(scope="module")
def client():
    with TestClient(Starlette(routes=[browser_files_route()])) as client:
        yield client


def content_of(client, name, encoding):
    """What is sent, before the client unpacks it."""
    with client.stream("GET", f"/assets/{name}", headers={"accept-encoding": encoding}) as answer:
        assert answer.status_code == 200
        assert answer.headers.get("content-encoding", "identity") == encoding
        assert "immutable" in answer.headers["cache-control"]
        return b"".join(answer.iter_raw()), answer.headers


@pytest.mark.parametrize("encoding", ["br", "gzip"])
def test_a_script_comes_packed_as_the_browser_takes_it(client, encoding):
    content, headers = content_of(client, PLAIN, encoding)
    original = (FOLDER / PLAIN).read_bytes()
    assert len(content) < len(original) / 2
    assert UNPACK[encoding](content) == original
    assert headers["vary"] == "accept-encoding"
    assert headers["content-type"].startswith("text/javascript")  # or the browser does not run it


def test_a_browser_that_unpacks_nothing_gets_it_plain(client):
    content, _ = content_of(client, PLAIN, "identity")
    assert content == (FOLDER / PLAIN).read_bytes()


def test_a_font_is_not_packed_again(client):
    name = next(FOLDER.glob("*.woff2")).name
    answer = client.get(f"/assets/{name}", headers={"accept-encoding": "br"})
    assert "content-encoding" not in answer.headers
    assert answer.content == (FOLDER / name).read_bytes()


def test_a_file_is_packed_once(client, monkeypatch):
    packed = []
    monkeypatch.setitem(browser_files.PACKERS, "br", lambda content: packed.append(1) or brotli.compress(content))
    browser_files._packed.cache_clear()
    for _ in range(3):
        content_of(client, PLAIN, "br")
    assert packed == [1]


@pytest.mark.parametrize(
    "name", ["missing.js", "..%2Findex.html", "%2e%2e", "..", "%2Fetc%2Fpasswd", "a%00.js", "x" * 5000]
)
def test_nothing_else_is_sent(client, name):
    assert client.get(f"/assets/{name}").status_code == 404


@pytest.mark.parametrize(
    ("start", "plain", "mended"), [(start, *place) for start, places in MENDED.items() for place in places]
)
def test_what_is_mended_stands_there_once(start, plain, mended):
    (path,) = FOLDER.glob(f"{start}*.js")
    assert path.read_text(encoding="utf-8").count(plain) == 1
    sent = read_file(path.name).decode()
    assert plain not in sent
    assert sent.count(mended) == 1


def test_another_gradio_is_sent_as_it_is(tmp_path, monkeypatch):
    plain = "".join(
        before for before, _ in MENDED["PlotlyPlot-"][1:]
    )  # without the first place, the others mean nothing
    (tmp_path / "PlotlyPlot-other.js").write_text(plain)
    monkeypatch.setattr(browser_files, "FOLDER", tmp_path)
    assert read_file("PlotlyPlot-other.js").decode() == plain


def test_the_largest_script_is_packed_before_it_is_asked_for(client, monkeypatch):
    browser_files._packed.cache_clear()
    pack_plotly()
    for encoding in UNPACK:
        monkeypatch.setitem(browser_files.PACKERS, encoding, None)  # not called again
        (name,) = (path.name for path in FOLDER.glob("PlotlyPlot-*.js"))
        content, _ = content_of(client, name, encoding)
        assert UNPACK[encoding](content) == read_file(name)


def test_the_first_model_comes_when_the_page_is_drawn(monkeypatch):
    class Registry:
        def load(self, name):
            assert drawn.is_set()
            loaded.append(name)

    drawn, loaded = Event(), []
    with TestClient(Starlette(routes=[drawn_route(drawn)])) as client:
        assert client.get("/drawn").status_code == 405
        assert not drawn.is_set()
        assert client.post("/drawn").status_code == 204
    app.warm_up(Registry(), drawn)
    assert loaded == [app.DEFAULT_MODEL]


def test_it_comes_without_anybody_too(monkeypatch):
    monkeypatch.setattr(app, "MOST_SECONDS_TO_DRAW", 0)
    loaded = []
    registry = type("Registry", (), {"load": lambda self, name: loaded.append(name)})()
    app.warm_up(registry, Event())
    assert loaded == [app.DEFAULT_MODEL]
