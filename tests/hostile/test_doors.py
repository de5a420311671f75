"""What the web server answers at all, to whom, and what its log says of what it cannot answer."""

import asyncio
import socket
from functools import partial

import pytest

from explorer.tabs.limits import MIB
from explorer.tabs.unread import IN_MEMORY, KEPT_SECONDS, Unread
from tests.hostile.small_page import API, JSON, TYPED, ask, join, number_of, read
from tests.models.tiny_loader import wait_until


def wait_for_answer(page, event):
    waiting = page._queue.pending_messages_per_session[event]
    wait_until(lambda: any("process_completed" in str(one)[:400] for one in waiting._queue))


@pytest.mark.parametrize(
    "path",
    [
        "/", "/config", "/theme.css", "/robots.txt", f"{API}/info", f"{API}/openapi.json", f"{API}/startup-events",
        f"{API}/heartbeat/x", f"{API}/app_id",
    ],
)  # fmt: skip
def test_what_pages_and_clients_read_is_open(http, path):
    with http.stream("GET", path) as answer:
        assert answer.status_code == 200
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "frame-ancestors 'self'" in answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", f"{API}/run/echo"), ("POST", f"{API}/api/echo"), ("POST", f"{API}/run/hidden"),
        ("POST", f"{API}/call/hidden"), ("POST", f"{API}/call/v2/hidden"), ("POST", f"{API}/call/nothing"),
        ("GET", f"{API}/call/hidden/event"), ("GET", "/monitoring"), ("GET", "/monitoring/summary"),
        ("GET", f"{API}/deep_link"), ("GET", f"{API}/queue/status"), ("GET", f"{API}/file=http://127.0.0.1:1/"),
        ("GET", f"{API}/file=HTTPS://127.0.0.1:1/"), ("GET", f"{API}/proxy=https://huggingface.co/"),
        ("GET", f"{API}/dev/reload"), ("POST", f"{API}/process_recording"), ("POST", f"{API}/stream/x"),
        ("GET", f"{API}/stream/x/y/0/playlist.m3u8"), ("GET", f"{API}/custom_component/x/server/y/z.js"),
        ("POST", "/login"), ("GET", "/logout"), ("PUT", "/"), ("DELETE", f"{API}/upload"), ("TRACE", "/"),
        ("GET", "/docs"), ("GET", f"{API}//info"), ("GET", "/../app.py"), ("GET", f"{API}/vibe-code/"),
    ],
)  # fmt: skip
def test_all_else_is_closed(http, method, path):
    answer = http.request(method, path, json={"data": [TYPED], "fn_index": 0} if method == "POST" else None)
    assert (answer.status_code, "Nothing is answered here" in answer.text) == (404, True), answer.text[:200]


def test_a_question_is_still_asked_and_answered(http, page):
    assert TYPED in read(http, "echo", ask(http, "echo", TYPED))
    event = http.post(f"{API}/call/v2/echo", json={"text": TYPED}).json()["event_id"]
    assert TYPED in http.get(f"{API}/call/v2/echo/{event}").text
    assert TYPED + TYPED in read(http, "counts", ask(http, "counts", TYPED))
    assert join(http, page, "hidden", 2)["data"] == ["never called"]


def test_who_asks_wrongly_is_told_and_the_log_is_not(http, page, log):
    wrong = http.post(f"{API}/call/v2/echo", json={"text": TYPED, "session_hash": "x"})
    assert wrong.status_code == 400 and "session_hash" in wrong.text
    assert http.post(f"{API}/call/v2/echo", json={}).status_code == 400
    asked = {"data": [], "fn_index": 999, "session_hash": "x"}
    assert http.post(f"{API}/queue/join", json=asked).status_code == 404
    asked = {"data": [TYPED], "component_id": 999, "fn_name": "value", "session_hash": "x"}
    assert http.post(f"{API}/component_server", json=asked).status_code == 404
    assert http.post(f"{API}/queue/join", content=b"{" + TYPED.encode(), headers=JSON).status_code == 422
    assert "didn't receive enough input" in read(http, "echo", ask(http, "echo"))
    assert "greater than maximum" in join(http, page, "hidden", 2000)["error"]
    assert "event: error" in read(http, "echo", "an answer that is not here")
    assert log() == ""


def test_a_question_of_http_1_0_names_no_host(http, page, log):
    asked = f"GET {API}/info HTTP/1.0\r\nOrigin: http://127.0.0.1\r\n\r\n"
    with socket.create_connection((http.base_url.host, http.base_url.port), timeout=30) as client:
        client.sendall(asked.encode())
        told = b"".join(iter(partial(client.recv, 65536), b""))
    assert told.startswith(b"HTTP/1.1 200") and b"counts" in told
    assert log() == ""


def test_a_page_without_a_name_is_answered(http, page, log):
    asked = {"data": [TYPED], "fn_index": number_of(page, "echo"), "session_hash": ""}
    event = http.post(f"{API}/queue/join", json=asked).raise_for_status().json()["event_id"]
    assert TYPED in http.get(f"{API}/queue/data", params={"session_hash": event}).text
    assert log() == ""


def test_a_fault_of_ours_is_logged_without_what_was_typed(http, page, log):
    told = read(http, "fails", ask(http, "fails", TYPED))
    reference = told.split("reference ")[1][:8]
    said = log()
    assert f"fault {reference}" in said and "builtins.KeyError" in said and "in fails" in said
    assert TYPED not in said
    told = join(http, page, "half", 2)["error"]  # a fault that Gradio finds
    assert told.split("reference ")[1][:8] in (said := log()) and TYPED not in said


def test_answers_that_nobody_reads_do_not_stay(http, page):
    now, waiting = [0.0], page._queue.pending_messages_per_session
    text = "x" * MIB
    unread = Unread(page._queue, most_bytes=int(3.5 * MIB * IN_MEMORY), clock=lambda: now[0])

    def look_later(seconds):
        now[0] += seconds
        asyncio.run_coroutine_threadsafe(unread.look(), page.loop_of_server).result()

    events = [ask(http, "echo", text) for _ in range(4)]
    for event in events:
        wait_for_answer(page, event)
    assert not set(events) & set(page.app.state_holder.session_data)
    look_later(1)
    assert set(events) <= set(waiting)
    look_later(1)
    assert set(events) & set(waiting) == set(events[1:])
    assert text in read(http, "echo", events[1])
    assert "event: error" in read(http, "echo", events[0])
    look_later(KEPT_SECONDS)
    assert not set(events[2:]) & set(waiting)


def test_an_answer_that_cannot_be_sent_is_counted_too(http, page):
    event = ask(http, "echo", "\ud800")
    wait_for_answer(page, event)
    now = [0.0]
    unread = Unread(page._queue, most_bytes=1, clock=lambda: now[0])
    for now[0] in (1.0, 2.0):
        asyncio.run_coroutine_threadsafe(unread.look(), page.loop_of_server).result()
    assert event not in page._queue.pending_messages_per_session


def test_who_has_read_all_is_forgotten(http, page):
    event = ask(http, "echo", TYPED)
    assert TYPED in read(http, "echo", event)
    wait_until(lambda: event not in page._queue.pending_messages_per_session)
    assert event not in page._queue.pending_event_ids_session
