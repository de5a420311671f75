"""Two replicas on a Ray Serve cluster of this machine: what asking there costs, and what happens when one is lost.

Needs the extra "ray". One replica is killed while questions are at work, another halted; callers leave large questions.

python benchmarks/ray_replicas.py [--questions 60] [--rounds 100] [--json]
"""

import argparse
import json
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from threading import Event
from typing import Any

import ray
from measuring import describe_machine, print_table, ratio_of, take_turns

from explorer import open_registry
from explorer.analysis.fill_blanks import fill_blanks
from explorer.errors import ExplorerError
from explorer.models.backend import LoadedModel
from explorer.models.callers import Caller, calling
from explorer.models.local import LocalBackend
from explorer.models.ray_serve import RayServeBackend, deploy
from explorer.settings import Settings

APPLICATION = "benchmark"
TEXT = "Student number {} wrote the ___ on the board."
LARGE = 300  # fills in a question that its caller leaves
LEAVERS = 8
GIVE_UP_SECONDS = 60


def slowly(model: LoadedModel, text: str) -> Any:
    """Fill the blank after a second, so that all are at work when the replica dies."""
    time.sleep(1.0)
    return fill_blanks(model, text)


def many(model: LoadedModel, number: int) -> None:
    """Fill very many blanks."""
    for fill in range(LARGE):
        fill_blanks(model, TEXT.format(1000 * number + fill))


def process(model: LoadedModel) -> int:
    """Where the model is."""
    return os.getpid()


def ask_and_kill(backend: RayServeBackend, card: Any, questions: int) -> dict[str, int]:
    """Ask all at once, kill a replica meanwhile, and count what was answered."""
    victim = backend.run(card, process)

    def ask(number: int) -> str:
        try:
            backend.run(card, partial(slowly, text=TEXT.format(number)))
        except ExplorerError as error:
            return type(error).__name__
        return "answered"

    with ThreadPoolExecutor(questions) as pool:
        asked = [pool.submit(ask, number) for number in range(questions)]
        time.sleep(0.8)
        os.kill(victim, signal.SIGKILL)
        return dict(Counter(answer.result() for answer in asked))


def seconds_of(work: Callable[[], Any]) -> float:
    """How long it takes, or as long as one would wait for it."""
    start = time.perf_counter()
    answer = ThreadPoolExecutor(1).submit(work)
    try:
        answer.result(GIVE_UP_SECONDS)
    except TimeoutError:
        return float("inf")
    return time.perf_counter() - start


def status_beside_a_halted_replica(backend: RayServeBackend, card: Any) -> float:
    """Seconds until the state of the models is told."""
    victim = backend.run(card, process)
    os.kill(victim, signal.SIGSTOP)
    try:
        return seconds_of(backend.status)
    finally:
        os.kill(victim, signal.SIGCONT)


def work_after_leaving(backend: RayServeBackend, card: Any) -> float:
    """Seconds that the replicas go on with large questions after their callers have left."""
    left = Event()

    def ask(number: int) -> None:
        with calling(Caller(f"leaver {number}", lambda: not left.is_set())), suppress(ExplorerError):
            backend.run(card, partial(many, number=number))

    def wait_until_idle() -> None:
        while backend.status()[card].users:
            time.sleep(0.05)

    pool = ThreadPoolExecutor(LEAVERS)
    for number in range(LEAVERS):
        pool.submit(ask, number)
    time.sleep(1.0)
    left.set()
    seconds = seconds_of(wait_until_idle)
    pool.shutdown()
    return seconds


def main() -> None:
    """Start a cluster, ask, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="MiniLM (masked)")
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    ray.init(num_cpus=8, include_dashboard=False, log_to_driver=False, object_store_memory=200 * 2**20)
    limits = Settings(device="cpu", analyses_at_once=2)
    deploy(APPLICATION, replicas=2, limits=limits)
    backend, here = RayServeBackend(APPLICATION), LocalBackend(settings=limits)
    card = open_registry().card(options.model)
    backend.load(card)
    seconds = take_turns(
        {
            "here": lambda turn: here.run(card, partial(fill_blanks, text=TEXT.format(turn))),
            "there": lambda turn: backend.run(card, partial(fill_blanks, text=TEXT.format(turn))),
        },
        options.rounds,
    )
    found = {
        "one blank in this process, ms": round(1000 * sorted(seconds["here"])[options.rounds // 2], 1),
        "one blank in a replica, ms": round(1000 * sorted(seconds["there"])[options.rounds // 2], 1),
        "ratio": str(ratio_of(seconds["there"], seconds["here"])),
        "status of the models, ms": round(1000 * seconds_of(backend.status), 1),
        f"work on {LEAVERS} large questions after they were left, s": round(work_after_leaving(backend, card), 2),
        "status beside a halted replica, s": round(status_beside_a_halted_replica(backend, card), 2),
        f"{options.questions} questions, a replica killed": str(ask_and_kill(backend, card, options.questions)),
    }
    machine = describe_machine() | {"model": options.model}
    if options.json:
        json.dump({"machine": machine, "found": found}, sys.stdout, indent=2)
        print()
    else:
        print("\n".join(f"{key}: {value}" for key, value in machine.items()))
        print_table("Two replicas:", ("what", "found"), [(what, str(number)) for what, number in found.items()])
    sys.stdout.flush()
    os._exit(0)  # what was asked of a halted replica may never come back


if __name__ == "__main__":
    main()
