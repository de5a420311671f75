"""How usable the page stays while a job of fine-tuning runs: fills over HTTP before, during and after it.

The program as `python app.py` starts it, on loopback; visitors fill a blank one after another, each time another text,
while the worker fine-tunes everything of a model on generated sentences. Told are the median and the 95th percentile of
the fills, the speed of the job, and how long the worker and its jobs take to start, to stop and to go on.

    python benchmarks/fine_tuning_jobs.py [--model NAME] [--method full] [--fills 60] [--visitors 1] [--json]
"""

import argparse
import json
import random
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from gradio_client import Client
from measuring import describe_machine, print_table
from serving import serving

OWNER = "owner-of-the-benchmark"
MOST_SECONDS = 300.0  # waited for anything
FILL_MODEL = "MiniLM (masked)"
NOUNS = "teacher child musician river garden window letter winter summer train ticket kitchen".split()
GOOD, BAD = "lovely warm brilliant clear bright".split(), "dull cold broken noisy bitter".split()


def make_rows(count: int) -> list[dict[str, str]]:
    """Sentences of some twenty words that differ, of two classes."""
    draw, rows = random.Random(0), []
    for number in range(count):
        words = [f"the {draw.choice(GOOD if number % 2 else BAD)} {draw.choice(NOUNS)}" for _ in range(6)]
        rows.append(
            {"text": f"In chapter {number} we met {', '.join(words)}.", "label": "good" if number % 2 else "bad"}
        )
    return rows


def fill(client: Client, number: int) -> float:
    """Seconds that one fill takes; no text comes twice, so that nothing is kept."""
    draw = random.Random(number)
    text = f"The {draw.choice(NOUNS)} number {number} was ___ by the {draw.choice(NOUNS)}."
    began = time.perf_counter()
    answer = client.predict(text=text, model=FILL_MODEL, api_name="/fill_blanks")
    assert answer["blanks"][0]["choices"]
    return time.perf_counter() - began


def fill_many(address: str, fills: int, visitors: int, first: int) -> list[float]:
    """Fills of several visitors at a time, each after an answer to the one before."""

    def visit(visitor: int) -> list[float]:
        client = Client(address, verbose=False)
        return [fill(client, first + visitor * fills + turn) for turn in range(fills)]

    with ThreadPoolExecutor(visitors) as pool:
        return [seconds for some in pool.map(visit, range(visitors)) for seconds in some]


def wait_for(condition: Callable[[], object]) -> float:
    """Seconds until it holds."""
    began = time.perf_counter()
    while not condition():
        if time.perf_counter() - began > MOST_SECONDS:
            raise TimeoutError("the job did not come that far")
        time.sleep(0.05)
    return time.perf_counter() - began


def measure(options: argparse.Namespace, folder: Path) -> dict[str, object]:
    """All of it, on one page."""
    with serving({"EXPLORER_JOBS_FOLDER": str(folder)}) as address:
        client = Client(address, verbose=False)

        def look(id: str) -> dict:
            status = client.predict(owner=OWNER, job=id, api_name="/find_job")
            if status["state"] in {"failed", "done"}:
                raise RuntimeError(status["message"] or "the job was done too soon")
            return status

        def start() -> str:
            asked = {"epochs": 100.0, "evaluations": 4, "batch_size": 16}
            return client.predict(
                owner=OWNER, model=options.model, methods=[options.method], examples=make_rows(1000), options=asked,
                api_name="/start_fine_tuning",
            )["id"]  # fmt: skip

        fill_many(address, 5, 1, 10**6)  # which loads the model
        found: dict[str, object] = {"fills alone": fill_many(address, options.fills, options.visitors, 0)}
        id = start()
        found["seconds to the first step"] = wait_for(lambda: look(id)["last"])
        time.sleep(3)
        print("measured the page alone, and started a job", file=sys.stderr)
        found["fills beside a job"] = fill_many(address, options.fills, options.visitors, 10**4)
        during = look(id)
        assert during["state"] == "running", during["message"]
        found["examples/s beside fills"] = during["last"]["0"]["examples_per_second"]
        client.predict(owner=OWNER, job=id, api_name="/stop_job")
        found["seconds to stop"] = wait_for(lambda: look(id)["state"] == "stopped")
        print("measured the page beside it, and stopped it", file=sys.stderr)
        client.predict(owner=OWNER, job=id, api_name="/resume_job")
        step = during["last"]["0"]["step"]
        found["seconds to go on"] = wait_for(lambda: look(id)["last"]["0"]["step"] > step)
        time.sleep(10)
        found["examples/s alone"] = look(id)["last"]["0"]["examples_per_second"]
        client.predict(owner=OWNER, job=id, api_name="/delete_job")
        found["seconds to leave the disk"] = wait_for(lambda: not any((folder / "jobs").iterdir()))
        return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="all-MiniLM-L6-v2")
    parser.add_argument("--method", default="full")
    parser.add_argument("--fills", type=int, default=60)
    parser.add_argument("--visitors", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
        found = measure(options, Path(temporary) / "jobs")
    if options.json:
        print(json.dumps({"machine": describe_machine(), "results": found}))
        return
    for name, value in describe_machine().items():
        print(f"{name}: {value}")
    rows = [[name, *(f"{1000 * np.percentile(value, share):.0f}" for share in (50, 95, 100))]
            for name, value in found.items() if isinstance(value, list)]  # fmt: skip
    title = f"Fills of {options.visitors} visitors at a time, {options.fills} each, in milliseconds"
    print_table(title, ["", "median", "95 %", "longest"], rows)
    rows = [[name, f"{value:.2f}"] for name, value in found.items() if not isinstance(value, list)]
    print_table(f"{options.model}, {options.method}", ["", "value"], rows)


if __name__ == "__main__":
    main()
