"""The page's HTTP face: the same results, by name, for gradio_client and for curl."""

import json
from functools import partial

import httpx
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from explorer.analysis import fill_blanks
from explorer.analysis.exporting import to_json
from explorer.tabs.limits import RequestLimits
from explorer.tabs.page import build_page
from tests.conftest import SHIPPED

ENDPOINTS = {"/fill_blanks", "/reveal_blanks", "/rank_candidates", "/contrast_texts", "/tokenize_text"}


@pytest.fixture(scope="module")
def address(shipped_registry):
    page = build_page(shipped_registry)
    page.queue(default_concurrency_limit=None)
    page.launch(
        prevent_thread_lock=True, quiet=True, app_kwargs={"middleware": [RequestLimits.middleware()]}, ssr_mode=False
    )
    yield page.local_url
    page.close()


@pytest.fixture(scope="module")
def client(address):
    return Client(address, verbose=False)


def test_every_analysis_is_listed_under_its_own_name_and_nothing_else_is(client):
    assert set(client.view_api(return_format="dict")["named_endpoints"]) == ENDPOINTS


def test_the_answer_is_the_frozen_result_with_its_drawing(client, shipped_registry):
    text = "The cat ___ on the mat."
    answer = client.predict(text=text, model=SHIPPED, top_k=3, api_name="/fill_blanks")
    figure = answer.pop("figure")
    assert answer == to_json(shipped_registry.run(SHIPPED, partial(fill_blanks, text=text, top_k=3)))
    assert list(figure["layout"]["yaxis"]["ticktext"]) == [choice["text"] for choice in answer["blanks"][0]["choices"]]


def test_the_other_analyses_answer_too(client):
    steps = client.predict(text="The ___ sat on the ___.", api_name="/reveal_blanks")["steps"]
    assert sorted(step["filled_blank"] for step in steps) == [0, 1]
    ranked = client.predict(text="She ___ home.", candidates=[["went", "was"]], api_name="/rank_candidates")
    assert {"went", "was"} <= {candidate["text"] for candidate in ranked["blanks"][0] if candidate["is_own"]}
    contrast = client.predict(text="He ___.", other_text="She ___.", top_k=4, api_name="/contrast_texts")
    assert len(contrast["words"]) == 4
    pieces = client.predict(text="unbelievably", api_name="/tokenize_text")["pieces"]
    assert [piece["token"] for piece in pieces][0] == "[CLS]"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"text": "no blank here"}, "no blank"),
        ({"text": "a ___", "model": "MiniLM (maskd)"}, "did you mean MiniLM"),
        ({"text": "a ___", "model": "../../etc/passwd"}, "passwd"),
        ({"text": "a ___", "top_k": 10**6}, "whole number"),
        ({"text": "a ___", "strategy": "guess"}, "joint"),
        ({"text": "a \0 ___"}, "control"),
    ],
)
def test_errors_reach_the_caller_in_words(client, arguments, says):
    with pytest.raises(AppError, match=says):
        client.predict(**arguments, api_name="/fill_blanks")


def test_curl_gets_the_same(address):
    call = f"{address}gradio_api/call/v2/fill_blanks"  # keywords, with defaults for those left out
    asked = httpx.post(call, json={"text": "The cat ___ on the mat."}, timeout=60)
    lines = httpx.get(f"{call}/{asked.json()['event_id']}", timeout=60).text.splitlines()
    assert "event: complete" in lines
    data = json.loads(lines[lines.index("event: complete") + 1].removeprefix("data: "))
    assert data[0]["model"] == SHIPPED


def test_a_body_that_is_too_large_is_refused_unread(address):
    url = f"{address}gradio_api/call/fill_blanks"
    assert httpx.post(url, content=b"x" * (9 * 2**20), timeout=60).status_code == 413

    def chunks():
        for _ in range(9):
            yield b"x" * 2**20

    assert httpx.post(url, content=chunks(), timeout=60).status_code == 413


def test_pages_carry_the_protecting_headers(address):
    assert httpx.get(address).headers["x-content-type-options"] == "nosniff"
