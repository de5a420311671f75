"""A page with a handler of each sort behind all guards, on loopback, and how it is asked."""

import asyncio
import json
from collections.abc import Iterator

import gradio as gr
import httpx
import pytest

from explorer.tabs.asking import Page
from explorer.tabs.connections import bound_connections
from explorer.tabs.guards import guards
from explorer.tabs.unread import Unread

TYPED = "my own diary"
API = "/gradio_api"
JSON = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def page():
    def echo(text: str) -> str:
        return text

    def fails(text: str) -> str:
        raise KeyError(text)

    def counts(text: str) -> Iterator[str]:
        yield text
        yield text + text

    def hidden(number: float) -> str:
        return "never called"

    with Page(analytics_enabled=False) as page:
        for handler in (echo, fails, counts):
            gr.api(handler, api_name=handler.__name__)
        number, box = gr.Number(minimum=1, maximum=3), gr.Textbox()
        number.submit(hidden, number, box, api_name="hidden", api_visibility="private")
        number.submit(hidden, number, [box, number], api_name="half", api_visibility="private")

    async def begin() -> None:
        page.loop_of_server = asyncio.get_running_loop()

    page.extra_startup_events.append(begin)
    Unread.watch(page, look_seconds=0.05)
    page.launch(
        prevent_thread_lock=True, quiet=True, ssr_mode=False, _frontend=False, run_history=False, show_error=False,
        enable_monitoring=False, app_kwargs={"middleware": guards(page)},
    )  # fmt: skip
    bound_connections(page)
    yield page
    page.close()


@pytest.fixture
def http(page):
    with httpx.Client(base_url=page.local_url.rstrip("/"), timeout=30) as client:
        yield client


def number_of(page, name):
    return next(index for index, handler in page.fns.items() if handler.api_name == name)


def ask(http, name, *data):
    content = json.dumps({"data": data})  # which escapes what cannot be sent
    return http.post(f"{API}/call/{name}", content=content, headers=JSON).raise_for_status().json()["event_id"]


def read(http, name, event):
    return http.get(f"{API}/call/{name}/{event}").text


def join(http, page, name, *data):
    """Ask as a page does; what it is told in the end."""
    asked = {"data": data, "fn_index": number_of(page, name), "session_hash": "a page"}
    http.post(f"{API}/queue/join", content=json.dumps(asked), headers=JSON).raise_for_status()
    lines = http.get(f"{API}/queue/data", params={"session_hash": "a page"}).text.splitlines()
    [told] = [line for line in lines if "process_completed" in line]
    return json.loads(told.removeprefix("data: "))["output"]
