"""What an address puts into a field, whatever somebody wrote into the address."""

import asyncio
from types import SimpleNamespace
from urllib.parse import parse_qsl

import gradio as gr
import pytest

from explorer.models.catalogue import CATALOGUE
from explorer.models.registry import Registry
from explorer.tabs import lenient
from explorer.tabs.attention.look import is_look
from explorer.tabs.attention.tab import build as build_attention
from explorer.tabs.attention.which import is_which
from explorer.tabs.links import (
    LinkedTab,
    _cut,
    _first_value,
    _keep,
    _left_out,
    _spellings,
    _stretched,
    _value,
    _what_to_look_for,
    names_other,
    wire_links,
)
from explorer.tabs.page import TABS

SLIDER = gr.Slider(1, 20, 5, step=1)
SHARE = gr.Slider(0.05, 1, 0.9, step=0.05)
RATE = gr.Number(0, step=1e-4)
NUMBER = gr.Number(1, minimum=1, precision=0)
RADIO = gr.Radio([("Joint", "joint"), ("Left", "left")], value="joint")
DIMENSIONS = gr.Radio([("2-D", 2), ("3-D", 3)], value=2)
MODEL = gr.Dropdown([("A · 1 M", "A")], value="A", allow_custom_value=True)
TICKED = gr.CheckboxGroup([("X", "x"), ("Y", "y")], value=["x"])
OWN_MODELS = gr.Dropdown(["A"], value=["A"], multiselect=True, allow_custom_value=True)
WHICH, LOOK = gr.Textbox("encoder-1-1"), gr.Textbox("")
WHICH.is_spelled, LOOK.is_spelled = is_which, is_look
MODELS = gr.Dropdown([("A · 1 M", "A"), ("B, early", "B, early")], value=["A"], multiselect=True, max_choices=1)


@pytest.mark.parametrize(
    ("component", "given", "value"),
    [
        (gr.Textbox(), "", ""),
        (gr.Textbox(), "<b>\n", "<b>\n"),
        (SLIDER, "7", 7),
        (SLIDER, "21", None),
        (SLIDER, "0", None),
        (SLIDER, "nan", None),
        (SLIDER, "1e3", None),
        (SLIDER, "²", None),
        (SHARE, "0.35", 0.35),
        (SHARE, "1", 1.0),
        (SHARE, "1.01", None),
        (SHARE, "1e-1", 0.1),
        (SHARE, "1e1", None),
        (RATE, "5e-7", 5e-7),
        (RATE, "1.2345678e-7", 1.2345678e-7),
        (RATE, "0.00012345678", 0.00012345678),
        (RATE, "1e9", None),
        (RATE, "9" * 400, None),
        (SLIDER, "7.5", None),
        (NUMBER, "300", 300),
        (NUMBER, "9" * 400, None),
        (RADIO, "left", "left"),
        (RADIO, "right", None),
        (DIMENSIONS, "3", 3),
        (DIMENSIONS, "4", None),
        (MODEL, "some/model", "some/model"),
        (MODELS, "A", ["A"]),
        (MODELS, "B, early|C|A", ["B, early"]),
        (MODELS, "", []),
        (OWN_MODELS, "A|mine, of late", ["A", "mine, of late"]),
        (OWN_MODELS, "", []),
        (TICKED, "x|no|y", ["x", "y"]),
        (TICKED, "", []),
        (WHICH, "cross-3-2", "cross-3-2"),
        (WHICH, "3-2", None),
        (WHICH, "", None),
        (LOOK, "matrix.no", "matrix.no"),
        (LOOK, "matrices", None),
    ],
)
def test_a_field_takes_what_it_can_hold_and_nothing_else(component, given, value):
    assert _value(given, component) == value


@pytest.mark.parametrize(
    ("given", "value", "maximum"), [("7", 7, 20), ("20", 20, 20), ("24", 24, 24), ("0", 0, 20), ("999", 999, 999)]
)
def test_a_slider_that_follows_the_model_takes_more_than_the_first_model_has(given, value, maximum):
    update = _stretched({"layer": given}, "layer", SLIDER, _keep, ends_here=False)
    assert (update.value, update.maximum) == (value, maximum)
    first = _stretched({"layer": given}, "layer", SLIDER, _keep, ends_here=True)
    assert (first.value, first.maximum) == (min(value, 20), 20), "where the first model ends is known"


@pytest.mark.parametrize("given", [{}, {"layer": "-1"}, {"layer": "1e3"}, {"layer": "²"}, {"layer": "9" * 400}])
def test_what_is_no_number_leaves_that_slider_alone(given):
    assert _stretched(given, "layer", SLIDER, _keep, ends_here=True) == gr.skip()
    back = _stretched(given, "layer", SLIDER, _first_value, ends_here=True)
    assert (back.value, back.maximum) == (5, 20), "the page may have shortened it since"


def test_a_link_may_name_what_is_on_offer_later():
    choice = lenient.Radio(["a"], value="a")
    choice.linked = ("a", "b")
    assert [_value(name, choice) for name in "abc"] == ["a", "b", None]


