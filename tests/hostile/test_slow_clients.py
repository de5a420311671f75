"""Clients who stop in the middle, or do not read, are let go, and others find room: on a clock of ours, and by TCP."""

import socket
from collections.abc import Callable
from contextlib import closing, suppress
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
import uvicorn
from uvicorn.server import ServerState

from explorer.tabs import connections
from explorer.tabs.connections import (
    HEAD_SECONDS,
    LEAST_BYTES_A_SECOND,
    LOOK_SECONDS,
    MOST_CONNECTIONS,
    MOST_ENDED_AT_ONCE,
    SLOW_START_SECONDS,
    Connection,
    _most_connections,
)
from tests.hostile.small_page import TYPED, ask, read

HEAD = b"POST /x HTTP/1.1\r\nHost: here\r\nContent-Length: 1000000\r\n\r\n"
QUESTION = b"GET /x HTTP/1.1\r\nHost: here\r\n\r\n"
MOST_SECONDS = 30


class Loop:
    """What a connection asks of a loop; time passes when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0
        self.later: list[tuple[float, Callable[[], None]]] = []

    def time(self) -> float:
        return self.now

    def call_later(self, seconds, act, *given):
        one = (self.now + seconds, lambda: act(*given))
        self.later.append(one)
        return SimpleNamespace(cancel=lambda: one in self.later and self.later.remove(one))

    def create_task(self, work, **named):
        work.close()  # nothing answers; the test says when
        return Mock()

    def pass_seconds(self, seconds: float) -> None:
        end = self.now + seconds
        while due := [one for one in self.later if one[0] <= end]:
            first = min(due, key=lambda one: one[0])
            self.later.remove(first)
            self.now = first[0]
            first[1]()
        self.now = end


class Transport:
    """What a connection asks of a transport."""

    def __init__(self, address: str) -> None:
        self.address, self.unread, self.is_open = address, 0, True

    def get_extra_info(self, name):
        return (self.address, 1) if name in ("peername", "sockname") else None

    def get_write_buffer_size(self) -> int:
        return self.unread

    def write(self, data: bytes) -> None:
        self.unread += len(data)

    def is_closing(self) -> bool:
        return not self.is_open

    def abort(self) -> None:
        self.is_open = False

    def close(self) -> None:
        self.is_open = bool(self.unread)  # it waits until all is read

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass


@pytest.fixture
def connect():
    """Makes connections of one server, on a clock of its own: connect(address) and connect.loop."""
    config = uvicorn.Config(None, log_level="critical")
    state, loop = ServerState(), Loop()

    def make(address: str = "10.0.0.1") -> Connection:
        connection = Connection(config=config, server_state=state, app_state={}, _loop=loop)
        connection.app = lambda *given: None
        connection.wire = Transport(address)
        connection.connection_made(connection.wire)
        return connection

    make.loop = loop
    return make


def is_open(connection) -> bool:
    return connection.transport.is_open


@pytest.mark.parametrize("sent", [b"", b"POST /gradio_api/ca", QUESTION[:-2]], ids=["nothing", "a line", "headers"])
def test_one_that_asks_nothing_ends(connect, sent):
    connection = connect()
    if sent:
        connection.data_received(sent)
    connect.loop.pass_seconds(HEAD_SECONDS)
    assert is_open(connection)
    connect.loop.pass_seconds(2 * LOOK_SECONDS)
    assert not is_open(connection)


def test_to_send_a_header_now_and_then_does_not_help(connect):
    connection = connect()
    connection.data_received(QUESTION[:-2])
    for number in range(int(HEAD_SECONDS)):
        connect.loop.pass_seconds(1)
        connection.data_received(b"X-%d: x\r\n" % number)
    connect.loop.pass_seconds(2 * LOOK_SECONDS)
    assert not is_open(connection)


def test_one_that_is_answered_may_take_its_time(connect):
    connection = connect()
    connection.data_received(QUESTION)
    connect.loop.pass_seconds(3600)
    assert is_open(connection) and connection.is_answered


def test_a_body_that_stops_ends_it(connect):
    connection = connect()
    connection.data_received(HEAD + b"some")
    connect.loop.pass_seconds(SLOW_START_SECONDS)
    assert is_open(connection) and not connection.is_answered
    connect.loop.pass_seconds(2 * LOOK_SECONDS)
    assert not is_open(connection)


@pytest.mark.parametrize(("share", "stays"), [(1.0, True), (0.5, False)])
def test_a_body_may_come_slowly_but_not_for_ever(connect, share, stays):
    connection = connect()
    connection.data_received(HEAD)
    for _ in range(180):
        connect.loop.pass_seconds(1)
        connection.data_received(b"x" * int(share * LEAST_BYTES_A_SECOND))
        connection.flow.resume_reading()  # the app took it
        if not is_open(connection):
            break
    assert is_open(connection) == stays


def test_one_that_the_app_does_not_read_from_is_not_slow(connect):
    connection = connect()
    connection.data_received(HEAD)
    connection.data_received(b"x" * 100_000)
    assert connection.flow.read_paused
    connect.loop.pass_seconds(600)
    assert is_open(connection)


def test_who_reads_nothing_is_let_go(connect):
    connection = connect()
    connection.data_received(QUESTION)
    connection.transport.write(b"x" * 100_000)
    connect.loop.pass_seconds(SLOW_START_SECONDS)
    assert is_open(connection)
    connect.loop.pass_seconds(2 * LOOK_SECONDS)
    assert not is_open(connection)


def test_who_reads_nothing_of_a_last_answer_is_let_go(connect):
    connection = connect()
    connection.data_received(QUESTION)
    connection.transport.write(b"x" * 100_000)
    connection.cycle.response_complete = True
    connection.timeout_keep_alive_handler = connection.transport.close
    connection.on_response_complete()
    connect.loop.pass_seconds(SLOW_START_SECONDS + 2 * LOOK_SECONDS)
    assert not is_open(connection)


@pytest.mark.parametrize(("share", "stays"), [(1.0, True), (0.5, False)])
def test_an_answer_may_be_read_slowly_but_not_for_ever(connect, share, stays):
    connection = connect()
    connection.data_received(QUESTION)
    connection.transport.write(b"x" * 2_000_000)
    for _ in range(60):
        connect.loop.pass_seconds(LOOK_SECONDS)
        if not is_open(connection):
            break
        connection.wire.unread -= int(share * LOOK_SECONDS * LEAST_BYTES_A_SECOND)
    assert is_open(connection) == stays


def test_who_reads_as_much_as_is_sent_stays(connect):
    connection = connect()
    connection.data_received(QUESTION)
    connection.transport.write(b"x" * 600)
    for _ in range(1000):
        connection.transport.write(b"x" * int(LOOK_SECONDS * LEAST_BYTES_A_SECOND))
        connection.wire.unread = 600
        connect.loop.pass_seconds(LOOK_SECONDS)
    assert is_open(connection)


def test_who_has_read_all_may_take_his_time_again(connect):
    connection = connect()
    connection.data_received(QUESTION)
    for _ in range(10):
        connection.transport.write(b"x" * 1000)
        connect.loop.pass_seconds(SLOW_START_SECONDS - LOOK_SECONDS)
        connection.wire.unread = 0
        connect.loop.pass_seconds(LOOK_SECONDS)
    assert is_open(connection)


def test_where_there_is_no_room_the_crowd_gives_way(connect, monkeypatch):
    monkeypatch.setattr(Connection, "most_connections", 30)
    student = connect("10.0.0.2")
    crowd = []
    for _ in range(29):
        connect.loop.pass_seconds(0.1)
        crowd.append(connect("10.0.0.1"))
    for one in crowd[:5]:
        one.data_received(QUESTION)  # at work
    newest = connect("10.0.0.3")
    assert is_open(student) and is_open(newest)
    assert [is_open(one) for one in crowd] == [True] * 5 + [False] * 12 + [True] * 12


def test_many_who_come_at_once_do_not_end_more_than_their_number_needs(connect, monkeypatch):
    monkeypatch.setattr(Connection, "most_connections", 30)
    ours = [connect() for _ in range(30 + 15)]  # those that ended are not gone yet
    assert sum(map(is_open, ours)) == 30


def test_where_all_are_answered_the_newest_finds_no_room(connect, monkeypatch):
    monkeypatch.setattr(Connection, "most_connections", 3)
    for _ in range(3):
        connect().data_received(QUESTION)
    assert not is_open(connect())


@pytest.mark.parametrize(("files", "most"), [(256, 128), (1024, 768), (4096, 3840), (2**20, MOST_CONNECTIONS)])
def test_files_are_left_for_all_else(files, most):
    assert _most_connections(files) == most and most > MOST_ENDED_AT_ONCE


def tcp(page) -> socket.socket:
    host, port = page.local_url.removeprefix("http://").rstrip("/").split(":")
    return socket.create_connection((host, int(port)), timeout=MOST_SECONDS)


@pytest.mark.parametrize(
    "sent",
    [
        b"", b"POST /gradio_api/ca",
        b"POST /gradio_api/call/echo HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\n"
        b"Content-Length: 1000\r\n\r\n{",
    ],
    ids=["nothing", "a line", "a body"],
)  # fmt: skip
def test_half_a_question_is_let_go_and_the_log_says_nothing(page, http, log, monkeypatch, sent):
    monkeypatch.setattr(connections, "LOOK_SECONDS", 0.05)
    with closing(tcp(page)) as one:
        one.sendall(sent)
        assert TYPED in read(http, "echo", ask(http, "echo", TYPED))
        for name in ("HEAD_SECONDS", "SLOW_START_SECONDS"):
            monkeypatch.setattr(connections, name, 0.0)
        with suppress(ConnectionResetError):
            assert one.recv(1000) == b""
    assert "fault" not in log() and "Traceback" not in log()


def test_headers_without_end_are_refused(page, http):
    with closing(tcp(page)) as one:
        with pytest.raises((ConnectionError, TimeoutError)):
            one.sendall(b"GET / HTTP/1.1\r\nHost: here\r\n")
            for number in range(1000):
                one.sendall(b"X-%d: %s\r\n" % (number, b"x" * 10_000))
    assert http.get("/robots.txt").status_code == 200
