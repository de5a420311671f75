"""Equal questions that are at work at the same time are answered once: a class that presses the same example."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from concurrent.futures import Future
from functools import partial
from threading import Lock
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Answer = TypeVar("Answer")


class SharedAnswers(Generic[Key, Answer]):
    """Answers on their way. Whoever asks for what another is waiting for waits for the same; nothing is kept."""

    def __init__(self) -> None:
        """Nothing is on its way."""
        self._coming: dict[Key, Future] = {}
        self._lock = Lock()

    def get(self, key: Key, compute: Callable[[], Answer]) -> Answer:
        """The answer, computed here or awaited; an error of computing it is raised to all who wait.

        Args:
            key: The question.
            compute: Called unless the same question is at work; must not ask it in turn.
        """
        with self._lock:
            coming = self._coming.get(key)
            is_mine = coming is None
            if is_mine:
                coming = self._coming[key] = Future()
        if not is_mine:
            return coming.result()
        try:
            answer = compute()
        except BaseException as error:  # carried to those who wait as well
            self._arrived(key)
            coming.set_exception(error)
            raise
        self._arrived(key)
        coming.set_result(answer)
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
