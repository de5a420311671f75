"""Questions on their way to a cluster: they end when their callers leave, or when no replica takes them in time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Lock, Thread
from weakref import finalize

from explorer.errors import ExplorerError, NobodyWaits, TooBusy

LOOK_EVERY_SECONDS = 0.25


@dataclass(eq=False)
class Question:
    """A question on its way.

    Attributes:
        is_waiting: Whether the answer is still wanted.
        end: Has the cluster give it up; called again and again until that is so.
        begin_by_seconds: When a replica must have taken it, on time.monotonic; None = it need not, or it has been.
        error: Why it is ended; None = it is not.
    """

    is_waiting: Callable[[], bool]
    end: Callable[[], None]
    begin_by_seconds: float | None = None
    error: ExplorerError | None = None

    def end_if_over(self) -> None:
        """End it if nobody waits for it any more, or nobody has taken it in time."""
        if not self.is_waiting():
            self.error = self.error or NobodyWaits(
                "Nobody waits for this answer any more, so it was not computed to its end."
            )
        elif self.begin_by_seconds is not None and time.monotonic() > self.begin_by_seconds:
            self.error = self.error or TooBusy("The model server had no time for this; try again in a minute.")
        if self.error is not None:
            self.end()


class OpenQuestions:
    """The questions of one page, looked at a few times a second by a thread that ends with this object."""

    def __init__(self) -> None:
        """Nothing is asked yet."""
        self._open: set[Question] = set()
        self._lock = Lock()
        stop = Event()
        finalize(self, stop.set)
        Thread(target=_watch, args=(self._open, self._lock, stop), daemon=True).start()

    @contextmanager
    def asked(
        self, is_waiting: Callable[[], bool], end: Callable[[], None], begin_within_seconds: float | None = None
    ) -> Iterator[Question]:
        """While the inside lasts, a question is open.

        Args:
            is_waiting: Whether its answer is still wanted.
            end: Called, more than once, when it is not; it must not wait, nor fail.
            begin_within_seconds: Within what time somebody must set its begin_by_seconds to None.
        """
        begin_by = None if begin_within_seconds is None else time.monotonic() + begin_within_seconds
        question = Question(is_waiting, end, begin_by)
        with self._lock:
            self._open.add(question)
        try:
            yield question
        finally:
            with self._lock:
                self._open.discard(question)


def _watch(questions: set[Question], lock: Lock, stop: Event) -> None:
    while not stop.wait(LOOK_EVERY_SECONDS):
        with lock:
            now_open = tuple(questions)
        for question in now_open:
            question.end_if_over()
