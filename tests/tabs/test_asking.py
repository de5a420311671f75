"""Who asks is known to what his question sets to work, and that he has left: by cancelling, closing or hanging up."""

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from queue import Queue
from threading import Event

import gradio as gr
import httpx
import pytest
from starlette.middleware import Middleware

from explorer.models.callers import Caller, current_caller
from explorer.settings import settings
from explorer.tabs.asking import Page
from explorer.tabs.fetching import Fetching
from explorer.tabs.first_page import left_route
from explorer.tabs.limits import MIB, RequestLimits

MOST_SECONDS = 30


class Works:
    """Who asked, as handlers see it, and who was seen to leave."""

    def __init__(self) -> None:
        self.began: Queue[Caller] = Queue()
        self.ended: Queue[str] = Queue()
        self.released = Event()

    def endless(self) -> None:
        caller = current_caller()
        self.began.put(caller)
        deadline = time.monotonic() + MOST_SECONDS
        while caller.is_waiting():
            assert time.monotonic() < deadline, "nobody was seen to leave"
            time.sleep(0.005)
        self.ended.put(caller.name)

    def held(self) -> None:
        self.began.put(current_caller())
        self.released.wait(MOST_SECONDS)

    def other(self) -> None:
        self.endless()

    def quick(self) -> str:
        caller = current_caller()
        self.began.put(caller)
        return json.dumps([caller.is_waiting(), caller.longest_seconds])

    def steps(self) -> Iterator[int]:
        yield 1
        self.endless()
        yield 2


@pytest.fixture(scope="module")
def works():
    return Works()


@pytest.fixture(scope="module")
def page(works):
    def fetched(asked: object) -> str | None:
        return {"endless": works.endless, "held": works.held}.get(str(asked), works.quick)()

    with Page(analytics_enabled=False) as page:
        for handler in (works.endless, works.other, works.quick, works.steps):
            gr.api(handler, api_name=handler.__name__, concurrency_limit=None)
        page.fetching = gr.HTML(server_functions=[fetched])
    middleware = [RequestLimits.middleware(), Middleware(Fetching, most=4)]
    given = {"middleware": middleware, "routes": [left_route(page)]}
    page.launch(prevent_thread_lock=True, quiet=True, ssr_mode=False, _frontend=False, app_kwargs=given)
    yield page
    page.close()


@pytest.fixture
def http(page):
    with httpx.Client(base_url=f"{page.local_url}gradio_api", timeout=MOST_SECONDS) as client:
        yield client


def join(page, http, name, session):
    """Ask as an open page does, and return what identifies the question."""
    number = next(index for index, handler in page.fns.items() if handler.api_name == name)
    asked = {"data": [], "fn_index": number, "session_hash": session}
    event = http.post("/queue/join", json=asked).raise_for_status().json()["event_id"]
    return {"session_hash": session, "fn_index": number, "event_id": event}


@contextmanager
def listening(http, session):
    with http.stream("GET", "/queue/data", params={"session_hash": session}) as answer:
        yield answer.iter_lines()


def ask(http, name):
    """Ask as curl does."""
    return http.post(f"/call/{name}", json={"data": []}).raise_for_status().json()["event_id"]


def test_an_answer_is_waited_for_by_the_visitor_who_asked(works, page, http):
    join(page, http, "quick", "a page")
    with listening(http, "a page") as lines:
        [answer] = (line for line in lines if "process_completed" in line)
    assert json.loads(json.loads(answer.removeprefix("data: "))["output"]["data"][0]) == [
        True,
        settings().longest_analysis_seconds,
    ]
    assert works.began.get(timeout=MOST_SECONDS).name == "a page"


@pytest.mark.parametrize("name", ["endless", "steps"])
def test_a_page_that_closes_is_waited_for_no_more(works, page, http, name):
    join(page, http, name, f"closes {name}")
    with listening(http, f"closes {name}") as lines:
        next(lines)
        assert works.began.get(timeout=MOST_SECONDS).is_waiting()
    assert works.ended.get(timeout=MOST_SECONDS) == f"closes {name}"


