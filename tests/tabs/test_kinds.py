"""What handlers are called with, of what is sent."""

from dataclasses import dataclass

import gradio as gr
import pytest
from gradio.events import EventData

from explorer.tabs import lenient
from explorer.tabs.kinds import take_values, told


@dataclass(frozen=True)
class Pressed:
    act: str
    places: tuple[int, ...] = ()


def handler_of(*fields):
    """A private handler of the page that these inputs call."""
    with gr.Blocks(analytics_enabled=False) as page:
        for field in fields:
            field.render()
        gr.Button().click(lambda *values: None, list(fields), None, api_visibility="private")
    return page.fns[0]


def endpoint_of(function):
    with gr.Blocks(analytics_enabled=False) as page:
        gr.api(function, api_name="endpoint")
    return page.fns[0]


CHOICES = [("One", "one"), ("Two", "two")]
FIELDS = {
    "text": lambda: gr.Textbox("first", label="Field"),
    "empty text": lambda: gr.Textbox(label="Field"),
    "message": lambda: gr.HTML("first", label="Field"),
    "number": lambda: gr.Number(1, label="Field"),
    "slider": lambda: gr.Slider(0, 5, 1, label="Field"),
    "box": lambda: gr.Checkbox(False, label="Field"),
    "one": lambda: gr.Radio(CHOICES, value="one", label="Field"),
    "one of numbers": lambda: gr.Radio([2, 3], value=2, label="Field"),
    "none yet": lambda: gr.Radio(CHOICES, label="Field"),
    "own or one": lambda: gr.Dropdown(CHOICES, value="one", allow_custom_value=True, label="Field"),
    "nothing on offer": lambda: gr.Dropdown([], value="", allow_custom_value=True, label="Field"),
    "changing": lambda: lenient.Dropdown([("First", 0)], value=0, label="Field"),
    "many": lambda: gr.Dropdown(CHOICES, value=["one"], multiselect=True, label="Field"),
    "many boxes": lambda: gr.CheckboxGroup(CHOICES, value=[], label="Field"),
}


@pytest.mark.parametrize(
    ("field", "sent", "taken"),
    [
        ("text", "x", "x"), ("text", "\ud800", "\ud800"), ("text", None, ""), ("empty text", None, None),
        ("message", None, ""), ("number", 3, 3), ("number", 2.5, 2.5),
        ("number", 10**30, 1e30), ("number", None, None), ("slider", 2, 2),
        ("slider", 0.5, 0.5), ("box", True, True), ("one", "two", "two"), ("one of numbers", 3, 3),
        ("none yet", None, None), ("own or one", "mine", "mine"), ("nothing on offer", "mine", "mine"),
        ("changing", 7, 7), ("changing", None, None), ("many", ["two"], ["two"]), ("many", [], []),
        ("many boxes", ["one", "two"], ["one", "two"]),
    ],
)  # fmt: skip
def test_what_a_field_sends_is_taken_as_it_is(field, sent, taken):
    [value] = take_values(handler_of(FIELDS[field]()), [sent])
    assert value == taken and type(value) is type(taken)


@pytest.mark.parametrize(
    ("field", "sent", "said"),
    [
        ("text", 5, "valid string"), ("text", ["x"], "valid string"), ("message", {}, "valid string"),
        ("number", "3", "valid number"), ("number", True, "valid number"), ("number", float("nan"), "finite number"),
        ("slider", float("inf"), "finite number"), ("box", 1, "valid boolean"),
        ("number", 10**400, "valid number"),
        ("box", None, "valid boolean"), ("one", None, "valid string"), ("one", ["one"], "valid string"),
        ("one of numbers", "2", "valid integer"), ("changing", "0", "valid integer"), ("many", "one", "valid list"),
        ("many", [3], "valid string"), ("many boxes", {"one": 1}, "valid list"),
    ],
)  # fmt: skip
def test_what_it_never_sends_is_refused(field, sent, said):
    with pytest.raises(gr.Error, match=f"^.Field: Input should be a {said}"):
        take_values(handler_of(FIELDS[field]()), [sent])


@pytest.mark.parametrize("sent", [None, -1])
def test_a_number_that_is_just_being_typed_is_no_error_to_be_shown(sent):
    with pytest.raises(gr.Error) as refused:
        take_values(handler_of(FIELDS["slider"]()), [sent])
    assert not refused.value.visible
    assert take_values(handler_of(FIELDS["number"]()), [-1]) == [-1]


def test_what_the_page_keeps_and_files_are_left_to_gradio():
    sent = [None, {"path": "x"}, "beyond"]
    assert take_values(handler_of(gr.State(5), gr.File()), sent) == sent


def test_an_endpoint_takes_what_its_parameters_say():
    def ask(text: str, count: int = 1, at: list[list[int]] | None = None, share: float = 0.5) -> str:
        return ""

    endpoint = endpoint_of(ask)
    assert take_values(endpoint, ["x", "5", [[1, 2.0]], 1]) == ["x", 5, [[1, 2]], 1.0]
    assert take_values(endpoint, ["x", 5.0, None, "0.25"]) == ["x", 5, None, 0.25]
    for wrong, said in (
        (["x", "five"], "count: Input should be a valid integer"),
        (["x", None], "count: Input should be a valid integer"),
        (["x", 1, 7], "at: Input should be a valid list"),
        (["x", 1, [7]], "at: Input should be a valid list"),
        (["x", 1, None, "half"], "share: Input should be a valid number"),
    ):
        with pytest.raises(gr.Error, match=said):
            take_values(endpoint, wrong)


def test_a_click_tells_what_its_handler_wants():
    assert told(EventData(None, {"act": "go", "places": ["1", 2], "more": 3}), Pressed) == Pressed("go", (1, 2))
    assert told(EventData(None, {"act": "go"}), Pressed) == Pressed("go")
    for wrong in (None, 5, [], {}, {"act": 5}, {"act": "go", "places": "x"}, {"act": "go", "places": [None]}):
        with pytest.raises(gr.Error, match="the click: "):
            told(EventData(None, wrong), Pressed)
