"""The tab that writes: its example, its prompts and its controls."""

import math

import gradio as gr
import pytest

from explorer import open_registry
from explorer.analysis.branches import ROOT
from explorer.analysis.decoding_strategies import CONTROLS, STRATEGIES
from explorer.models.callers import Caller, calling
from explorer.tabs.generate.controls import SLIDERS, acting, in_words
from explorer.tabs.generate.desk import MOST_KEPT, Desk
from explorer.tabs.generate.first_text import compute_first_text, read_first_text
from explorer.tabs.generate.gallery import read_gallery, values_of
from explorer.tabs.generate.length import LengthCount
from explorer.tabs.generate.view import Prompt


def test_the_stored_example_is_what_the_model_writes(shipped_registry):
    first, computed = read_first_text(), compute_first_text(shipped_registry)
    assert first.length == computed.length
    stored, live = first.tree, computed.tree
    assert (stored.model, stored.prompt, stored.here) == (live.model, live.prompt, live.here)
    for before, now in zip(stored.nodes, live.nodes, strict=True):
        assert (before.parent, before.how, before.step.token_id) == (now.parent, now.how, now.step.token_id)
        assert before.step.text == now.step.text
        assert math.isclose(before.step.probability, now.step.probability, rel_tol=1e-3)
        # of a model that is nearly sure it is what is left to all other tokens, and processors round otherwise
        assert math.isclose(before.step.entropy, now.step.entropy, rel_tol=1e-3, abs_tol=1e-3)


def test_every_prompt_of_the_gallery_moves_controls_that_act_and_within_their_reach():
    gallery = read_gallery()
    assert len(gallery) >= 8
    assert gallery[0].text == read_first_text().tree.prompt
    for start in gallery:
        assert set(start.settings) <= set(STRATEGIES[start.strategy].controls)
        for name, value in zip(SLIDERS, values_of(start), strict=True):
            assert SLIDERS[name].least <= value <= SLIDERS[name].most


def test_every_control_of_a_strategy_has_a_slider_that_the_analysis_accepts():
    for strategy in STRATEGIES.values():
        assert set(strategy.controls) - {"seed"} <= set(SLIDERS)
    for name, reach in SLIDERS.items():
        assert CONTROLS[name].lowest <= reach.least < reach.most <= CONTROLS[name].highest


def test_only_controls_that_act_are_passed_on_and_whole_numbers_are_whole():
    values = {name: CONTROLS[name].default for name in SLIDERS} | {"top_k": 5.0, "temperature": 0.5}
    assert acting("greedy", values) == {"repetition_penalty": 1.0}
    passed = acting("sample", values)
    assert (passed["top_k"], type(passed["top_k"])) == (5, int)
    assert "beams" not in passed


@pytest.mark.parametrize(
    ("strategy", "changed", "words"),
    [
        ("greedy", {}, "greedy"),
        ("greedy", {"repetition_penalty": 1.3, "temperature": 0.2}, "greedy, repetition penalty 1.3"),
        ("sample", {"temperature": 0.7}, "sampling, temperature 0.7, top p 1, seed 3"),
    ],
)
def test_settings_in_words(strategy, changed, words):
    values = {name: CONTROLS[name].default for name in SLIDERS} | changed
    assert in_words(strategy, values, 3) == words


def test_who_asks_last_writes():
    desk = Desk(read_first_text().tree)
    first = desk.take()
    second = desk.take()
    desk.end(first)
    assert desk.is_writing
    desk.end(second)
    assert not desk.is_writing


def test_a_press_that_a_busy_server_hears_of_late_does_not_take_the_turn_of_a_later_one():
    desk = Desk(read_first_text().tree)
    with calling(Caller("anna", question=8)):
        later = desk.take()
    with calling(Caller("anna", question=7)):
        assert not desk.take()
    assert desk.turn == later
    assert desk.take() == later + 1, "who counts no questions asks when he is heard"


def test_what_was_written_from_a_prompt_is_there_again_when_the_prompt_is():
    desk = Desk(read_first_text().tree, codes={3: "code"})
    first = desk.tree
    desk.turn_to(first.model, "Another")
    assert desk.tree.nodes == () and desk.codes == {} and desk.tree.prompt == "Another"
    desk.turn_to(first.model, first.prompt)
    assert (desk.tree.nodes, desk.tree.here, desk.codes) == (first.nodes, ROOT, {3: "code"})
    for number in range(9):
        desk.turn_to(first.model, str(number))
    assert (first.model, first.prompt) not in desk.kept and len(desk.kept) <= MOST_KEPT + 1


def test_the_count_of_a_model_that_a_view_loads_stands_there_once_the_view_has_answered(shipped_registry):
    registry = open_registry()  # that has loaded nothing yet
    with gr.Blocks() as page:
        prompt = Prompt(gr.Dropdown(), gr.Textbox(), gr.Dropdown(), {}, gr.Slider(), gr.Number(), gr.HTML())
        lengths = LengthCount(registry, prompt, gr.HTML())
        lengths.catch_up([gr.Button().click(lambda: None)])
    catching_up = page.fns[max(page.fns)].fn
    assert catching_up("MiniLM (causal)", "A cat", "") == "", "typing loads nothing"
    registry.load("MiniLM (causal)")
    assert "3 of 512 tokens" in catching_up("MiniLM (causal)", "A cat", "")
    assert "value" not in catching_up("MiniLM (causal)", "A cat", "3 of 512 tokens")
