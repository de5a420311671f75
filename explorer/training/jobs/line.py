"""Who is next: the visitor who used the device least lately, and the place of everybody in line."""

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

HALF_LIFE_SECONDS = 1800.0  # half of what somebody used so long ago counts
TURN_SECONDS = 60.0  # what a job is taken to need while the line is foretold


@dataclass(frozen=True)
class Waiting:
    """A job in line.

    Attributes:
        id: Of the job.
        owner: Whose it is.
        number: Of its arrival: what decides between jobs of one owner, and between owners who used as much.
    """

    id: str
    owner: str
    number: int


@dataclass(frozen=True)
class Use:
    """What an owner used of the device.

    Attributes:
        seconds: As they counted at that time.
        at: Unix time, in seconds.
    """

    seconds: float
    at: float

    def counted(self, now: float) -> float:
        """What of it still counts, in seconds; a clock that went backwards takes nothing away and adds nothing."""
        return self.seconds * 0.5 ** (max(0.0, now - self.at) / HALF_LIFE_SECONDS)


@dataclass(frozen=True)
class Uses:
    """What everybody used of the device: owner -> use."""

    owners: dict[str, Use]


def order_line(waiting: Iterable[Waiting], used_seconds: Mapping[str, float]) -> tuple[str, ...]:
    """The ids of those who wait, next one first, each owner's in the order of their arrival.

    Args:
        waiting: In any order.
        used_seconds: Owner -> how long the device worked for them lately; none = not at all.

    Source: fair queueing by least attained service, Nuyens and Wierman 2008,
        https://doi.org/10.1016/j.peva.2007.06.028
    """
    lines: dict[str, deque[Waiting]] = defaultdict(deque)
    for one in sorted(waiting, key=lambda one: one.number):
        lines[one.owner].append(one)
    used = {owner: used_seconds.get(owner, 0.0) for owner in lines}
    order = []
    while lines:
        owner = min(lines, key=lambda owner: (used[owner], lines[owner][0].number))
        order.append(lines[owner].popleft().id)
        used[owner] += TURN_SECONDS
        if not lines[owner]:
            del lines[owner]
    return tuple(order)
