"""A one-blank question while others ask for the most that the page offers; and what is left of that once they hang up.

Each heavy visitor has a session of its own and asks, --each times at once, for 10 blanks, 20 sentences, of about 240
tokens; or, with --heads, for all heads on as many texts of 120 tokens as one may send. Printed are the seconds of
one-blank questions alone and meanwhile, how many of the heavy ones were answered, and how long the program goes on
computing when all have hung up.

    python benchmarks/heavy_questions.py [--visitors 8] [--each 1] [--heads] [--questions 40] [--json]
"""

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median, quantiles
from threading import Thread

import httpx
import psutil
from measuring import describe_machine, print_table
from serving import GIVE_UP_SECONDS, fill, serving

from explorer.settings import settings

WORDS = "the old man opened his book and read about a small town near the sea where people lived in peace".split()
TOKENS, BLANKS, SENTENCES = 226, 10, 20
HEADS_TOKENS = 116
LIGHT = "Question number {} is about the ___."
IDLE_SHARE, LOOK_SECONDS = 0.2, 0.25  # of one core
PATIENCE_SECONDS = 150


def heavy_text(number: int) -> str:
    """A text that nobody else asks for."""
    words = _words(number, TOKENS)
    for blank in range(BLANKS):
        words[blank * TOKENS // BLANKS + 5] = "___"
    return " ".join(words)


def heads_texts(number: int) -> list[str]:
    """Texts that nobody else sends together."""
    return [" ".join([f"number {number},", *_words(text, HEADS_TOKENS)]) for text in range(settings().most_texts)]


def _words(number: int, count: int) -> list[str]:
    return (WORDS[number % len(WORDS) :] + WORDS * count)[:count]


@dataclass
class Heavy:
    """A visitor who asks for much, and hangs up when cancelled."""

    address: str
    model: str
    number: int
    session: str
    asks_heads: bool
    is_heard: bool = False
    answered_seconds: float | None = None

    async def ask(self) -> None:
        """Ask once, and listen."""
        if self.asks_heads:
            endpoint, asked = "measure_heads", [heads_texts(self.number), self.model, 0]
        else:
            endpoint, asked = "fill_blanks", [heavy_text(self.number), self.model, SENTENCES, SENTENCES, "joint"]
        body = {"data": asked, "session_hash": self.session}
        call = f"{self.address}gradio_api/call/{endpoint}"
        began = time.perf_counter()
        async with httpx.AsyncClient(timeout=None) as http:
            event = (await http.post(call, json=body)).raise_for_status().json()["event_id"]
            async with http.stream("GET", f"{call}/{event}") as answer:
                self.is_heard = True
                async for line in answer.aiter_lines():
                    if "event: complete" in line:
                        self.answered_seconds = time.perf_counter() - began


@contextmanager
def burdened(address: str, model: str, visitors: int, each: int, asks_heads: bool) -> Iterator[list[Heavy]]:
    """Inside, that many visitors ask for much, each so many times at once; at the end all have hung up."""
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever)
    thread.start()
    heavy = [
        Heavy(address, model, number, f"heavy {number % visitors}", asks_heads) for number in range(visitors * each)
    ]
    asked = [asyncio.run_coroutine_threadsafe(visitor.ask(), loop) for visitor in heavy]
    try:
        yield heavy
    finally:
        for one in asked:
            one.cancel()
        asyncio.run_coroutine_threadsafe(_settle(), loop).result(GIVE_UP_SECONDS)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _settle() -> None:
    """Wait until all others are over."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    await asyncio.gather(*others, return_exceptions=True)


def time_questions(address: str, model: str, numbers: range) -> list[float]:
    """Seconds of one-blank questions, one after the other; fewer where patience ends."""
    waits: list[float] = []
    while len(waits) < len(numbers) and sum(waits) < PATIENCE_SECONDS:
        began = time.perf_counter()
        fill(address, model, LIGHT.format(numbers[len(waits)]))
        waits.append(time.perf_counter() - began)
    return waits


def seconds_until_idle(program: psutil.Process) -> float:
    """How long a process computes from now on."""
    began = time.perf_counter()
    while time.perf_counter() - began < PATIENCE_SECONDS:
        before = sum(program.cpu_times()[:2])
        time.sleep(LOOK_SECONDS)
        if sum(program.cpu_times()[:2]) - before < IDLE_SHARE * LOOK_SECONDS:
            return time.perf_counter() - began - LOOK_SECONDS
    return time.perf_counter() - began


def find_program() -> psutil.Process:
    """The program that `serving` started."""
    return next(child for child in psutil.Process().children() if "app.py" in child.cmdline())


def main() -> None:
    """Start the program, ask, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="MiniLM (masked)")
    parser.add_argument("--visitors", type=int, default=8)
    parser.add_argument("--each", type=int, default=1, help="questions of each of them")
    parser.add_argument("--heads", action="store_true", help="they ask for all heads, not for 10 blanks")
    parser.add_argument("--questions", type=int, default=40)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    with serving() as address:
        count = options.questions
        time_questions(address, options.model, range(-2, 0))  # the model is here now
        alone = time_questions(address, options.model, range(count))
        with burdened(address, options.model, options.visitors, options.each, options.heads) as heavy:
            deadline = time.monotonic() + PATIENCE_SECONDS
            while not all(visitor.is_heard for visitor in heavy):
                assert time.monotonic() < deadline
                time.sleep(LOOK_SECONDS)
            meanwhile = time_questions(address, options.model, range(count, 2 * count))
            time.sleep(1)
        idle_seconds = seconds_until_idle(find_program())
    answered = [visitor.answered_seconds for visitor in heavy if visitor.answered_seconds is not None]
    machine = describe_machine() | {"model": options.model}
    if options.json:
        found = {"alone": alone, "meanwhile": meanwhile, "heavy": answered, "seconds until idle": idle_seconds}
        json.dump({"machine": machine, "seconds": found}, sys.stdout, indent=2)
        print()
        return
    rows = [
        (what, len(waits), f"{median(waits):.2f} s", f"{quantiles(waits, n=20)[-1]:.2f} s", f"{max(waits):.2f} s")
        for what, waits in {"alone": alone, f"beside {len(heavy)} heavy ones": meanwhile}.items()
    ]
    print_table("One-blank questions, one after the other:", ("when", "answers", "median", "p95", "longest"), rows)
    print(f"Heavy questions answered meanwhile: {len(answered)} of {len(heavy)}, of {options.visitors} visitors.")
    print(f"Once all had hung up, the program computed for {idle_seconds:.1f} s more.")
    print(f"Machine: {machine}")


if __name__ == "__main__":
    main()
