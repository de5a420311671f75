"""A one-blank question while others send anything to every endpoint, private handler and fetch of the page.

The inputs are those of tests/hostile/anything.py. Each sender asks one thing after the other, as pages do (queue), as
programs do (call), or as a component does (component_server), and reads until it is answered. Printed are how they
were answered, the longest that one took, and the seconds of the one-blank questions alone and meanwhile. A fault of
the program ends it with 1.

    python benchmarks/anything_sent.py [--inputs 10000] [--senders 6] [--seed 0]
"""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Any

import httpx
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from measuring import describe_machine, print_table
from serving import ROOT, fill, serving

sys.path.insert(0, str(ROOT))

import explorer  # noqa: E402
from explorer.tabs.page import build_page  # noqa: E402
from tests.hostile.anything import Senders, anything, clicks  # noqa: E402
from tests.hostile.anything_page import handlers_of  # noqa: E402

MODEL = "MiniLM (masked)"
LIGHT = "Question number {} is about the ___."
OURS = "on our side"
JSON = {"content-type": "application/json"}
PAUSE_SECONDS = 0.5
GIVE_UP_SECONDS = 700  # somewhat beyond settings().longest_analysis_seconds
ALONE_SECONDS = 20
EACH_PAGE = 100  # questions, then the sender opens another


@dataclass
class Asked:
    """Something that is sent.

    Attributes:
        what: The handler, endpoint or function.
        path: Where it is sent to.
        body: What is sent.
        is_queued: Whether the answer is read from the queue of a page, and not from the address of an event.
    """

    what: str
    path: str
    body: dict[str, Any]
    is_queued: bool = False


def make_inputs(count: int, number: int) -> list[Asked]:
    """What is sent, the same for the same number."""
    page = build_page(explorer.open_registry())
    senders, made = Senders(page), []
    fetches = [(block._id, fn.__name__) for block in page.blocks.values() for fn in getattr(block, "server_fns", ())]

    @seed(number)
    @settings(max_examples=count, database=None, deadline=None, phases=[Phase.generate],
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(st.sampled_from(handlers_of(page)), clicks(), st.integers(0, 30), st.sampled_from(fetches), st.data())
    def make(handler, click, chance, fetch, data) -> None:
        if chance == 17:
            body = {"component_id": fetch[0], "fn_name": fetch[1], "data": data.draw(anything)}
            made.append(Asked(fetch[1], "component_server", body, is_queued=False))
            return
        sent = data.draw(senders.values(handler))
        if handler.api_visibility == "private":
            body = {"data": sent, "fn_index": handler._id, "event_data": click, "trigger_id": None}
            made.append(Asked(f"{handler.fn}", "queue/join", body, is_queued=True))
        else:
            made.append(Asked(handler.api_name, f"call/{handler.api_name}", {"data": sent}))

    make()
    return made


def send(http: httpx.Client, asked: Asked, session: str) -> tuple[str, str]:
    """Ask, and read until it is answered; how, and what was said."""
    body = asked.body if asked.path.startswith("call/") else asked.body | {"session_hash": session}
    answer = http.post(asked.path, content=json.dumps(body), headers=JSON)
    if answer.is_error or asked.path == "component_server":
        return f"status {answer.status_code}", answer.text
    event = answer.json()["event_id"]
    if asked.is_queued:
        with http.stream("GET", "queue/data", params={"session_hash": session}) as stream:
            ends = (line for line in stream.iter_lines() if "process_completed" in line and event in line)
            told = next(ends, "nothing")
    else:
        told = http.get(f"{asked.path}/{event}").text
    if "event: complete" in told or '"success":true' in told:
        return "answered", told
    return ("told what is wrong" if "error" in told else "not answered"), told


def send_all(address: str, inputs: list[Asked], sender: int, seconds: list[float]) -> Counter:
    """Send one after the other; how they were answered."""
    found: Counter = Counter()
    with httpx.Client(base_url=f"{address}gradio_api/", timeout=GIVE_UP_SECONDS) as http:
        for number, asked in enumerate(inputs):
            began = time.perf_counter()
            how, told = send(http, asked, f"sender {sender} page {number // EACH_PAGE}")
            seconds.append(time.perf_counter() - began)
            if OURS in told or how in ("not answered", "status 500"):
                how = "a fault"
                print(f"FAULT {asked}: {told[max(0, told.find(OURS) - 200) :][:400]}", file=sys.stderr)
            found[how] += 1
    return found


def time_questions(address: str, first: int, seconds: list[float], ended: Event) -> None:
    """Ask one-blank questions with pauses between, until it has ended."""
    number = first
    while not ended.is_set():
        began = time.perf_counter()
        fill(address, MODEL, LIGHT.format(number))
        seconds.append(time.perf_counter() - began)
        number += 1
        ended.wait(PAUSE_SECONDS)


@contextmanager
def questions(address: str, first: int, seconds: list[float]) -> Iterator[None]:
    """Inside, one-blank questions are asked, and timed."""
    ended = Event()
    asking = Thread(target=time_questions, args=(address, first, seconds, ended))
    asking.start()
    try:
        yield
    finally:
        ended.set()
        asking.join()


def main() -> None:
    """Start the program, ask, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=2000)
    parser.add_argument("--senders", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    inputs = make_inputs(options.inputs, options.seed)
    alone, meanwhile, answered = [], [], []
    with TemporaryDirectory() as folder, serving({"EXPLORER_JOBS_FOLDER": folder}) as address:
        fill(address, MODEL, LIGHT.format(0))  # the model is here now
        with questions(address, 1, alone):
            time.sleep(ALONE_SECONDS)
        with questions(address, len(alone) + 1, meanwhile), ThreadPoolExecutor(options.senders) as pool:
            parts = [inputs[sender :: options.senders] for sender in range(options.senders)]
            sent = [pool.submit(send_all, address, part, number, answered) for number, part in enumerate(parts)]
            found = sum((one.result() for one in sent), Counter())
    rows = [
        (what, len(times), f"{median(times):.2f} s", f"{quantiles(times, n=20)[-1]:.2f} s", f"{max(times):.2f} s")
        for what, times in {"one blank, alone": alone, "one blank, meanwhile": meanwhile, "anything": answered}.items()
    ]
    head = ("what", "asked", "median", "p95", "longest")
    print_table(f"{len(inputs)} inputs by {options.senders} senders:", head, rows)
    print(f"How they were answered: {dict(found.most_common())}")
    print(f"Machine: {describe_machine()}")
    raise SystemExit(1 if found["a fault"] else 0)


if __name__ == "__main__":
    main()
