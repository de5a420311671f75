"""The page is made once for all who know the server by the same address, and is what Gradio would have sent."""

import gzip

import brotli
import gradio as gr
import pytest
from starlette.testclient import TestClient

from explorer.tabs import first_page
from explorer.tabs.first_page import MOST_KEPT, page_routes

UNPACK = {"br": brotli.decompress, "gzip": gzip.decompress, "identity": bytes}


@pytest.fixture(scope="module")
def served():
    """A page, and Gradio's own route of it."""
    with gr.Blocks(title="A page", analytics_enabled=False) as page:
        gr.Textbox("Hello", label="Words")
    page.launch(prevent_thread_lock=True, quiet=True, ssr_mode=False, _frontend=False)
    yield page.app
    page.close()


@pytest.fixture
def client(served, monkeypatch):
    """The same with ours before it, and nothing kept yet."""
    monkeypatch.setattr(served.router, "routes", [*page_routes(), *served.router.routes])
    return TestClient(served)


@pytest.fixture
def made(monkeypatch):
    """Grows by one with each page that Gradio makes."""
    calls, make = [], first_page._make
    monkeypatch.setattr(first_page, "_make", lambda request, name: calls.append(name) or make(request, name))
    return calls


def raw(client, **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    with client.stream("GET", "/", headers=named) as answer:
        assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/html")
        return b"".join(answer.iter_raw()), answer.headers


def test_what_programs_read_is_made_once_too(served, client, made):
    given = TestClient(served).get("/config")
    for _ in range(2):
        ours = client.get("/config", params={"page": "x"})
        assert ours.json() == given.json()
        assert ours.headers["content-type"] == given.headers["content-type"]
    assert made == ["get_config"]


@pytest.mark.parametrize("encoding", UNPACK)
def test_it_is_what_gradio_sends_packed_as_the_browser_takes_it(served, request, encoding):
    plain, _ = raw(TestClient(served), accept_encoding="identity")
    client = request.getfixturevalue("client")
    content, headers = raw(client, accept_encoding=encoding)
    assert headers.get("content-encoding", "identity") == encoding
    assert headers["vary"] == "accept-encoding"
    assert UNPACK[encoding](content) == plain
    assert client.head("/").status_code == 200


def test_it_is_made_once_for_each_address(client, made):
    for host in ("here", "there", "here"):
        content, _ = raw(client, host=host, accept_encoding="identity")
        assert f'"root":"http://{host}"'.encode() in content
    proxied, _ = raw(client, host="here", x_forwarded_proto="https", accept_encoding="identity")
    assert b'"root":"https://here"' in proxied
    assert len(made) == 3
    raw(client, host="here", accept_encoding="identity")
    assert len(made) == 3


def test_what_is_kept_is_bounded(client, made):
    for number in range(MOST_KEPT + 1):
        raw(client, host=f"host-{number}")
    raw(client, host=f"host-{MOST_KEPT}")
    assert len(made) == MOST_KEPT + 1
    raw(client, host="host-0")
    assert len(made) == MOST_KEPT + 2


def test_what_an_address_asks_for_does_not_change_it(client, made):
    plain = client.get("/").content
    assert client.get("/?tab=models&page=other&deep_link=x&view=api").content == plain
    assert len(made) == 1
