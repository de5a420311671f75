"""Whose question is next, and whose leaves when no more may wait."""

import asyncio

import gradio as gr
import pytest
from gradio.data_classes import PredictBodyInternal
from starlette.requests import Request

from explorer.tabs.asking import Page
from explorer.tabs.fair_queue import TOO_MANY, FairQueue, may_have_one_more, visitor_name


def request(host: str = "10.0.0.1") -> Request:
    return Request({"type": "http", "method": "POST", "path": "/", "headers": [], "client": (host, 5)})


@pytest.fixture
def page():
    with Page(analytics_enabled=False) as page:
        gr.api(lambda: None, api_name="free", concurrency_limit=None)
        gr.api(lambda: None, api_name="one", concurrency_limit=1)
    return page


@pytest.fixture
def queue(page):
    """With 8 places at work, and 6 to wait in."""
    page.queue(max_size=6, default_concurrency_limit=None)
    page._queue.active_jobs = [None] * 8
    return page._queue


def ask(queue, session: str | None, name: str = "free", host: str = "10.0.0.1") -> tuple[bool, str]:
    """Ask as a page, or over HTTP (None): whether it may wait, and the event or the reason."""
    number = next(index for index, fn in queue.blocks.fns.items() if fn.api_name == name)
    body = PredictBodyInternal(session_hash=session, fn_index=number, data=[], request=request(host))
    return asyncio.run(queue.push(body, request(host), None))[:2]


def begin(queue) -> str | None:
    """Let the next question begin, and say whose it is."""
    found = queue.get_events()
    if found is None:
        return None
    [event], is_batch, concurrency_id = found
    assert not is_batch
    queue.event_queue_per_concurrency_id[concurrency_id].current_concurrency += 1
    queue.active_jobs[queue.active_jobs.index(None)] = [event]
    return visitor_name(event.session_hash, event._id, event.request)


def end(queue, visitor: str) -> None:
    """Answer a question of a visitor's."""
    at = next(place for place, job in enumerate(queue.active_jobs) if job and job[0].session_hash == visitor)
    queue.event_queue_per_concurrency_id[queue.active_jobs[at][0].concurrency_id].current_concurrency -= 1
    queue.active_jobs[at] = None


def waiting(queue) -> list[str]:
    events = [event for one in queue.event_queue_per_concurrency_id.values() for event in one.queue]
    return [visitor_name(event.session_hash, event._id, event.request) for event in events]


def told(queue, session: str) -> list[object]:
    """What was sent to a visitor, but for how many wait."""
    messages = queue.pending_messages_per_session[session]._queue
    return [message for message in messages if message.msg != "estimation"]


def test_a_page_has_a_fair_queue_with_its_own_settings(page):
    assert isinstance(page._queue, FairQueue)
    page.queue(max_size=7, default_concurrency_limit=3)
    assert isinstance(page._queue, FairQueue) and page._queue.blocks is page
    assert (page._queue.max_size, page._queue.default_concurrency_limit) == (7, 3)


def test_who_has_fewest_at_work_is_next_and_of_those_the_first_to_come(queue):
    for visitor in ("anna", "anna", "anna", "ben", "carla"):
        ask(queue, visitor)
    assert [begin(queue) for _ in range(6)] == ["anna", "ben", "carla", "anna", "anna", None]


def test_one_visitor_comes_to_half_of_all_places_and_the_next_to_half_of_the_rest(queue):
    queue.max_size = None
    for visitor in ("anna", "ben", "carla", "dora"):
        for _ in range(9):
            ask(queue, visitor)
        while begin(queue):
            pass
    held = [job[0].session_hash for job in queue.active_jobs if job]
    assert [held.count(name) for name in ("anna", "ben", "carla", "dora")] == [4, 2, 1, 1]


def test_once_one_is_answered_the_next_begins(queue):
    for _ in range(6):
        ask(queue, "anna")
    assert [begin(queue) for _ in range(6)] == ["anna"] * 4 + [None, None]
    end(queue, "anna")
    assert begin(queue) == "anna"
    assert begin(queue) is None
    ask(queue, "ben")
    assert begin(queue) == "ben"


def test_what_may_be_at_work_once_only_waits_though_others_do_not(queue):
    for name in ("one", "one", "free"):
        ask(queue, "anna", name)
    assert [begin(queue) for _ in range(3)] == ["anna", "anna", None]
    assert waiting(queue) == ["anna"]
    end(queue, "anna")
    assert begin(queue) == "anna"


