"""What clients do to the program who send without end, who stop in the middle, and who never read what they asked for.

Each sort opens its connections at once; then one visitor fills a blank. Printed are the seconds until he is answered,
the program's memory before and after, and how many of the connections are still open after a while.

    python benchmarks/slow_clients.py [--connections 1000] [--files 1024] [--seconds 60] [--json]
"""

import argparse
import json
import resource
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

import psutil
from measuring import describe_machine, print_table
from serving import fill, serving

MIB = 2**20
MODEL = "MiniLM (masked)"
TEXT = "Question number {} is about the ___."
HEADER_MIB = 4  # of one request that never ends its headers
MOST_HEADERS = 100  # such requests
GIVE_UP_SECONDS = 30

Begin = Callable[[socket.socket], None]


def half_a_line(one: socket.socket) -> None:
    """Stop in the middle of the first line."""
    one.sendall(b"POST /gradio_api/ca")


def half_a_body(one: socket.socket) -> None:
    """Announce a body, and send a part of it."""
    one.sendall(
        b"POST /gradio_api/call/fill_blanks HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\n"
        b'Content-Length: 1000\r\n\r\n{"data": ['
    )


def endless_headers(one: socket.socket) -> None:
    """Send headers as long as they are taken."""
    one.sendall(b"GET / HTTP/1.1\r\nHost: here\r\n")
    with suppress(OSError):  # closed, or taken no more
        for number in range(HEADER_MIB * MIB // 10_000):
            one.sendall(b"X-%d: %s\r\n" % (number, b"x" * 10_000))


def never_read(one: socket.socket) -> None:
    """Ask for large things, and read nothing."""
    one.sendall(b"GET /config HTTP/1.1\r\nHost: here\r\n\r\n" * 8)


SORTS: dict[str, tuple[Begin, int | None]] = {
    "half a line": (half_a_line, None),
    "half a body": (half_a_body, None),
    "endless headers": (endless_headers, MOST_HEADERS),
    "nothing is read": (never_read, MOST_HEADERS),
}


@contextmanager
def opened(address: str, count: int, begin: Begin) -> Iterator[list[socket.socket]]:
    """So many connections that begin like this."""
    port = urlsplit(address).port
    ours: list[socket.socket] = []
    try:
        for _ in range(count):
            one = socket.socket()
            ours.append(one)
            one.settimeout(2)
            with suppress(OSError):
                one.connect(("127.0.0.1", port))
                begin(one)
        yield ours
    finally:
        for one in ours:
            one.close()


def answered_after(address: str, number: int) -> float:
    """Seconds until a blank is filled for somebody else, or without end."""
    before = time.perf_counter()
    try:
        fill(address, MODEL, TEXT.format(number))
    except OSError:
        return float("inf")
    return time.perf_counter() - before


def still_open(server: psutil.Process) -> int:
    """Connections that the program has."""
    return sum(one.status == psutil.CONN_ESTABLISHED for one in server.net_connections("tcp"))


def measure(connections: int, files: int, seconds: float) -> list[tuple[str, ...]]:
    """A program of its own for each sort of client; what was found, a row each."""
    socket.setdefaulttimeout(GIVE_UP_SECONDS)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)
    rows = []
    for name, (begin, at_most) in SORTS.items():
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, most[1]))  # the program's, by inheritance
        with serving() as address:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most[1], most[1]))
            [server] = psutil.Process().children()
            fill(address, MODEL, TEXT.format(0))
            before = server.memory_info().rss / MIB
            with opened(address, min(connections, at_most or connections), begin):
                after = answered_after(address, 1)
                grown = server.memory_info().rss / MIB - before
                first = still_open(server)
                time.sleep(seconds)
                rows.append((name, f"{after:.2f} s", f"{grown:+.0f} MiB", str(first), str(still_open(server))))
    return rows


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--connections", type=int, default=1000)
    parser.add_argument("--files", type=int, default=1024, help="that the program may have open")
    parser.add_argument("--seconds", type=float, default=60, help="until the connections are counted again")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rows = measure(given.connections, given.files, given.seconds)
    head = ("what they do", "another is answered", "memory", "open then", f"after {given.seconds:g} s")
    if given.json:
        json.dump({"machine": describe_machine(), "head": head, "rows": rows}, sys.stdout, indent=2)
        print()
        return
    print_table(f"{given.connections} connections, {given.files} open files:", head, rows)
    print(f"Machine: {describe_machine()}")


if __name__ == "__main__":
    main()
