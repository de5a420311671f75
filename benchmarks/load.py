"""A class at work: visitors who open the page and then ask, with time to think between, questions of every kind.

Each visitor has a page of his own. A third of all questions are the lesson's, which others ask, too; the others are his
own. Printed are, for each kind of question, how many were asked and lost, and the seconds until the whole answer came;
and the memory of the program, minute by minute. A lost question ends it with 1.

    python benchmarks/load.py [--visitors 40] [--minutes 5] [--think 6] [--json]
"""

import argparse
import asyncio
import json
import random
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median, quantiles
from typing import Any

import httpx
from heavy_questions import find_program
from measuring import describe_machine, print_table
from serving import serving

MIB = 2**20
GIVE_UP_SECONDS = 150  # somewhat beyond settings().longest_wait_seconds
LESSON_SHARE = 1 / 3
LOOK_SECONDS = 1.0
NAMES = ("Anna", "Ben", "Carla", "David", "Ella", "Finn", "Greta", "Hugo")
THINGS = ("letter", "song", "recipe", "map", "poem", "story", "plan", "report")


def own(rng: random.Random) -> str:
    """A sentence that hardly anybody else asks about."""
    return f"{rng.choice(NAMES)} read a {rng.choice(THINGS)} on day {rng.randrange(10**6)} and"


PLAYS = ["They play in the park.", "We saw a play at school.", "She will play the queen.", "The play was too long."]
# How often each is asked among all, and what is asked: of the lesson (None), or by a visitor.
KINDS: dict[str, tuple[int, Callable[[random.Random | None], dict[str, Any]]]] = {
    "fill_blanks": (8, lambda rng: {"text": f"{own(rng)} smiled at the ___." if rng else "The cat sat on the ___."}),
    "tokenize_text": (2, lambda rng: {"text": own(rng) if rng else "Unbelievable tokenizers."}),
    "next_tokens": (3, lambda rng: {"prompt": own(rng) if rng else "The old man opened"}),
    "continue_text": (3, lambda rng: {"prompt": own(rng) if rng else "Once upon a time", "max_new_tokens": 30}),
    "score_text": (2, lambda rng: {"text": f"{own(rng)} smiled." if rng else "The dogs bark."}),
    "fill_spans": (1, lambda rng: {"text": f"{own(rng)} ___ it." if rng else "They ___ the house."}),
    "read_attention": (3, lambda rng: {"text": own(rng) if rng else "The bank of the river.", "layer": 2, "head": 3}),
    "find_neighbours": (2, lambda rng: {"sentences": [*PLAYS, f"{own(rng)} went to a play."] if rng else PLAYS,
                                        "word": "play"}),
    "project_occurrences": (1, lambda rng: {"sentences": [*PLAYS, f"{own(rng)} play."] if rng else PLAYS,
                                            "word": "play", "layers": [6]}),
}  # fmt: skip


@dataclass
class Found:
    """What came of the questions.

    Attributes:
        seconds: Of each kind, until each answer was there.
        lost: Of each kind, what was said instead.
        memory_mib: Of the program, at each look.
    """

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    lost: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    memory_mib: list[float] = field(default_factory=list)


async def visit(address: str, number: int, ends: float, think_seconds: float, found: Found) -> None:
    """Open the page, and ask until the time is over."""
    rng = random.Random(number)
    kinds, shares = list(KINDS), [share for share, _ in KINDS.values()]
    async with httpx.AsyncClient(base_url=address, timeout=GIVE_UP_SECONDS) as http:
        await asyncio.sleep(rng.uniform(0, think_seconds))
        (await http.get("/")).raise_for_status()
        while (pause := rng.expovariate(1 / think_seconds)) < ends - time.monotonic():
            await asyncio.sleep(pause)
            [kind] = rng.choices(kinds, shares)
            asked = KINDS[kind][1](None if rng.random() < LESSON_SHARE else rng)
            began = time.perf_counter()
            try:
                answer = await http.post(f"/gradio_api/call/v2/{kind}", json=asked)
                event = answer.raise_for_status().json()["event_id"]
                told = (await http.get(f"/gradio_api/call/v2/{kind}/{event}")).text
            except httpx.HTTPError as error:
                told = repr(error)
            if "event: complete" in told:
                found.seconds[kind].append(time.perf_counter() - began)
            else:
                found.lost[kind].append(told[-300:])


async def attend(address: str, visitors: int, seconds: float, think_seconds: float, found: Found) -> None:
    """All visitors at once, and a look at the memory from time to time."""
    program = find_program()
    ends = time.monotonic() + seconds
    visits = [asyncio.create_task(visit(address, n, ends, think_seconds, found)) for n in range(visitors)]
    while not all(one.done() for one in visits):
        found.memory_mib.append(program.memory_info().rss / MIB)
        await asyncio.sleep(LOOK_SECONDS)
    await asyncio.gather(*visits)


def main() -> None:
    """Start the program, ask, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--visitors", type=int, default=40)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--think", type=float, default=6, help="seconds between an answer and the next question, mean")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    found = Found()
    with serving() as address:
        asyncio.run(attend(address, options.visitors, 60 * options.minutes, options.think, found))
    every = [seconds for times in found.seconds.values() for seconds in times]
    lost = sum(map(len, found.lost.values()))
    minutes = found.memory_mib[:: round(60 / LOOK_SECONDS)]
    if options.json:
        json.dump(
            {"machine": describe_machine(), "seconds": found.seconds, "lost": found.lost, "memory_mib": minutes},
            sys.stdout, indent=2,
        )  # fmt: skip
        print()
    else:
        rows = [
            (kind, len(times), len(found.lost[kind]), f"{median(times):.2f} s", f"{quantiles(times, n=20)[-1]:.2f} s",
             f"{max(times):.2f} s")
            for kind, times in {**found.seconds, "all": every}.items() if len(times) > 1
        ]  # fmt: skip
        print_table(f"{options.visitors} visitors, {options.minutes:g} minutes, until each answer was there in full:",
                    ("question", "answered", "lost", "median", "p95", "longest"), rows)  # fmt: skip
        print(f"Lost: {lost} of {len(every) + lost}. {dict(found.lost) if lost else ''}")
        print(f"Memory, minute by minute: {', '.join(f'{one:,.0f}' for one in [*minutes, found.memory_mib[-1]])} MiB.")
        print(f"Machine: {describe_machine()}")
    raise SystemExit(1 if lost else 0)


if __name__ == "__main__":
    main()