def test_a_page_that_says_that_it_is_left_is_over_until_it_asks_again(works, page, http):
    join(page, http, "endless", "leaves")
    assert works.began.get(timeout=MOST_SECONDS).name == "leaves"
    assert not page.state_holder.session_data["leaves"].is_closed
    for said in (b"", b"nobody", bytes(range(256)) * 300, b"leaves"):
        assert http.post(f"{page.local_url}left", content=said).status_code == 204
    assert works.ended.get(timeout=MOST_SECONDS) == "leaves"
    assert page.state_holder.session_data["leaves"].is_closed
    join(page, http, "quick", "leaves")
    assert works.began.get(timeout=MOST_SECONDS).name == "leaves"
    assert not page.state_holder.session_data["leaves"].is_closed


@pytest.mark.parametrize("name", ["endless", "steps"])
def test_a_question_that_is_cancelled_is_over_and_the_next_of_the_page_is_not(works, page, http, name):
    session = f"cancels {name}"
    cancelled = join(page, http, name, session)
    with listening(http, session) as lines:
        next(lines)
        works.began.get(timeout=MOST_SECONDS)
        join(page, http, "other", session)  # Stop ends all events of a handler
        other = works.began.get(timeout=MOST_SECONDS)
        http.post("/cancel", json=cancelled).raise_for_status()
        for line in lines:  # what is cancelled is answered with nothing
            if "process_completed" in line:
                break
        assert works.ended.get(timeout=MOST_SECONDS) == session
        assert other.is_waiting()
    assert works.ended.get(timeout=MOST_SECONDS) == session


def test_who_hangs_up_over_http_is_waited_for_no_more(works, http):
    event = ask(http, "endless")
    assert works.began.get(timeout=MOST_SECONDS).is_waiting()  # he has not begun to listen
    with http.stream("GET", f"/call/endless/{event}") as answer:
        assert answer.status_code == 200
    works.ended.get(timeout=MOST_SECONDS)


def test_all_who_ask_from_one_address_without_a_session_are_one_visitor(works, http):
    for _ in range(2):
        http.get(f"/call/quick/{ask(http, 'quick')}")
    one, other = (works.began.get(timeout=MOST_SECONDS).name for _ in range(2))
    assert one == other == "127.0.0.1"


def fetch(page, http, asked, session):
    """Have the component of a page fetch something by itself."""
    body = {"component_id": page.fetching._id, "fn_name": "fetched", "data": asked, "session_hash": session}
    return http.post("/component_server", json=body)


def test_what_a_component_fetches_is_asked_by_its_page(works, page, http):
    answer = fetch(page, http, "quick", "a page")
    assert json.loads(answer.json()) == [True, settings().longest_analysis_seconds]
    assert works.began.get(timeout=MOST_SECONDS).name == "a page"


def test_a_component_that_hangs_up_is_waited_for_no_more(works, page, http):
    http.timeout = 0.5
    with pytest.raises(httpx.ReadTimeout):
        fetch(page, http, "endless", "hangs up")
    assert works.ended.get(timeout=MOST_SECONDS) == works.began.get(timeout=MOST_SECONDS).name == "hangs up"


def test_components_that_fetch_much_leave_places_to_others(works, page, http):
    with ThreadPoolExecutor() as pool:
        held = [pool.submit(fetch, page, http, "held", "much") for _ in range(2)]
        try:
            assert [works.began.get(timeout=MOST_SECONDS).name for _ in held] == ["much", "much"]
            assert fetch(page, http, "quick", "much").status_code == 429
            assert fetch(page, http, "quick", "little").status_code == 200
        finally:
            works.released.set()
        assert [one.result().status_code for one in held] == [200, 200]
    assert fetch(page, http, "quick", "much").status_code == 200
    assert [works.began.get(timeout=MOST_SECONDS).name for _ in range(2)] == ["little", "much"]


@pytest.mark.parametrize("body", [b"{", b"[]", b"", b"\xff", b'{"session_hash": 7}'])
def test_what_is_no_request_of_a_component_is_refused(http, body):
    assert http.post("/component_server", content=body).status_code == 400


def test_what_is_too_large_is_not_read_to_its_end(http):
    assert http.post("/component_server", content=iter([bytes(MIB)] * 12)).status_code == 413
