"""The views of a tab: which is drawn when, and how all work of the tab is stopped."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial

import gradio as gr

from explorer.tabs.messages import QUIET, add_stop, outlast_late_words


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
    asks, begun = ([gr.State(0) for _ in drawn] for _ in range(2))
    work = [run for view in views for run in view.runs]
    for view in views:
        view.tab.select(None, None, shown, js=f"() => {json.dumps(view.tab.id)}", **QUIET)
    for view, ask, began in zip(drawn, asks, begun, strict=True):
        event = {"inputs": [ask, *view.inputs], "outputs": [message, began, *view.outputs], **QUIET}
        work.append(ask.change(_noting(view.draw), **event, trigger_mode="always_last"))
        for control in view.own.values():
            control.change(partial(_ask_if_shown, view.tab.id), [shown, ask], ask, **QUIET)
        for event in view.after:
            event.then(partial(_ask_if_shown, view.tab.id), [shown, ask], ask, **QUIET)
    stopped = [] if stop else [add_stop(message, work)]
    for handler, inputs, outputs in [view.stop for view in views if view.stop and stop]:
        stopped.append(outlast_late_words(stop.click(handler, inputs, outputs, cancels=work, **QUIET), message))

    def ask_active(shown: str, *asked: int) -> list:
        return [
            count + 1 if view.tab.id == shown else gr.skip() for view, count in zip(drawn, asked, strict=True)
        ]  # fmt: skip

    def ask_forgotten(shown: str, *counts: int) -> list:
        asked, begun = counts[: len(drawn)], counts[len(drawn) :]
        again = zip(ask_active(shown, *asked), asked, begun, strict=True)
        return [new if count > last else gr.skip() for new, count, last in again]

    redraw = {"fn": ask_active, "inputs": [shown, *asks], "outputs": asks, "trigger_mode": "always_last", **QUIET}
    for event in changed:
        event.then(**redraw)
    for event in stopped:
        event.then(ask_forgotten, [shown, *asks, *begun], asks, **QUIET)
    shown.change(lambda *asked: ("", *ask_active(*asked)), [shown, *asks], [message, *asks], **QUIET)
    return [*work, *stopped]


def _noting(draw: Callable[..., Iterator[tuple]]) -> Callable[..., Iterator[tuple]]:
    """The same handler, which takes the number of what was asked first, and says it behind the message."""

    def handler(number: int, *inputs: object) -> Iterator[tuple]:
        with closing(draw(*inputs)) as steps:
            for message, *drawn in steps:
                yield message, number, *drawn

    return handler


def _ask_if_shown(view: str, shown: str, count: int) -> object:
    return count + 1 if view == shown else gr.skip()
