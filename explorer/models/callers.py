"""Who asks, and whether anybody still waits for the answer: known to all that works on it, in whatever thread."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


def _always() -> bool:
    return True


@dataclass(frozen=True, eq=False)
class Caller:
    """Who asks.

    Attributes:
        name: By which turns are shared out; "" = whoever runs the explorer, in a shell, a notebook or a job.
        is_waiting: Whether the answer is still wanted; asked often, from any thread.
        longest_seconds: How long one turn on the device may take.
        question: Which of his page's questions it is, in the order in which he asked; 0 = unknown.
    """

    name: str = ""
    is_waiting: Callable[[], bool] = _always
    longest_seconds: float = math.inf
    question: int = 0


OPERATOR = Caller()
_caller: ContextVar[Caller] = ContextVar("caller")


def current_caller() -> Caller:
    """Who asks for what is done here; the operator unless `calling` says otherwise."""
    return _caller.get(OPERATOR)


@contextmanager
def calling(caller: Caller) -> Iterator[None]:
    """What is done inside is asked by this caller, also in threads that are given a copy of the context."""
    token = _caller.set(caller)
    try:
        yield
    finally:
        _caller.reset(token)
