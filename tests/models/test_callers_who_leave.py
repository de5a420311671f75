"""Who shares a forward pass, or an answer, may leave: his work ends, and that of the others goes on."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Event, Semaphore

import pytest

from explorer.errors import NobodyWaits, TakesTooLong
from explorer.models import batching, decoding
from explorer.models.batching import Row, masked_logits
from explorer.models.callers import Caller, calling
from explorer.models.decoding import begin_draft, extend_drafts
from explorer.models.shared_answers import SharedAnswers
from explorer.models.turns import Turns, end_with_turns, go_on
from tests.analysis.writing_models import writer
from tests.models.masked_families import FAMILIES, loaded
from tests.models.tiny_loader import wait_until

MOST_SECONDS = 30
TURNS = Turns(16, 16, MOST_SECONDS)


class Visitor:
    """Somebody who may leave."""

    def __init__(self, name: str, longest_seconds: float = 600.0) -> None:
        self.left = Event()
        self.caller = Caller(name, lambda: not self.left.is_set(), longest_seconds)

    def ask(self, work, *given):
        with TURNS.take(self.caller):
            return work(*given)

    def share(self, answers: SharedAnswers, compute):
        with calling(self.caller):
            return answers.get("question", compute)


@pytest.fixture
def pool():
    with ThreadPoolExecutor(4) as threads:
        yield threads


@pytest.fixture
def bert(monkeypatch):
    monkeypatch.setattr(batching, "CPU_BATCH_TOKENS", 120)  # four rows of 30
    model = loaded(FAMILIES[0].build())
    end_with_turns(model.network)
    return model


def on_pass(network, act):
    """Call act with the number of each forward pass."""
    passes = []

    def note(module, arguments):
        act(len(passes))
        passes.append(1)

    network.register_forward_pre_hook(note)
    return passes


LONG = [Row((7,) * 30, (0,))] * 40  # ten passes


def test_a_large_question_ends_between_its_passes(bert):
    visitor = Visitor("a")
    passes = on_pass(bert.network, lambda number: number == 2 and visitor.left.set())
    with pytest.raises(NobodyWaits):
        visitor.ask(masked_logits, bert, LONG)
    assert len(passes) == 3
    assert not batching._combiner_of(bert).pending and batching._combiner_of(bert).leader is None


def test_one_that_takes_too_long_is_told(bert):
    with pytest.raises(TakesTooLong, match="shorter text"):
        Visitor("a", longest_seconds=-1.0).ask(masked_logits, bert, LONG)


@pytest.mark.parametrize("leaver", ["leader", "other"])
def test_the_rows_of_those_who_stay_are_answered(bert, pool, leaver):
    leader, other = Visitor("leader"), Visitor("other")
    asked = []

    def act(number):
        if number == 0:  # the other joins while the leader is at work
            asked.append(pool.submit(other.ask, masked_logits, bert, [Row((8,) * 30, (0,))] * 39))
            wait_until(lambda: len(batching._combiner_of(bert).pending) == 2)
            (leader if leaver == "leader" else other).left.set()

    passes = on_pass(bert.network, act)
    work = pool.submit(leader.ask, masked_logits, bert, LONG)
    wait_until(lambda: asked)
    stays, leaves = (asked[0], work) if leaver == "leader" else (work, asked[0])
    assert len(stays.result(MOST_SECONDS)) == (39 if leaver == "leader" else 40)
    with pytest.raises(NobodyWaits):
        leaves.result(MOST_SECONDS)
    assert len(passes) < 13  # of 20 for both
    assert not batching._combiner_of(bert).pending


def test_writing_ends_and_the_texts_of_others_go_on(pool):
    model = writer("gpt2")
    end_with_turns(model.network)
    leaver, stays = Visitor("leaver"), Visitor("stays")
    drafts = [begin_draft(model, [5, 6, 7], 40)[0] for _ in range(2)]
    at_work = []

    def act(number):
        if number == 0:  # both others come while a third is at work
            for visitor, draft in zip((leaver, stays), drafts, strict=True):
                at_work.append(pool.submit(visitor.ask, extend_drafts, model, [draft], [8]))
            wait_until(lambda: len(decoding._decoder_of(model).pending) == 3)
            leaver.left.set()

    third = begin_draft(model, [5, 6], 40)[0]
    passes = on_pass(model.network, act)
    extend_drafts(model, [third], [9])
    assert at_work[1].result(MOST_SECONDS).shape[0] == 1
    with pytest.raises(NobodyWaits):
        at_work[0].result(MOST_SECONDS)
    assert len(passes) == 2
    assert [draft.ids for draft in drafts] == [[5, 6, 7], [5, 6, 7, 8]]
    assert not decoding._decoder_of(model).pending


def test_a_prompt_is_not_read_for_nobody():
    model = writer("gpt2")
    end_with_turns(model.network)
    visitor = Visitor("a")
    visitor.left.set()
    with TURNS.take(Caller("b")):  # the line itself would send him away
        pass
    with pytest.raises(NobodyWaits):
        visitor.ask(begin_draft, model, [5, 6, 7], 40)


class Held:
    """Computes until it is let go, or nobody waits."""

    def __init__(self, visitor_of_turn=None):
        self.started, self.go, self.runs = Semaphore(0), Event(), 0

    def __call__(self):
        self.runs += 1
        self.started.release()
        from explorer.models.callers import current_caller

        with TURNS.take(current_caller()):
            while not self.go.wait(0.001):
                go_on()
        return "the answer"


def waiting(answers):
    return len(answers._coming["question"].callers) if "question" in answers else 0


def test_an_answer_is_computed_for_those_who_wait_when_the_first_to_ask_has_left(pool):
    answers, held = SharedAnswers(), Held()
    first, second = Visitor("first"), Visitor("second")
    asked = [pool.submit(first.share, answers, held)]
    assert held.started.acquire(timeout=MOST_SECONDS)
    asked.append(pool.submit(second.share, answers, held))
    wait_until(lambda: waiting(answers) == 2)
    first.left.set()
    held.go.set()
    assert asked[1].result(MOST_SECONDS) == "the answer"
    assert held.runs == 1


def test_it_ends_when_all_have_left(pool):
    answers, held = SharedAnswers(), Held()
    visitors = [Visitor("first"), Visitor("second")]
    asked = [pool.submit(visitors[0].share, answers, held)]
    assert held.started.acquire(timeout=MOST_SECONDS)
    asked.append(pool.submit(visitors[1].share, answers, held))
    wait_until(lambda: waiting(answers) == 2)
    for visitor in visitors:
        visitor.left.set()
    for one in asked:
        with pytest.raises(NobodyWaits):
            one.result(MOST_SECONDS)
    assert held.runs == 1 and "question" not in answers


def test_who_comes_just_when_it_is_given_up_asks_anew(pool):
    answers = SharedAnswers()
    first, late = Visitor("first"), Visitor("late")
    started, joined = Event(), Event()
    runs = []

    def compute():
        runs.append(1)
        if len(runs) == 1:
            started.set()
            assert joined.wait(MOST_SECONDS)
            raise NobodyWaits("found a moment before the late one came")
        return "the answer"

    asked = pool.submit(first.share, answers, compute)
    assert started.wait(MOST_SECONDS)
    came_late = pool.submit(late.share, answers, compute)
    wait_until(lambda: waiting(answers) == 2)
    joined.set()
    assert came_late.result(MOST_SECONDS) == "the answer"
    with pytest.raises(NobodyWaits):
        asked.result(MOST_SECONDS)
    assert len(runs) == 2


def test_the_next_question_is_not_shared_with_one_that_ended(pool):
    answers, held = SharedAnswers(), Held()
    held.go.set()
    assert Visitor("a").share(answers, held) == "the answer"
    assert Visitor("b").share(answers, partial(str, "another")) == "another"
