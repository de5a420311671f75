"""What is asked of the views of a tab: what was left is heard of no more, and what was stopped is not begun again."""

import gradio as gr
import pytest

from explorer.models.callers import Caller, calling
from explorer.tabs.views import Asking, View, _noting, _stop

WORKING = "Computing, 1 s so far …"


@pytest.fixture
def view():
    def draw(model):
        yield WORKING, gr.skip()
        yield WORKING, gr.skip()
        yield "", f"answer of {model}"

    with gr.Blocks():
        return View(gr.Tab("One", id="one"), draw)


def asked(asking, view, question):
    with calling(Caller("anna", question=question)):
        return asking.ask(view, asking.asked.get(view, 0))


def test_a_question_that_nobody_left_is_answered(view):
    asking = Asking()
    said = [message for message, _ in _noting(view)(asking, asked(asking, "one", 1), "BERT")]
    assert said == [WORKING, WORKING, ""]


@pytest.mark.parametrize(
    "leave",
    [
        lambda asking: asked(asking, "one", 2),  # another text
        lambda asking: asking.begin("two", asked(asking, "two", 2)),  # another view
        lambda asking: asking.leave(),  # a view that is not drawn by itself
    ],
)
def test_of_a_question_that_was_left_no_progress_is_told_but_its_answer_if_it_is_there(view, leave):
    asking = Asking()
    steps = _noting(view)(asking, asked(asking, "one", 1), "BERT")
    assert next(steps)[0] == WORKING
    leave(asking)
    assert list(steps) == [(gr.skip(), gr.skip())], "where nothing is yielded, Gradio empties the outputs"

    steps = _noting(view)(asking, asked(asking, "one", 3), "BERT")
    next(steps), next(steps)
    leave(asking)
    [(message, answer)] = steps
    assert answer == "answer of BERT" and message == gr.skip(), "what is said is of the question after it"


def test_what_was_asked_before_a_stop_is_not_begun_again_and_what_was_asked_since_is(view):
    asking = Asking()
    asked(asking, "one", 1)
    with calling(Caller("anna", question=3)):
        assert _stop(lambda said: f"stopped: {said}", asking, WORKING) == f"stopped: {WORKING}"
    assert not asking.is_forgotten("one") and not asking.is_forgotten("two")
    asked(asking, "one", 2)  # before the stop, and late
    assert not asking.is_forgotten("one")
    number = asked(asking, "one", 4)
    assert asking.is_forgotten("one")
    asking.begin("one", number)
    assert not asking.is_forgotten("one")
