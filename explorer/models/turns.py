"""Turns on the device: who is next, and when the work of one ends before its answer is there.

Whoever has fewest analyses at work is next, and of those the first to come; who has had a turn for the same work before
lets those pass who come shortly after. A forward pass of a model is the step at
which work ends that nobody waits for, or that takes too long: each begins with `go_on`. There, too, work of many passes
lets others in now and then, by `give_way`: a class that asks for much does not keep one question waiting.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from threading import Event, Lock
from typing import TYPE_CHECKING, TypeVar

from explorer.errors import ExplorerError, NobodyWaits, TakesTooLong, TooBusy
from explorer.models.callers import Caller

if TYPE_CHECKING:
    from transformers import PreTrainedModel

Function = TypeVar("Function", bound=Callable)

SLICE_SECONDS = 0.5  # before a turn gives way
BEHIND_SECONDS = 2.0  # who gave way stands behind those who come so much later


@dataclass(eq=False)
class Turn:
    """An analysis at work.

    Attributes:
        caller: For whom.
        turns: Where it was taken.
        began_at_seconds: When it was taken, or taken again, on time.monotonic.
        ends_at_seconds: When its work must be over, likewise.
        is_had: Whether it is not given back.
        held: How many things that others may wait for are held by it; see `holding`.
    """

    caller: Caller
    turns: Turns
    began_at_seconds: float
    ends_at_seconds: float
    is_had: bool = True
    held: int = 0

    def refusal(self) -> ExplorerError | None:
        """Why it may not go on; None = it may."""
        if not self.caller.is_waiting():
            return NobodyWaits("Nobody waits for this answer any more, so it was not computed to its end.")
        if time.monotonic() > self.ends_at_seconds:
            return TakesTooLong(
                f"This takes longer than the {self.caller.longest_seconds:g} s that one question may take"
                " (EXPLORER_LONGEST_ANALYSIS_SECONDS). Ask for less at a time, of a shorter text, or choose a smaller"
                " model."
            )
        return None


_turn: ContextVar[Turn | None] = ContextVar("turn", default=None)


def current_turn() -> Turn | None:
    """The turn that what is done here belongs to; None = nobody can end it."""
    return _turn.get()


def go_on() -> None:
    """Do nothing, unless the turn that this belongs to is over.

    Raises:
        NobodyWaits: Whoever asked has left.
        TakesTooLong: It has had its time.
    """
    turn = _turn.get()
    if turn is not None and (error := turn.refusal()):
        raise error


def give_way() -> None:
    """Let those in line have the turn that this belongs to, if it has lasted for a while, and wait for another.

    Inside `holding` it is kept: those who wait for what is held have turns themselves, so none would come back.

    Raises:
        NobodyWaits: Whoever asked has left.
        TooBusy: No other turn came in time.
    """
    turn = _turn.get()
    if turn is not None and not turn.held and time.monotonic() - turn.began_at_seconds > SLICE_SECONDS:
        turn.turns.swap(turn)


@contextmanager
def holding(lock: AbstractContextManager) -> Iterator[None]:
    """Hold what others may wait for, and keep the turn as long.

    Args:
        lock: Whatever it is.
    """
    turn = _turn.get()
    with lock:
        if turn is None:
            yield
            return
        turn.held += 1
        try:
            yield
        finally:
            turn.held -= 1


@contextmanager
def for_others_too() -> Iterator[None]:
    """What is done inside is not this turn's alone, so it goes on when the turn is over."""
    token = _turn.set(None)
    try:
        yield
    finally:
        _turn.reset(token)


def end_with_turns(network: PreTrainedModel) -> None:
    """Have each forward pass of a network, or of its encoder or decoder alone, begin with give_way and go_on."""
    from transformers import PreTrainedModel

    for part in network.modules():
        if isinstance(part, PreTrainedModel):
            part.register_forward_pre_hook(_begin_pass)


def _begin_pass(part: object, arguments: object) -> None:
    give_way()
    go_on()


