"""The views of a tab: which is drawn when, and how all work of the tab is stopped."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial

import gradio as gr

from explorer.models.callers import current_caller
from explorer.tabs.messages import QUIET, build_stop, outlast_late_words, stopped_box


@dataclass(frozen=True)
class View:
    """One view, laid out and ready to be wired: one question about the model and the text that its tab shares.

    Attributes:
        tab: Its sub-tab.
        draw: Event handler: message first, then the outputs; see messages.in_place. None = the view wires itself.
        inputs: Of draw; the model first.
        outputs: Of draw, without the message.
        own: Components of its own that a link restores, by their name in the address; a change of one redraws the view.
        linked: Further ones that a link restores, whose change redraws nothing.
        after: Events after which it alone is out of date.
        runs: Events of its own that write or search until they are stopped.
        stop: What ends them, beside Gradio's own way: a handler, its inputs and its outputs, the message first.
    """

    tab: gr.Tab
    draw: Callable[..., Iterator[tuple]] | None = None
    inputs: list[gr.components.Component] = field(default_factory=list)
    outputs: list[gr.components.Component] = field(default_factory=list)
    own: dict[str, gr.components.Component] = field(default_factory=dict)
    linked: dict[str, gr.components.Component] = field(default_factory=dict)
    after: list[gr.events.Dependency] = field(default_factory=list)
    runs: list[gr.events.Dependency] = field(default_factory=list)
    stop: tuple[Callable, list[gr.components.Component], list[gr.components.Component]] | None = None


@dataclass
class Asking:
    """What a visitor has asked the views of a tab; changed in place, so that what is at work sees it.

    Attributes:
        asked: Number of the latest question, by the view's id.
        questions: Which of the page's questions that was, by Caller.question, likewise.
        begun: Number of the latest that was begun, likewise.
        begins: How many were begun, or left, in all.
        stopped: Which of the page's questions was the latest stop.
    """

    asked: dict[str, int] = field(default_factory=dict)
    questions: dict[str, int] = field(default_factory=dict)
    begun: dict[str, int] = field(default_factory=dict)
    begins: int = 0
    stopped: int = 0

    def ask(self, view: str, count: int) -> int:
        """A view is to be drawn once more than that often; returns the number of that."""
        self.asked[view], self.questions[view] = count + 1, current_caller().question
        return count + 1

    def begin(self, view: str, number: int) -> Callable[[], bool]:
        """A question is at work; returns what tells whether it was left: for another view, or for a later question."""
        self.begun[view] = number
        self.begins += 1
        begins = self.begins
        return lambda: self.begins != begins or self.asked.get(view, 0) > number

    def leave(self) -> None:
        """The visitor looks at a view that is drawn by itself."""
        self.begins += 1

    def stop(self) -> None:
        """The visitor has stopped all that was asked for before."""
        self.stopped = current_caller().question

    def is_forgotten(self, view: str) -> bool:
        """Whether what was asked for since the stop was never begun."""
        is_later = self.questions.get(view, 0) >= self.stopped
        return is_later and self.asked.get(view, 0) > self.begun.get(view, 0)


def linked_fields(views: list[View]) -> dict[str, gr.components.Component]:
    """What a link restores of the views of a tab, by the names in the address."""
    return {name: component for view in views for name, component in (view.own | view.linked).items()}


def wire(
    message: gr.HTML,
    views: list[View],
    shown: gr.Radio,
    changed: list[gr.events.Dependency],
    stop: gr.Button | None = None,
) -> list[gr.events.Dependency]:
    """Redraw the view in sight when what it reads or its own controls change, or when another is chosen.

    Gradio 6 runs all handlers of an event again when one of them was deferred (trigger_mode="always_last"), so that two
    of them defer each other for ever: an event of a component has one handler, and what follows it is chained. It also
    forgets what was deferred when it cancels: what was asked for between a stop and its end is asked for again.

    A question that was left for another one ends, unless its answer is there already.

    Args:
        message: Where the views say how far they are.
        views: In page order.
        shown: Holds the id of the view in sight; it changes without the server, so that quick clicks cannot overtake
            each other.
        changed: Events after which the view in sight is out of date.
        stop: Ends what is at work; None = a hidden button, which Stop and Escape press.

    Returns:
        Events after which a view has answered, or was stopped.
    """
    drawn = [view for view in views if view.draw]
    asks, asking = [gr.State(0) for _ in drawn], gr.State(Asking())
    work = [run for view in views for run in view.runs]
    for view in views:
        view.tab.select(None, None, shown, js=f"() => {json.dumps(view.tab.id)}", **QUIET)
    for view, ask in zip(drawn, asks, strict=True):
        event = {"inputs": [asking, ask, *view.inputs], "outputs": [message, *view.outputs], **QUIET}
        work.append(ask.change(_noting(view), **event, trigger_mode="always_last"))
        for control in view.own.values():
            control.change(partial(_ask_if_shown, view.tab.id), [shown, asking, ask], ask, **QUIET)
        for event in view.after:
            event.then(partial(_ask_if_shown, view.tab.id), [shown, asking, ask], ask, **QUIET)
    ways = [view.stop for view in views if view.stop] if stop else [(stopped_box, [message], message)]
    pressed, stopped = stop or build_stop(), []
    for handler, inputs, outputs in ways:
        event = pressed.click(partial(_stop, handler), [asking, *inputs], outputs, cancels=work, **QUIET)
        stopped.append(outlast_late_words(event, message))

    def ask_active(shown: str, asking: Asking, *asked: int) -> list:
        return [
            asking.ask(shown, count) if view.tab.id == shown else gr.skip()
            for view, count in zip(drawn, asked, strict=True)
        ]

    def ask_forgotten(shown: str, asking: Asking, *asked: int) -> list:
        return ask_active(shown if asking.is_forgotten(shown) else "", asking, *asked)

    def turn_to(shown: str, asking: Asking, *asked: int) -> tuple:
        if all(view.tab.id != shown for view in drawn):
            asking.leave()
        return "", *ask_active(shown, asking, *asked)

    redraw = {"fn": ask_active, "inputs": [shown, asking, *asks], "outputs": asks, "trigger_mode": "always_last"}
    for event in changed:
        event.then(**redraw, **QUIET)
    for event in stopped:
        event.then(ask_forgotten, [shown, asking, *asks], asks, **QUIET)
    shown.change(turn_to, [shown, asking, *asks], [message, *asks], **QUIET)
    return [*work, *stopped]


def _noting(view: View) -> Callable[..., Iterator[tuple]]:
    """What draws a view, until what it draws was left before it is there; takes the number of what was asked, too."""

    def handler(asking: Asking, number: int, *inputs: object) -> Iterator[tuple]:
        is_left = asking.begin(view.tab.id, number)
        with closing(view.draw(*inputs)) as steps:
            for message, *drawn in steps:
                if not is_left():
                    yield message, *drawn
                elif message:  # where nothing was yielded, Gradio would empty all outputs
                    yield tuple(gr.skip() for _ in (message, *drawn))
                    return
                else:  # its answer is there: what is said belongs to the question after it
                    yield gr.skip(), *drawn

    return handler


def _ask_if_shown(view: str, shown: str, asking: Asking, count: int) -> object:
    return asking.ask(view, count) if view == shown else gr.skip()


def _stop(handler: Callable[..., object], asking: Asking, *inputs: object) -> object:
    asking.stop()
    return handler(*inputs)
