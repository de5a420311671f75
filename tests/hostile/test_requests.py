"""Requests that no page sends: what is wrong with them is said to the sender, and to nobody else."""

import json

import pytest

from tests.hostile.small_page import API, JSON, TYPED, ask, join, number_of, read

HALF = "\ud800"
FORM = {"content-type": "multipart/form-data; boundary=xx"}


def post(http, path, body):
    """Send JSON in which half a character stands as an escape."""
    return http.post(f"{API}/{path}", content=json.dumps(body), headers=JSON)


def part(name, content, more=b""):
    return b'--xx\r\nContent-Disposition: form-data; name="%b"%b\r\n\r\n%b\r\n--xx--\r\n' % (name, more, content)


@pytest.mark.parametrize("path", ["queue/join", "call/echo", "call/v2/echo", "cancel", "reset"])
def test_a_form_that_is_not_wanted_is_refused_whatever_stands_in_it(http, log, path):
    for body in (HALF, [HALF], {"session_hash": [HALF], "event_id": [HALF], "fn_index": HALF}):
        assert post(http, path, body).status_code == (400 if path == "call/v2/echo" and isinstance(body, dict) else 422)
    assert http.post(f"{API}/{path}", content=part(b"data", b"\xff\xfe"), headers=FORM).status_code == 422
    assert log() == ""


@pytest.mark.parametrize("more", [b"", b'; filename="a.txt"', b'; filename="../../a.txt"'])
def test_a_component_is_asked_in_json(http, log, more):
    answer = http.post(f"{API}/component_server", content=part(b"data", b"x", more), headers=FORM)
    assert (answer.status_code, "Send JSON" in answer.text) == (415, True)
    assert log() == ""


def test_a_file_without_a_name_is_refused(http, log):
    answer = http.post(f"{API}/upload", content=part(b"files", b"x"), headers=FORM)
    assert (answer.status_code, "with a name" in answer.text) == (400, True)
    assert log() == ""


def test_a_page_whose_name_cannot_be_written_down_leaves_the_others_alone(http, page, log):
    """Gradio counts, after each question, what all recent ones came from."""
    asked = {"data": [2], "fn_index": number_of(page, "hidden"), "session_hash": HALF}
    assert post(http, "queue/join", asked).status_code == 200
    assert "didn't receive enough input" in read(http, "echo", ask(http, "echo"))
    assert TYPED in read(http, "echo", ask(http, "echo", TYPED))
    assert log() == ""


@pytest.mark.parametrize(
    ("name", "sent", "said"),
    [
        ("echo", [7], "text: Input should be a valid string"),
        ("echo", [None], "text: Input should be a valid string"),
        ("echo", [{TYPED: TYPED}], "text: Input should be a valid string"),
        ("hidden", ["2"], "Number: Input should be a valid number"),
        ("hidden", [{TYPED: TYPED}], "Number: Input should be a valid number"),
        ("hidden", [float("nan")], "Number: Input should be a finite number"),
    ],
)
def test_what_is_of_another_kind_never_reaches_a_handler(http, page, log, name, sent, said):
    if name == "echo":
        told = read(http, name, ask(http, name, *sent))
    else:
        told = join(http, page, name, *sent)["error"]
    assert said in told and TYPED not in told
    assert log() == ""