def takes_no_turn(analysis: Function) -> Function:
    """Mark an analysis that only asks the tokenizer: it need not wait until the device is free."""
    analysis.takes_no_turn = True
    return analysis


def needs_turn(analysis: Callable) -> bool:
    """Whether an analysis, or what a partial calls, computes on the device."""
    while isinstance(analysis, partial):
        analysis = analysis.func
    return not getattr(analysis, "takes_no_turn", False)


@dataclass(eq=False)
class _Place:
    """A place in line."""

    caller: Caller
    since_seconds: float  # on time.monotonic, or later; whose is least is first
    called: Event = field(default_factory=Event)
    error: ExplorerError | None = None  # why no turn comes


class Turns:
    """So many analyses at work at a time.

    Args:
        most: Of all callers together.
        most_each: Of one caller; the operator is not bound by it.
        wait_seconds: How long one may stand in line.
    """

    def __init__(self, most: int, most_each: int, wait_seconds: float) -> None:
        self._free = most
        self._most_each = most_each
        self._wait_seconds = wait_seconds
        self._at_work: Counter[str] = Counter()
        self._line: list[_Place] = []
        self._lock = Lock()  # for all of these

    @contextmanager
    def take(self, caller: Caller) -> Iterator[None]:
        """Wait for a turn, and have it inside.

        Raises:
            NobodyWaits: The caller left while in line.
            TooBusy: No turn came in time.
        """
        self._wait_for_one(caller)
        began = time.monotonic()
        turn = Turn(caller, self, began, began + caller.longest_seconds)
        token = _turn.set(turn)
        try:
            yield
        finally:
            _turn.reset(token)
            if turn.is_had:
                self._give_back(caller)

    def swap(self, turn: Turn) -> None:
        """Give a turn back and wait for another, if anybody is in line; raises as take does."""
        with self._lock:
            if not self._line:
                return
        gave_at = time.monotonic()
        turn.is_had = False
        self._give_back(turn.caller)
        self._wait_for_one(turn.caller, BEHIND_SECONDS)
        turn.is_had = True
        turn.began_at_seconds = time.monotonic()
        turn.ends_at_seconds += turn.began_at_seconds - gave_at  # waiting is no work

    def _wait_for_one(self, caller: Caller, behind_seconds: float = 0.0) -> None:
        place = _Place(caller, time.monotonic() + behind_seconds)
        with self._lock:
            self._line.append(place)
            self._call_next()
        try:
            place.called.wait(self._wait_seconds)
        except BaseException:  # an interrupt, too, must not leave a place behind
            if self._leave_line(place):
                self._give_back(caller)
            raise
        if not self._leave_line(place):
            raise place.error or TooBusy("Too many analyses are at work; try again in a minute.")

    def _leave_line(self, place: _Place) -> bool:
        """Whether it was called; if not, it is in line no more."""
        with self._lock:
            if place in self._line:
                self._line.remove(place)
                return False
            return place.error is None

    def _give_back(self, caller: Caller) -> None:
        with self._lock:
            self._free += 1
            self._at_work[caller.name] -= 1
            self._at_work += Counter()  # forgets who has none
            self._call_next()

    def _call_next(self) -> None:
        """Call all who can have a turn now, and send away who has left."""
        for place in [place for place in self._line if not place.caller.is_waiting()]:
            place.error = NobodyWaits("Nobody waits for this answer any more, so it was not begun.")
            self._call(place)
        while self._free:
            able = [place for place in self._line if self._may_have_one_more(place.caller)]
            if not able:
                return
            place = min(able, key=lambda place: (self._at_work[place.caller.name], place.since_seconds))
            self._free -= 1
            self._at_work[place.caller.name] += 1
            self._call(place)

    def _call(self, place: _Place) -> None:
        self._line.remove(place)
        place.called.set()

    def _may_have_one_more(self, caller: Caller) -> bool:
        return not caller.name or self._at_work[caller.name] < self._most_each
