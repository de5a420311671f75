"""How far a download or a load has come."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """One report of work under way.

    Attributes:
        done_bytes: Done so far.
        total_bytes: When it will be done; 0 = unknown.
        what: What is being done, for people: "downloading", "checking" or "loading".
    """

    done_bytes: int
    total_bytes: int
    what: str


Report = Callable[[Progress], None]


def ignore(progress: Progress) -> None:
    """The report of someone who does not want to know."""
