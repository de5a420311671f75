"""What was computed for one visitor is kept for all: bounded, and computed once where several ask for it at a time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import partial
from threading import Lock
from typing import Generic, TypeVar

from explorer.models.shared_answers import SharedAnswers

MIB = 2**20
Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Kept(Generic[Key, Value]):
    """Recent values; the oldest leave when they take more than their room.

    Whoever asks for what another is waiting for waits for the same.
    """

    def __init__(self, room_mib: float, size_of: Callable[[Value], int]) -> None:
        """Keep nothing yet.

        Args:
            room_mib: Memory for all of them, in MiB.
            size_of: What one takes, in bytes.
        """
        self._room_bytes = room_mib * MIB
        self._size_of = size_of
        self._held: OrderedDict[Key, Value] = OrderedDict()
        self._coming: SharedAnswers[Key, Value] = SharedAnswers()
        self._lock = Lock()

    def get(self, key: Key, compute: Callable[[], Value]) -> Value:
        """The value, from here if it is here; an error of computing it is raised to all who wait."""
        value = self.find(key)
        return self._coming.get(key, partial(self._compute, key, compute)) if value is None else value

    def put(self, key: Key, value: Value) -> None:
        """Keep a value that is there already; one that is larger than all the room is not kept."""
        with self._lock:
            self._held[key] = value
            self._held.move_to_end(key)
            while self._held and self.size_bytes > self._room_bytes:
                self._held.popitem(last=False)

    def find(self, key: Key) -> Value | None:
        """The value if it is here; None = it is not."""
        with self._lock:
            if key in self._held:
                self._held.move_to_end(key)
            return self._held.get(key)

    def has(self, key: Key) -> bool:
        """Whether it is here."""
        with self._lock:
            return key in self._held

    def knows(self, key: Key) -> bool:
        """Whether it is here, or on its way."""
        return key in self._coming or self.has(key)  # in this order: it is here before it is no longer on its way

    @property
    def size_bytes(self) -> int:
        """What is kept takes so much."""
        return sum(map(self._size_of, self._held.values()))

    def _compute(self, key: Key, compute: Callable[[], Value]) -> Value:
        value = self.find(key)  # it may have come since
        if value is None:
            value = compute()
            self.put(key, value)
        return value
