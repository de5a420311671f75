"""Visitors who write at once, as their pages ask for it: tokens per second, the first token, the longest pause.

Each has a session of its own, presses Write, and reads the stream that the page reads. That all of them get all of
their tokens is asserted, time never is. And how long a text goes on being written once its page is closed.

    python benchmarks/writers.py [--rounds 5] [--tokens 60] [--visitors 16] [--json]
"""

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial
from itertools import count
from statistics import median
from threading import Barrier, Event, Thread
from urllib.request import urlopen

from measuring import describe_machine, print_table, ratio_of, take_turns
from serving import GIVE_UP_SECONDS, read, serving

import explorer
from explorer import analysis
from explorer.models.registry import Registry
from explorer.tabs.page import build_page

PROMPT = "Visitor number {} opened the letter, and"
STEP = r"\"kind\":\"step\""  # of a line of the sheet, as it stands in a message
LONG = 200  # tokens, more than are written before the page is closed
visits = count()


@dataclass(frozen=True)
class WriteEvent:
    """What the page sends when Write is pressed.

    Attributes:
        address: Of the program.
        index: Of the function.
        trigger: Id of the button.
        labels: Of the inputs.
        values: What they hold before anybody touches them.
    """

    address: str
    index: int
    trigger: int
    labels: tuple[str | None, ...]
    values: tuple[object, ...]

    def join(self, session: str, **changed: object) -> None:
        """Press Write in a session; what is changed goes by the labels of the inputs."""
        data = [changed.get(str(label), value) for label, value in zip(self.labels, self.values, strict=True)]
        asked = {"data": data, "fn_index": self.index, "trigger_id": self.trigger, "session_hash": session}
        read(f"{self.address}gradio_api/queue/join", asked | {"event_data": None})

    def messages(self, session: str) -> Iterator[tuple[str, str]]:
        """Kind and text of each message, as the page gets it; closing the iterator leaves the page."""
        with urlopen(f"{self.address}gradio_api/queue/data?session_hash={session}", timeout=GIVE_UP_SECONDS) as stream:
            for line in stream:
                if line.startswith(b"data:"):
                    text = line[5:].decode()
                    yield json.loads(text)["msg"], text


def find_write(address: str) -> WriteEvent:
    """The event, from what the program says of its page."""
    page = json.loads(read(f"{address}config"))
    components = {component["id"]: component["props"] for component in page["components"]}
    button = next(id for id, props in components.items() if props.get("elem_id") == "generate-write")
    event = next(event for event in page["dependencies"] if [button, "click"] in map(list, event["targets"]))
    inputs = [components[id] for id in event["inputs"]]
    labels, values = zip(*((props.get("label"), props.get("value")) for props in inputs), strict=True)
    return WriteEvent(address, event["id"], button, labels, values)


@dataclass(frozen=True)
class Visit:
    """What one visitor saw, in seconds.

    Attributes:
        first: From the press to the first token.
        pause: The longest between two messages with tokens.
    """

    first: float
    pause: float


def visit(write: WriteEvent, tokens: int, number: int, start: Barrier, found: list[Visit]) -> None:
    """Press Write together with the others, and read to the end."""
    session = f"visit{next(visits)}"
    start.wait()
    times, written = [time.perf_counter()], 0
    write.join(session, Prompt=PROMPT.format(number), Strategy="greedy", Length=tokens)
    for kind, text in write.messages(session):
        if kind == "process_generating" and STEP in text:
            written += text.count(STEP)
            times.append(time.perf_counter())
        if kind == "process_completed":
            break
    assert written == tokens, f"{written} of {tokens} tokens"
    gaps = [later - earlier for earlier, later in zip(times, times[1:], strict=False)]
    found.append(Visit(gaps[0], max(gaps[1:], default=0.0)))


def write_at_once(write: WriteEvent, tokens: int, visitors: int, found: list[Visit]) -> None:
    """All visitors at the same time."""
    start, told = Barrier(visitors), len(found) + visitors
    threads = [Thread(target=visit, args=(write, tokens, number, start, found)) for number in range(visitors)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == told, "a stream did not get all of its tokens"


def leaving_seconds(registry: Registry, rounds: int) -> list[float]:
    """From the moment that a page is closed until nothing is written for it any more, in this very process."""
    original, ended = analysis.continue_text, Event()

    def watched(*arguments: object, **options: object) -> Iterator[object]:
        try:
            yield from original(*arguments, **options)
        finally:
            ended.set()

    analysis.continue_text = watched
    page = build_page(registry)
    page.launch(prevent_thread_lock=True, quiet=True, ssr_mode=False, _frontend=False)
    try:
        write, seconds = find_write(page.local_url), []
        for number in range(-1, rounds):
            session = f"visit{next(visits)}"
            ended.clear()
            write.join(session, Prompt=PROMPT.format(number), Length=LONG)
            messages = write.messages(session)
            assert any(STEP in text for _, text in messages), "nothing was written"
            assert not ended.is_set(), "all was written before the page could be closed"
            messages.close()
            left = time.perf_counter()
            assert ended.wait(GIVE_UP_SECONDS), "it goes on and on"
            seconds += [time.perf_counter() - left] * (number >= 0)
    finally:
        page.close()
        analysis.continue_text = original
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=60)
    parser.add_argument("--visitors", type=int, default=16)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    machine, crowds = describe_machine(), {"one": 1, "many": options.visitors}
    found: dict[str, list[Visit]] = {name: [] for name in crowds}
    with serving() as address:
        write = find_write(address)
        ask = partial(write_at_once, write, options.tokens)
        contestants = {
            name: lambda _, visitors=visitors, seen=found[name]: ask(visitors, seen)
            for name, visitors in crowds.items()
        }
        seconds = take_turns(contestants, options.rounds, warm_up=1)
    left = leaving_seconds(explorer.open_registry(), options.rounds)
    found = {name: found[name][visitors:] for name, visitors in crowds.items()}  # without the warm-up
    gain = ratio_of([options.visitors * each for each in seconds["one"]], seconds["many"])
    if options.json:
        told = {"machine": machine, "seconds": seconds, "gain": asdict(gain), "leaving_seconds": left}
        print(json.dumps(told | {name: [asdict(each) for each in seen] for name, seen in found.items()}))
        return
    rows = []
    for name, visitors in crowds.items():
        firsts = [each.first for each in found[name]]
        waits = median(firsts), max(firsts), max(each.pause for each in found[name])
        rate = visitors * options.tokens / median(seconds[name])
        rows.append([visitors, f"{rate:.0f}", *(f"{wait:.2f} s" for wait in waits)])
    head = ["visitors", "tokens per second", "first token, median", "first token, last", "longest pause"]
    print_table(f"{options.tokens} tokens each, {options.rounds} rounds; {gain} times the tokens of one", head, rows)
    print(f"\nA closed page is no more written for after {median(left):.2f} s (median), {max(left):.2f} s (longest)")
    print(f"Machine: {machine}")


if __name__ == "__main__":
    main()