@pytest.mark.parametrize(
    ("address", "names"),
    [
        ("?tab=here", False),
        ("?tab=here&word=first&job=", False),
        ("?tab=here&word=other", True),
        ("?tab=here&job=a1", True),
        ("?tab=here&model=BERT", True),  # as the page wrote it when that was in sight
        ("?tab=there&word=other", False),  # of another tab, which the visitor comes from
        ("?word=other", False),
        ("", False),
    ],
)
def test_an_address_names_other_than_first_values(address, names):
    request = SimpleNamespace(query_params=dict(parse_qsl(address.removeprefix("?"), keep_blank_values=True)))
    fields = {"word": gr.Textbox("first"), "job": gr.Textbox("")}
    fields["model"] = gr.Textbox("BERT")
    assert names_other(request, "here", fields, "model") == names


@pytest.mark.parametrize("with_clock", [2, 3])
def test_a_tab_stops_the_clocks_of_the_others(with_clock):
    with gr.Blocks() as page:
        with gr.Tabs() as tabs:
            linked = []
            for number in range(with_clock):
                with gr.Tab(str(number), id=str(number)) as tab:
                    linked.append(LinkedTab(tab, clock=gr.Timer(2.0, active=False)))
        wire_links(page, tabs, linked)
    stopping = [event for event in page.fns.values() if event.outputs and isinstance(event.outputs[0], gr.Timer)]
    assert len(stopping) == with_clock
    for event in stopping:
        answered = asyncio.run(page.process_api(event, []))
        assert answered["data"] == [{"active": False, "__type__": "update"}] * (with_clock - 1)  # no value


def test_a_link_to_an_example_says_what_to_look_for_and_no_other_link_does():
    registry = Registry(CATALOGUE, lambda: pytest.fail("nothing is loaded"))
    with gr.Blocks(), gr.Tabs():
        linked = [entry for build in TABS if (entry := build(registry)).look]
    assert all(entry.look[0].value == "" for entry in linked if not entry.look[1]), "no heading of nothing"
    assert len(linked) == len(TABS) and sum(bool(entry.look[1]) for entry in linked) == 5
    for entry in linked:
        for fills, line in entry.look[1]:
            given = {name: _spellings(value)[-1] for name, value in fills.items()}
            assert _what_to_look_for(given, entry) == line and "Look for:" in line
            assert _what_to_look_for(given | {"model" if "model" in given else "text": "another"}, entry) == ""
            assert "look" not in given or _what_to_look_for(given | {"look": "p2.h1.h3"}, entry) == ""
            assert "strategy" not in given or _what_to_look_for(given | {"strategy": "independent"}, entry) == ""


def test_what_to_look_for_stands_in_a_view_that_it_names_too():
    registry = Registry(CATALOGUE, lambda: pytest.fail("nothing is loaded"))
    with gr.Blocks(), gr.Tabs():
        tab = build_attention(registry)
    assert "“Find a head” counts" in _what_to_look_for({"tab": "attention", "show": "find"}, tab)
    assert _what_to_look_for({"tab": "attention", "show": "all"}, tab) == ""


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, ""),
        ({"tab": "here", "top_k": "7", "order": "left", "blank": "", "text": "<b>", "layer": "99"}, ""),
        ({"top_k": "many"}, "there is no such choice here: Choices “many”."),
        ({"tab": "no<b>", "order": "x", "layer": "-1"}, "order “x”, Slider “-1”, tab “no&lt;b&gt;”."),
        (
            {"tab": "no", "top_k": "0", "order": "x" * 99, "layer": "1e3"},
            f"order “{'x' * 30}”, Slider “1e3”, and more.",
        ),
    ],
)
def test_what_a_link_asks_for_in_vain_is_named(given, told):
    with gr.Blocks(), gr.Tabs(), gr.Tab("Here", id="here") as tab:
        fields = {"text": gr.Textbox(), "top_k": gr.Slider(1, 20, 5, step=1, label="Choices")}
        fields |= {"order": RADIO, "blank": NUMBER, "layer": gr.Slider(0, 6, 1, step=1, label="Slider")}
    said = _left_out(given, LinkedTab(tab, fields, stretching=("layer",)), ["here"])
    assert told in said and bool(told) == bool(said)


def test_what_was_too_long_for_a_link_is_named_to_who_opens_it():
    with gr.Blocks(), gr.Tabs(), gr.Tab("Here", id="here") as tab:
        entry = LinkedTab(tab, {"own": gr.Textbox(label="Your <pairs>: two texts"), "text": gr.Textbox(label="Text")})
    assert "not in this one: Your &lt;pairs&gt;. What" in _cut({"without": "own|there is none|<b>"}, entry)
    assert "one: Your &lt;pairs&gt;, Text. What" in _cut({"without": "text|own|own"}, entry)
    assert _cut({}, entry) == _cut({"without": "<b>"}, entry) == _cut({"without": ""}, entry) == ""
