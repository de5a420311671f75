"""How the benchmarks time and report: contestants take turns, and every ratio says how sure it is."""

import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np

BOOTSTRAP_SAMPLES = 4000
CONFIDENCE_PERCENT = 95


@dataclass(frozen=True)
class Ratio:
    """How many times as long one contestant takes as another.

    Attributes:
        value: Ratio of the medians.
        low: Lower end of the 95 % bootstrap interval.
        high: Upper end.
    """

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        """Value and interval, as tables show it."""
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"


def take_turns(
    contestants: Mapping[str, Callable[[int], object]], rounds: int, warm_up: int = 2
) -> dict[str, list[float]]:
    """Seconds of every run. All contestants run in every round, so that a busy moment of the machine hits them alike.

    Args:
        contestants: What to time; each is given the number of the round.
        rounds: How often each is timed.
        warm_up: Rounds before that, not timed.
    """
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    order = list(contestants)
    for turn in range(-warm_up, rounds):
        order = order[1:] + order[:1]  # nobody is always first
        for name in order:
            start = time.perf_counter()
            contestants[name](max(turn, 0))
            if turn >= 0:
                seconds[name].append(time.perf_counter() - start)
    return seconds


def ratio_of(slow: Sequence[float], fast: Sequence[float]) -> Ratio:
    """Median of the first over median of the second; rounds are resampled in pairs.

    Source: the percentile bootstrap, Efron 1979, https://doi.org/10.1214/aos/1176344552
    """
    paired = np.array([slow, fast])
    rounds = np.random.default_rng(0).integers(0, paired.shape[1], (BOOTSTRAP_SAMPLES, paired.shape[1]))
    medians = np.median(paired[:, rounds], axis=-1)
    tail = (100 - CONFIDENCE_PERCENT) / 2
    low, high = np.percentile(medians[0] / medians[1], [tail, 100 - tail])
    return Ratio(float(np.median(paired[0]) / np.median(paired[1])), float(low), float(high))


def describe_machine() -> dict[str, str]:
    """What the numbers depend on."""
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "load before": f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown",
        "system": platform.platform(),
        "python": platform.python_version(),
        **{name: version(name) for name in ("torch", "transformers", "gradio") if _is_installed(name)},
    }


def print_table(title: str, head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A Markdown table, ready for the README."""
    cells = [[str(cell) for cell in row] for row in (head, *rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    cells.insert(1, ["-" * width for width in widths])
    print(f"\n{title}\n")
    for row in cells:
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |")


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _is_installed(name: str) -> bool:
    try:
        version(name)
    except ModuleNotFoundError:
        return False
    return True