def test_who_asks_over_http_is_known_by_his_address(queue):
    for host in ("10.0.0.1", "10.0.0.1", "10.0.0.2"):
        ask(queue, None, host=host)
    assert [begin(queue) for _ in range(3)] == ["10.0.0.1", "10.0.0.2", "10.0.0.1"]
    assert visitor_name(None, None, None) == "somebody"


def test_when_no_more_may_wait_the_last_of_who_has_most_makes_room_and_he_is_told(queue):
    asked = [ask(queue, visitor)[1] for visitor in ("anna", "ben", "anna", "ben", "anna", "anna")]
    allowed, _ = ask(queue, "carla")
    assert allowed and waiting(queue) == ["anna", "ben", "anna", "ben", "anna", "carla"]
    [gone] = told(queue, "anna")
    assert gone.event_id == asked[-1] and not gone.success and gone.output["error"] == TOO_MANY
    assert asked[-1] not in queue.event_ids_to_events
    assert told(queue, "ben") == []


def test_who_has_most_himself_or_as_many_is_refused(queue):
    for visitor in ("anna", "anna", "anna", "ben", "ben", "carla"):
        ask(queue, visitor)
    for visitor in ("anna", "ben"):  # ben would come to as many as anna has
        allowed, why = ask(queue, visitor)
        assert not allowed and "Queue is full" in why
    assert waiting(queue) == ["anna", "anna", "anna", "ben", "ben", "carla"]
    allowed, _ = ask(queue, "dora")
    assert allowed and waiting(queue).count("anna") == 2


@pytest.mark.parametrize("visitors", [1, 2, 3, 5, 40])
def test_however_many_are_greedy_a_place_is_left_for_one_who_asks_once(visitors):
    most = 100
    at_work = dict.fromkeys(range(visitors), 0)
    while able := [one for one in at_work if may_have_one_more(at_work[one], most - sum(at_work.values()))]:
        at_work[min(able, key=at_work.get)] += 1
    assert sum(at_work.values()) < most
    assert may_have_one_more(0, most - sum(at_work.values()))


def test_looking_again_costs_nothing_while_nothing_changes(queue, monkeypatch):
    for _ in range(6):
        ask(queue, "anna")
    while begin(queue):
        pass
    monkeypatch.setattr("explorer.tabs.fair_queue._visitor_of", lambda event: pytest.fail("it looked at all of them"))
    assert queue.get_events() is None


def test_a_question_whose_page_is_gone_keeps_nobody_out(queue):
    """Gradio tells all who wait how long they will, at every question."""
    assert ask(queue, "gone")[0]
    queue.pending_messages_per_session.pop("gone")
    assert ask(queue, "here")[0]
    assert [begin(queue), begin(queue)] == ["gone", "here"]


def test_questions_are_not_counted_anew_after_each(queue):
    assert ask(queue, "here")[0]
    assert queue.compute_analytics_summary(list(queue.event_analytics.values())) == {"functions": {}}


def test_an_empty_name_is_none(queue):
    is_here, event = ask(queue, "")
    assert is_here and begin(queue) == "10.0.0.1"
    assert queue.active_jobs[0][0].session_hash == event


def test_who_comes_under_many_names_drops_his_own_oldest_answers(queue):
    queue.pending_messages_per_session.max_size = 5
    queue.max_size = None
    for session in ("student", "a", "b", "c"):
        ask(queue, session, host="10.0.0.2" if session == "student" else "10.0.0.1")
    ask(queue, "another student", host="10.0.0.3")
    for session in ("d", "e"):
        ask(queue, session)
    ask(queue, "third student", host="10.0.0.4")
    ask(queue, "e")  # is known
    assert list(queue.pending_messages_per_session) == ["student", "another student", "d", "e", "third student"][:5]
    assert waiting(queue) == ["student", "another student", "d", "e", "third student", "e"]
    assert set(queue.pending_event_ids_session) == set(queue.pending_messages_per_session)


def test_where_each_address_has_one_the_oldest_of_the_one_that_asks_makes_room(queue):
    queue.pending_messages_per_session.max_size = 2
    ask(queue, "student", host="10.0.0.2")
    ask(queue, "a")
    ask(queue, "b")
    assert list(queue.pending_messages_per_session) == ["student", "b"]
