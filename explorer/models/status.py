"""What is in memory where, as a page may show it: frozen, small, importable without torch."""

from dataclasses import dataclass
from typing import Literal

State = Literal["not loaded", "downloading", "loading", "ready"]


@dataclass(frozen=True)
class ModelStatus:
    """How one model stands at this moment.

    Attributes:
        name: Name on its card.
        state: "downloading" and "loading" are on the way to "ready".
        device: Where it is, e.g. "cuda"; "" while it is not loaded.
        weights_bytes: Memory held for its weights: measured when ready, expected while they are read, 0 before that.
        progress: Share of the download or load that is done, in [0, 1]; None = unknown or not under way.
        users: How many analyses hold it now.
        idle_seconds: Since the last analysis ended; 0 while one is at work or none has been.
    """

    name: str
    state: State = "not loaded"
    device: str = ""
    weights_bytes: int = 0
    progress: float | None = None
    users: int = 0
    idle_seconds: float = 0.0


@dataclass(frozen=True)
class Budget:
    """The memory that model weights may take on a device.

    Attributes:
        device: E.g. "cpu", "cuda", "mps".
        limit_bytes: The most that weights may take.
        used_bytes: What the models that are loaded or on their way take.
        device_bytes: Memory of the device.
    """

    device: str
    limit_bytes: int
    used_bytes: int
    device_bytes: int


def format_bytes(count: int) -> str:
    """A size as people read it, e.g. "1.3 GiB" or "90 MiB".

    Args:
        count: In bytes, 0 or more.
    """
    if count >= 2**30:
        return f"{count / 2**30:.1f} GiB"
    if count >= 2**20:
        return f"{count / 2**20:.0f} MiB"
    return f"{count / 2**10:.0f} KiB"
