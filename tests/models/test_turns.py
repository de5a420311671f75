"""Turns on the device: who comes first is served first, nobody takes them all, and who has left holds none up."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Event, Lock, Thread

import pytest

from explorer.analysis import measure_prompt, tokenize_text
from explorer.errors import NobodyWaits, TakesTooLong
from explorer.models.callers import Caller, calling, current_caller
from explorer.models.turns import (
    Turns,
    current_turn,
    for_others_too,
    give_way,
    go_on,
    holding,
    needs_turn,
    takes_no_turn,
)
from tests.models.tiny_loader import A, Loader, backend_of, wait_until

MOST_SECONDS = 20


class Street:
    """Visitors before one Turns: each takes a turn in a thread of its own, and has it until told to go."""

    def __init__(self, most: int, most_each: int = 10) -> None:
        self.turns = Turns(most, most_each, MOST_SECONDS)
        self.served: list[str] = []
        self._threads: list[Thread] = []

    def come(self, name: str, visitor: str | None = None, is_waiting=lambda: True) -> Event:
        """A visitor joins the line, or has a turn at once; the event returned ends it."""
        go, before = Event(), len(self.served) + len(self.turns._line)
        caller = Caller(name if visitor is None else visitor, is_waiting)

        def visit() -> None:
            with self.turns.take(caller):
                self.served.append(name)
                assert go.wait(MOST_SECONDS)

        thread = Thread(target=visit)
        self._threads.append(thread)
        thread.start()
        wait_until(lambda: len(self.served) + len(self.turns._line) > before)
        return go

    def end(self, *visits: Event) -> list[str]:
        """Tell all to go, and return who was served, in order."""
        for visit in visits:
            visit.set()
        for thread in self._threads:
            thread.join(MOST_SECONDS)
        return self.served


def test_first_come_first_served():
    street = Street(most=1)
    visits = [street.come(name) for name in ("at work", "first", "second", "third")]
    assert street.end(*visits) == ["at work", "first", "second", "third"]


def test_who_asks_again_and_again_does_not_overtake_those_who_wait():
    street = Street(most=1)
    order = []

    def barge() -> None:
        for number in range(20):
            with street.turns.take(Caller("barging")):
                order.append(number)
                if number == 0:
                    waiting.append(street.come("waiting"))

    waiting: list[Event] = []
    thread = Thread(target=barge)
    thread.start()
    wait_until(lambda: street.served == ["waiting"])  # while the other still has 19 turns to go
    assert order == [0]
    waiting[0].set()
    thread.join(MOST_SECONDS)
    assert order == list(range(20))


def test_who_has_fewest_at_work_is_next():
    street = Street(most=2)
    one, other = street.come("a", "A"), street.come("b", "B")
    later = [street.come("a again", "A"), street.come("c", "C")]
    other.set()
    wait_until(lambda: "c" in street.served)
    assert "a again" not in street.served
    assert street.end(one, *later) == ["a", "b", "c", "a again"]


def test_one_visitor_never_has_all_turns():
    street = Street(most=5, most_each=2)
    many = [street.come(f"a{number}", "A") for number in range(4)]
    other = street.come("b", "B")
    assert sorted(street.served) == ["a0", "a1", "b"] and len(street.turns._line) == 2
    assert sorted(street.end(*many, other)) == ["a0", "a1", "a2", "a3", "b"]


def test_the_operator_may_have_all_turns():
    street = Street(most=3, most_each=1)
    visits = [street.come(f"job {number}", "") for number in range(3)]
    assert len(street.served) == 3
    street.end(*visits)


def test_who_left_the_line_holds_nobody_up():
    turns = Turns(1, 1, MOST_SECONDS)
    here = Event()
    here.set()
    with ThreadPoolExecutor(2) as pool:

        def ask(caller: Caller) -> str:
            with turns.take(caller):
                return caller.name

        with turns.take(Caller("at work")):
            left = pool.submit(ask, Caller("left", here.is_set))
            wait_until(lambda: len(turns._line) == 1)
            stays = pool.submit(ask, Caller("stays"))
            wait_until(lambda: len(turns._line) == 2)
            here.clear()
        assert stays.result(MOST_SECONDS) == "stays"
        with pytest.raises(NobodyWaits):
            left.result(MOST_SECONDS)
    assert turns._free == 1 and not turns._at_work and not turns._line


def test_who_has_a_turn_for_long_gives_way_to_those_in_line_and_has_another(monkeypatch):
    monkeypatch.setattr("explorer.models.turns.SLICE_SECONDS", -1.0)
    street = Street(most=1)
    with street.turns.take(Caller("long", longest_seconds=60)):
        give_way()  # to nobody: it has its turn still
        turn = current_turn()
        first_end = turn.ends_at_seconds
        visits = [street.come(name) for name in ("first", "second")]
        for visit in visits:
            visit.set()
        give_way()
        assert street.served == ["first", "second"]
        assert current_turn() is turn and turn.is_had and turn.ends_at_seconds > first_end
        assert street.turns._at_work == {"long": 1}
    street.end()
    assert street.turns._free == 1 and not street.turns._at_work


@pytest.mark.parametrize(("behind", "served"), [(60.0, ["new", "long"]), (0.0, ["long", "new"])])
def test_who_gave_way_lets_those_pass_who_come_shortly_after(monkeypatch, behind, served):
    monkeypatch.setattr("explorer.models.turns.SLICE_SECONDS", -1.0)
    monkeypatch.setattr("explorer.models.turns.BEHIND_SECONDS", behind)
    street = Street(most=1)

    def work() -> None:
        with street.turns.take(Caller("long")):
            begun.set()
            assert may_give_way.wait(MOST_SECONDS)
            give_way()
            street.served.append("long")

    begun, may_give_way = Event(), Event()
    long = Thread(target=work)
    long.start()
    assert begun.wait(MOST_SECONDS)
    other = street.come("other")
    may_give_way.set()
    wait_until(lambda: street.served == ["other"])  # and the long one is in line
    wait_until(lambda: len(street.turns._line) == 1)
    new = street.come("new")
    new.set()
    other.set()
    long.join(MOST_SECONDS)
    street.end()
    assert street.served == ["other", *served]


def test_who_leaves_while_others_have_his_turn_has_none_to_give_back(monkeypatch):
    monkeypatch.setattr("explorer.models.turns.SLICE_SECONDS", -1.0)
    street = Street(most=1)
    here = Event()
    here.set()
    with pytest.raises(NobodyWaits), street.turns.take(Caller("leaves", here.is_set)):
        other = street.come("other")
        Thread(target=lambda: (wait_until(lambda: street.served == ["other"]), here.clear(), other.set())).start()
        give_way()
    street.end(other)
    assert street.turns._free == 1 and not street.turns._at_work and not street.turns._line


def test_the_turn_is_kept_while_something_is_held_that_others_wait_for(monkeypatch):
    monkeypatch.setattr("explorer.models.turns.SLICE_SECONDS", -1.0)
    street, lock = Street(most=1), Lock()
    with street.turns.take(Caller("long")):
        waiting = street.come("waiting")
        waiting.set()
        with pytest.raises(ZeroDivisionError), holding(lock):
            with holding(Lock()):
                give_way()
            give_way()
            assert lock.locked() and street.served == []
            raise ZeroDivisionError
        assert not lock.locked()
        give_way()
        assert street.served == ["waiting"]
    with holding(lock):  # who has no turn keeps none
        assert lock.locked()
    street.end(waiting)


def test_a_short_turn_is_not_interrupted():
    street = Street(most=1)
    with street.turns.take(Caller("short")):
        waiting = street.come("waiting")
        give_way()
        assert street.served == []
    street.end(waiting)


def test_an_error_inside_gives_the_turn_back():
    turns = Turns(1, 1, MOST_SECONDS)
    with pytest.raises(ZeroDivisionError), turns.take(Caller("a")):
        1 / 0  # noqa: B018
    assert turns._free == 1 and not turns._at_work


def test_work_goes_on_as_long_as_the_caller_waits_and_has_time():
    here = Event()
    here.set()
    turns = Turns(1, 1, MOST_SECONDS)
    with turns.take(Caller("a", here.is_set, longest_seconds=60)):
        go_on()
        here.clear()
        with pytest.raises(NobodyWaits):
            go_on()
        with for_others_too():
            go_on()
        assert isinstance(current_turn().refusal(), NobodyWaits)
    go_on()
    with turns.take(Caller("a", longest_seconds=-1.0)), pytest.raises(TakesTooLong, match="EXPLORER_LONGEST_ANALYSIS"):
        go_on()


def test_a_copy_of_the_context_knows_who_asks():
    caller = Caller("a")
    assert current_caller().name == ""
    with calling(caller):
        assert current_caller() is caller
    assert current_caller().name == ""


@takes_no_turn
def spell(model, text):
    return text


@pytest.mark.parametrize("analysis", [tokenize_text, measure_prompt, spell])
def test_what_asks_only_the_tokenizer_takes_no_turn(analysis):
    assert not needs_turn(analysis)
    assert not needs_turn(partial(partial(analysis, text="a")))
    assert needs_turn(partial(lambda model, text: text, text="a"))


def test_it_is_answered_while_all_turns_are_taken():
    backend = backend_of(Loader(), analyses_at_once=1)
    started, go = Event(), Event()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(backend.run, A, lambda model: started.set() or go.wait(MOST_SECONDS))
        assert started.wait(MOST_SECONDS)
        assert backend.run(A, partial(spell, text="a")) == "a"
        go.set()
