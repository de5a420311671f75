"""What each guard between the network and Gradio lets pass, and what it says else."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from starlette.exceptions import HTTPException

from explorer.tabs.answering import Answering
from explorer.tabs.asking import Page
from explorer.tabs.doors import Doors
from explorer.tabs.upload_room import KEPT_SECONDS, LOOK_SECONDS, UploadRoom

TYPED = "my own diary"


def answered(guard, scope, app=None):
    """What a guard says to a request: its messages; the status is 200 where it passes it on, unless the app says else.

    Args:
        guard: App -> middleware.
        scope: What differs from a plain question.
        app: Which answers.
    """
    sent = []

    async def passed_on(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"passed on"})

    async def receive():
        return {"type": "http.request", "body": b""}

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/drawn", "headers": [], "client": ("10.0.0.1", 5)} | scope
    with ThreadPoolExecutor(1) as other:  # a browser's tests leave a loop running in this thread
        other.submit(asyncio.run, guard(app or passed_on)(scope, receive, send)).result()
    return sent


def headers_of(**named):
    return [(name.replace("_", "-").encode(), value.encode()) for name, value in named.items()]


@pytest.mark.parametrize(
    ("status", "headers"),
    [
        (200, {}),  # no browser
        (200, {"origin": "http://here:7860", "host": "here:7860"}),
        (200, {"origin": "https://here", "host": "here:443"}),
        (200, {"origin": "HTTP://Here:80", "host": "here"}),
        (200, {"origin": "https://here.example", "host": "127.0.0.1:7860", "x_forwarded_host": "here.example, proxy"}),
        (200, {"origin": "https://seen.example", "host": "127.0.0.1:7860", "sec_fetch_site": "same-origin"}),
        (200, {"origin": "https://known.example", "host": "127.0.0.1:7860"}),
        (403, {"origin": "https://evil.example", "host": "here"}),
        (403, {"origin": "https://here.evil.example", "host": "here"}),
        (403, {"origin": "https://here:444", "host": "here"}),
        (403, {"origin": "https://evil.example", "host": "here", "sec_fetch_site": "cross-site"}),
        (403, {"origin": "null", "host": "here"}),
        (403, {"origin": "https://[", "host": "here"}),
        (403, {"origin": "https://", "host": ""}),
    ],
)
def test_pages_of_other_addresses_may_not_ask(status, headers):
    doors = partial(Doors, endpoints=frozenset(), origins=("https://known.example",))
    assert answered(doors, {"headers": headers_of(**headers)})[0]["status"] == status


def test_an_operator_may_let_any_page_ask(set_settings):
    set_settings(origins="* https://a.example")
    assert Doors.middleware(Page()).kwargs["origins"] == ("*", "https://a.example")
    anybody = partial(Doors, endpoints=frozenset(), origins=("*",))
    assert answered(anybody, {"headers": headers_of(origin="null", host="here")})[0]["status"] == 200
    set_settings(origins="a.example")
    with pytest.raises(ValueError, match="'a.example' is not an address"):
        Doors.middleware(Page())


@pytest.mark.parametrize(
    ("frames", "on_space", "wanted"),
    [
        ("", "", "frame-ancestors 'self'"),
        ("https://moodle.example.edu", "", "frame-ancestors 'self' https://moodle.example.edu"),
        ("", "someone/explorer", "frame-ancestors 'self' https://huggingface.co"),
    ],
)
def test_an_operator_says_who_may_frame_the_page(set_settings, monkeypatch, frames, on_space, wanted):
    set_settings(frames=frames)
    monkeypatch.setenv("SPACE_ID", on_space)
    start = answered(partial(Answering, **Answering.middleware().kwargs), {})[0]
    assert wanted in dict(start["headers"])[b"content-security-policy"].decode()


def test_who_may_frame_the_page_says_nothing_else(set_settings):
    set_settings(frames="x; script-src *")
    with pytest.raises(ValueError, match="has to name pages"):
        Answering.middleware()


def test_a_stream_of_nothing_ends_and_a_broken_one_breaks_off(log):
    async def stream(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise RuntimeError(TYPED) from (HTTPException(404) if scope["path"] == "/nothing" else None)

    ended, broken = (answered(Answering, {"path": path}, app=stream) for path in ("/nothing", "/broken"))
    assert [message["type"] for message in ended] == ["http.response.start", "http.response.body"]
    assert [message["type"] for message in broken] == ["http.response.start"]
    said = log()
    assert said.count("fault ") == 1 and TYPED not in said


def test_files_fill_only_so_much_and_leave_again():
    now, statuses = [0.0], [200]

    async def uploads(scope, receive, send):
        await send({"type": "http.response.start", "status": statuses[-1], "headers": []})

    room = UploadRoom(uploads, most_bytes=100, clock=lambda: now[0])

    def upload(size, address="10.0.0.1", **headers):
        asked = {"path": "/gradio_api/upload", "headers": headers_of(content_length=str(size)), "client": (address, 1)}
        return answered(lambda app: room, asked | headers)[0]["status"]

    assert upload(51) == 507  # more than half
    assert [upload(30), upload(21), upload(20)] == [200, 507, 200]
    statuses.append(413)
    assert [upload(30, "10.0.0.2"), upload(30, "10.0.0.2")] == [413, 413]  # what was refused fills nothing
    statuses.append(200)
    assert [upload(40, "10.0.0.2"), upload(11, "10.0.0.3"), upload(10, "10.0.0.3")] == [200, 507, 200]
    assert upload(10, headers=[]) == 411
    now[0] += KEPT_SECONDS + LOOK_SECONDS
    assert [upload(50), upload(50, "10.0.0.2")] == [200, 200]
