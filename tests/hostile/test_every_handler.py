"""No handler of the page works on, or sends back, a text that cannot be read: one that cannot be sent ends all answers.

Gradio sends what a handler returns through orjson, which takes no half of a surrogate pair; where that fails, the
stream of all answers to this visitor ends.
"""

import asyncio
import time
from inspect import isgeneratorfunction, unwrap

import gradio as gr
import orjson
import pytest
from gradio.events import EventData
from gradio.state_holder import SessionState
from starlette.requests import Request

from explorer import analysis
from explorer.errors import UnknownJob, UnknownModel, UnsuitableText
from explorer.models.catalogue import CATALOGUE
from explorer.models.registry import Registry
from explorer.models.status import Budget, ModelStatus
from explorer.tabs.fill_blanks.word_strip import Hidden
from explorer.tabs.page import build_page
from explorer.tabs.visitors import find_model
from explorer.training.jobs.results import JobSpec
from explorer.training.jobs.store import JobStore
from explorer.training.tuning.examples import ExampleSet, LabelledText
from explorer.training.tuning.recipe import Recipe
from explorer.training.tuning.results import Run

HALF = "The cat \ud800 sat on the ___."
LONG = "play it ___ " * 2**19  # 6 MiB
MOST_BYTES = 2_000_000  # the first view of the anisotropy tab has 1.8 MB
WORKING_SECONDS = 2.0  # of its own thread; a handler that works on all of LONG takes more
CLICKED = {"index": 0, "blank": 0, "act": "choose", "node": 0, "token": 0, "leaf": 0, "fill": 0}
EXAMPLES = ExampleSet("x", "classification", (LabelledText("Good.", "good"), LabelledText("Bad.", "bad")))
REQUEST = Request({"type": "http", "method": "POST", "path": "/", "query_string": b"", "headers": []})


class Nobody:
    """A backend where no model answers, so that what is found is found in the handlers."""

    def status(self):
        return {card: ModelStatus(card.name, "ready") for card in CATALOGUE}

    def budget(self):
        return Budget("cpu", 0, 0, 0)

    def load(self, card, is_waiting=lambda: True):
        pass

    def run(self, card, analysis):
        raise UnsuitableText("No model answers here.")

    stream = run


@pytest.fixture(scope="module")
def page():
    for name in analysis.ANALYSES:  # each is imported when it is first asked for
        getattr(analysis, name)
    return build_page(Registry(CATALOGUE, Nobody))


def is_typed(component):
    return isinstance(component, gr.Textbox) or (isinstance(component, gr.Dropdown) and component.allow_custom_value)


def handlers(page):
    """Every handler, with the place of each of its inputs that takes what a visitor types."""
    for handler in page.fns.values():
        if handler.fn is not None:
            typed = [place for place, component in enumerate(handler.inputs) if is_typed(component)]
            yield from ((handler, place) for place in typed)


def value_of(component):
    return None if isinstance(component, gr.State) else component.get_config().get("value")


async def answers(page, handler, place, text):
    """All that a handler sends to a page that holds this text, and everything else as it is at first."""
    given = [value_of(component) for component in handler.inputs]
    given[place] = [text] if isinstance(given[place], list) else text
    state, iterator, sent = SessionState(page), None, []
    while True:
        answer = await page.process_api(
            handler, given, state=state, iterator=iterator, event_data=EventData(None, CLICKED),
            request=gr.Request(REQUEST),
        )  # fmt: skip
        sent.append(answer["data"])
        iterator = answer["iterator"]
        if iterator is None or not answer["is_generating"]:
            return sent


@pytest.mark.parametrize("text", [HALF, pytest.param(LONG, marks=pytest.mark.slow)], ids=["half a character", "6 MiB"])
def test_every_answer_to_what_cannot_be_read_can_be_sent(page, text):
    found = list(handlers(page))
    assert len(found) > 100
    wrong = []
    for handler, place in found:
        began = time.process_time()
        try:
            size = len(orjson.dumps(asyncio.run(answers(page, handler, place, text)), default=str))
            problem = f"sends {size:,} bytes" if size > MOST_BYTES else ""
        except Exception as error:
            problem = repr(error)[:200]
        seconds = time.process_time() - began
        if seconds > WORKING_SECONDS:
            problem += f" works for {seconds:.1f} s"
        if problem:
            wrong.append(f"{handler.fn} {handler.inputs[place].label!r}: {problem}")
    assert not wrong, "\n".join(wrong)


def test_no_handler_ends_without_an_answer(page):
    found = [(handler, place) for handler, place in handlers(page) if isgeneratorfunction(unwrap(handler.fn))]
    assert len(found) > 20
    silent = []
    for handler, place in found:
        first, *_ = asyncio.run(answers(page, handler, place, ""))
        if all(value is None for value in first):  # Gradio empties the components then
            silent.append(f"{handler.fn} {handler.inputs[place].label!r}")
    assert not silent, "\n".join(silent)


def test_hidden_words_come_back_after_a_text_that_cannot_be_read(page):
    functions = [one.fn for one in page.fns.values()]
    follow = next(one for one in functions if "word_strip.<locals>.follow" in getattr(one, "__qualname__", ""))
    before, shown = follow("The ___ sat.", Hidden("The ___ sat.", ("cat",)))
    assert "Put “cat” back" in shown
    for unreadable in (HALF, LONG):
        kept, shown = follow(unreadable, before)
        assert kept == before and "<button" not in shown
    assert follow("The ___ sat down.", kept)[0] == Hidden("The ___ sat down.", ("cat",))


def test_what_a_visitor_typed_can_be_said_in_an_error():
    assert str(UnknownModel("No model is called \ud83d, 😀")) == "No model is called \\ud83d, 😀"
    with pytest.raises(UnknownModel, match="No model has a name of 6,291,456 characters"):
        find_model(Registry(CATALOGUE, Nobody), LONG)


def test_a_job_keeps_a_name_that_can_be_sent_and_an_owner_a_token_that_can(tmp_path):
    store = JobStore(tmp_path)
    id = store.submit("anne's own random token", JobSpec("Half \ud83d", (Run(Recipe(), 0, "MiniLM"),), "x"), EXAMPLES)
    assert store.shown(id).spec.title == "Half ?"
    for token in ("\ud83d" * 20, "\n" * 20, LONG):
        with pytest.raises(UnknownJob, match="16 to 200 random characters"):
            store.jobs(token)
