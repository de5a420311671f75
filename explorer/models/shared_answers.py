"""Equal questions that are at work at the same time are answered once: a class that presses the same example."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock
from typing import Generic, TypeVar

from explorer.errors import NobodyWaits
from explorer.models.callers import Caller, calling, current_caller

Key = TypeVar("Key", bound=Hashable)
Answer = TypeVar("Answer")


@dataclass(eq=False)
class _Coming:
    """An answer on its way, and those who wait for it; the first computes it."""

    callers: list[Caller]
    answer: Future = field(default_factory=Future)

    def is_wanted(self) -> bool:
        return any(caller.is_waiting() for caller in tuple(self.callers))


class SharedAnswers(Generic[Key, Answer]):
    """Answers on their way. Whoever asks for what another is waiting for waits for the same; nothing is kept.

    An answer is computed as long as any of those who wait for it still does.
    """

    def __init__(self) -> None:
        """Nothing is on its way."""
        self._coming: dict[Key, _Coming] = {}
        self._lock = Lock()

    def get(self, key: Key, compute: Callable[[], Answer]) -> Answer:
        """The answer, computed here or awaited; an error of computing it is raised to all who wait.

        Args:
            key: The question.
            compute: Called unless the same question is at work; must not ask it in turn.
        """
        caller = current_caller()
        while True:
            with self._lock:
                coming = self._coming.get(key)
                if coming is None:
                    coming = self._coming[key] = _Coming([caller])
                    break
                coming.callers.append(caller)
            try:
                return coming.answer.result()
            except NobodyWaits:  # it was given up just before this caller came
                if not caller.is_waiting():
                    raise
        return self._compute(key, coming, replace(caller, is_waiting=coming.is_wanted), compute)

    def _compute(self, key: Key, coming: _Coming, for_all: Caller, compute: Callable[[], Answer]) -> Answer:
        try:
            with calling(for_all):
                answer = compute()
        except BaseException as error:  # carried to those who wait as well
            self._arrived(key)
            coming.answer.set_exception(error)
            raise
        self._arrived(key)
        coming.answer.set_result(answer)
        return answer

    def __contains__(self, key: Key) -> bool:
        """Whether the answer is on its way."""
        with self._lock:
            return key in self._coming

    def _arrived(self, key: Key) -> None:
        with self._lock:
            del self._coming[key]


def question_of(analysis: Callable) -> Hashable | None:
    """What two analyses have in common if they ask the same, with values of the same types: 1 is not True.

    Args:
        analysis: E.g. partial(fill_blanks, text="The cat ___ on the mat.").

    Returns:
        None if that cannot be told: it is no partial, or holds what has no hash, such as a list.
    """
    if not isinstance(analysis, partial):
        return None
    names = tuple(sorted(analysis.keywords))
    values = (*analysis.args, *(analysis.keywords[name] for name in names))
    question = (analysis.func, names, values, tuple(map(type, values)))
    try:
        hash(question)
    except TypeError:
        return None
    return question
