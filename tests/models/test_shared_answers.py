"""Equal questions at work at the same time are answered once; all others are not mixed up."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Event, Semaphore

import pytest

from explorer.errors import OutOfMemory
from explorer.models.registry import Registry
from explorer.models.shared_answers import question_of
from tests.models.test_registry import CARDS, HereBackend

MOST_SECONDS = 20


class Coming(dict):
    """The answers on their way; says when somebody has found one to wait for."""

    def __init__(self):
        self.found = Semaphore(0)

    def get(self, key):
        coming = super().get(key)
        if coming:
            self.found.release()
        return coming


class Held:
    """An analysis that waits until it is let go, and notes its runs."""

    def __init__(self, error=None):
        self.runs, self.started, self.go, self.error = [], Semaphore(0), Event(), error

    def __call__(self, model, text, top_k=5):
        self.runs.append((model.name, text, top_k))
        self.started.release()
        assert self.go.wait(MOST_SECONDS)
        if self.error:
            raise self.error
        return object()


@pytest.fixture
def registry():
    registry = Registry(CARDS, HereBackend)
    registry._backend.answers._coming = Coming()
    return registry


@pytest.fixture
def crowd():
    with ThreadPoolExecutor(8) as pool:
        yield pool


def ask_in_turn(crowd, registry, held, count):
    """So many ask the same, and the last ones have found the question of the first at work."""
    asked = [crowd.submit(registry.run, "BERT base", partial(held, text="The cat ___.", top_k=3)) for _ in range(count)]
    assert held.started.acquire(timeout=MOST_SECONDS)
    for _ in asked[1:]:
        assert registry._backend.answers._coming.found.acquire(timeout=MOST_SECONDS)
    held.go.set()
    return asked


def test_the_same_question_is_answered_once_for_all(crowd, registry):
    held = Held()
    asked = ask_in_turn(crowd, registry, held, 5)
    [answer] = {one.result(MOST_SECONDS) for one in asked}
    assert held.runs == [("BERT base", "The cat ___.", 3)]
    assert registry.run("BERT base", partial(held, text="The cat ___.", top_k=3)) is not answer  # nothing is kept
    assert not registry._backend.answers._coming


def test_a_visitor_with_a_model_of_their_own_shares_those_of_all(crowd, registry):
    held = Held()
    other = registry.with_card(CARDS[0])
    asked = [crowd.submit(one.run, "BERT base", partial(held, text="A ___.")) for one in (registry, other)]
    assert registry._backend.answers._coming.found.acquire(timeout=MOST_SECONDS)
    held.go.set()
    assert asked[0].result(MOST_SECONDS) is asked[1].result(MOST_SECONDS)


def test_an_error_reaches_all_who_wait(crowd, registry):
    held = Held(OutOfMemory("no room"))
    for one in ask_in_turn(crowd, registry, held, 4):
        with pytest.raises(OutOfMemory, match="no room"):
            one.result(MOST_SECONDS)
    assert len(held.runs) == 1
    assert not registry._backend.answers._coming


def test_other_questions_are_asked_by_themselves(crowd, registry):
    held, other = Held(), Held()
    other.go.set()
    asks = [
        ("BERT base", partial(held, text="a", top_k=1)),
        ("BERT large", partial(held, text="a", top_k=1)),  # another model
        ("BERT base", partial(held, text="b", top_k=1)),
        ("BERT base", partial(held, text="a", top_k=2)),
        ("BERT base", partial(held, text="a", top_k=True)),  # equal to 1, but not the same
        ("BERT base", partial(held, text="a")),
        ("BERT base", partial(other, text="a", top_k=1)),
    ]
    asked = [crowd.submit(registry.run, *ask) for ask in asks]
    for _ in asks[:-1]:
        assert held.started.acquire(timeout=MOST_SECONDS)
    held.go.set()
    assert len({one.result(MOST_SECONDS) for one in asked}) == len(asks)
    assert len(held.runs) == len(asks) - 1


def test_what_cannot_be_compared_is_never_shared():
    def describe(model, text, layers=()):
        return text

    assert question_of(partial(describe, text="a")) == question_of(partial(describe, text="a"))
    assert question_of(partial(describe, text="a", layers=(1,))) == question_of(
        partial(describe, layers=(1,), text="a")
    )
    assert question_of(partial(describe, text="a", layers=[1])) is None
    assert question_of(lambda model: describe(model, "a")) is None
    assert question_of(partial(describe, "a")) != question_of(partial(describe, text="a"))
