"""What a handler tells the visitor: progress while a model is on its way, and errors where the mistake is."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextvars import copy_context
from functools import partial
from html import escape
from threading import Event, Thread
from typing import Any

import gradio as gr

from explorer.errors import (
    ExplorerError,
    ModelRefused,
    ModelUnavailable,
    NoBlank,
    NothingFound,
    UnknownJob,
    UnknownModel,
    UnsuitableModel,
)
from explorer.logs import log_fault
from explorer.models.card import Ability
from explorer.models.presence import check_can_be_had
from explorer.models.registry import Registry
from explorer.tabs.visitors import find_model

# Events of the page itself: not listed, no spinner. Gradio would copy the state of every output, and of all that stands
# in it, at every message, only to hide the spinner on it: benchmarks/first_token.py took 260 ms so, and takes 102.
QUIET = {"api_visibility": "private", "show_progress": "hidden", "show_progress_on": []}
POLL_SECONDS = 0.25
SLOW_SECONDS = 0.4  # a load that takes longer shows what is going on
LATE_SECONDS = 0.7  # after a stop; a message of new work that is overwritten then comes again at its next word
SLOWER_SECONDS = 1.2  # an analysis may take longer: a message for every key would make the page jump
OF_MODEL = (UnknownModel, UnsuitableModel, ModelUnavailable, ModelRefused, UnknownJob)
NOTHING_HIDDEN = "The sentence has no blank: click a word below it to hide it, or write ___ where a word is missing."
STOPPED = "Stopped. If an answer stands below, it is the one before; change anything to ask anew."
STOPPED_CORPUS = "Stopped. What was computed is kept; the search goes on from there when you start it again."
STOPPED_DOWNLOAD = "Stopped. The download goes on from there when you ask again."


def refused_place(elem_id: str | None = None) -> gr.HTML:
    """Where a view says that what stands in its own fields will not do; what is below keeps its answer, dimmed."""
    return gr.HTML(padding=False, elem_id=elem_id, elem_classes="refused-here")


def error_box(text: str, *, of_model: bool = False, is_idle: bool = False, is_beside: bool = False) -> str:
    """A message about a mistake, and what to do.

    Args:
        text: What it says.
        of_model: Whether the mistake is the model in the tab's picker: it then stands below that.
        is_idle: Whether nothing is wrong, and only nothing asked: it is not red then.
        is_beside: Whether what is in sight is still the answer to what is asked: it is not dimmed then.
    """
    kind = f"error{' of-model' * of_model}{' idle' * is_idle}{' beside' * is_beside}"
    return f"<div class='message {kind}' role='alert'>{escape(text)}</div>"


def progress_box(text: str, *, meanwhile: bool = False) -> str:
    """A message about work under way, with a button that stops it where add_stop was called.

    Args:
        text: How far it is.
        meanwhile: Whether what is in sight is of this input already, and only a better one is on its way.
    """
    button = "<button type='button' data-action='stop' title='Escape stops, too'>Stop</button>"
    kind = "working meanwhile" if meanwhile else "working"
    return f"<div class='message {kind}' role='status'><span>{escape(text)}</span>{button}</div>"


def build_stop() -> gr.Button:
    """A button that page.js presses when the Stop of a message is, or Escape."""
    return gr.Button("Stop", visible="hidden", elem_classes="stop-work")


def add_stop(message: gr.HTML, events: list[gr.events.Dependency]) -> gr.events.Dependency:
    """Let the Stop button of a message, and Escape, end events; what they show stays as it is.

    A download ends, unless others wait for the same model.

    Args:
        message: Where the events show their progress.
        events: Of handlers that yield while they work.

    Returns:
        As outlast_late_words.
    """
    return outlast_late_words(build_stop().click(stopped_box, message, message, cancels=events, **QUIET), message)


def outlast_late_words(stopped: gr.events.Dependency, message: gr.HTML) -> gr.events.Dependency:
    """What was on its way to the page when events were cancelled may come after the word that they are: say it again.

    Args:
        stopped: The event that cancelled them.
        message: Where progress is shown.

    Returns:
        The event after which no word of the cancelled work comes.
    """
    late = stopped.then(lambda: time.sleep(LATE_SECONDS), None, None, **QUIET)
    return late.then(
        lambda shown: stopped_box(shown) if "message working" in (shown or "") else gr.skip(), message, message, **QUIET
    )


def stopped_box(working: str | None) -> str:
    """What to say once work was stopped that said this of itself; None = nothing yet."""
    kinds = {"Downloading": STOPPED_DOWNLOAD, "the corpus": STOPPED_CORPUS}
    words = next((words for kind, words in kinds.items() if kind in (working or "")), STOPPED)
    return f"<div class='message stopped' role='status'>{words}</div>"


def in_place(
    registry: Registry, outputs: int, ability: Ability | None = None, *, meanwhile: bool = False
) -> Callable[[Callable[..., tuple]], Callable[..., Iterator[tuple]]]:
    """Make an event handler of `draw(registry, model, *inputs) -> outputs`.

    The handler takes the name of a model, or a list of names, which draw gets as the registry has them.

    The handler's first output is the message. While the model is on its way, or draw takes long, it says so and leaves
    the old result; an ExplorerError becomes a message and leaves the old result; any other error is logged under a
    reference.

    Args:
        registry: The models on offer; a visitor's own model is added for the call.
        outputs: How many outputs draw returns.
        ability: What the models are wanted for, for the suggestions about one that is unknown or cannot be had.
        meanwhile: Whether what is in sight is of these inputs already, and draw adds to it.
    """
    unchanged = [gr.skip()] * outputs

    def decorate(draw: Callable[..., tuple]) -> Callable[..., Iterator[tuple]]:
        def handler(model: str | list[str], *inputs: object) -> Iterator[tuple]:
            names, is_picked = model if isinstance(model, list) else [model], True
            try:
                own, found = registry, []
                for place, asked in enumerate(names):
                    is_picked = place == 0  # the others have boxes of their own
                    own, name = find_model(own, asked, ability)
                    found.append(name)
                    for words in loading_words(own, name, ability):
                        yield progress_box(words), *unchanged
                is_picked = len(names) == 1
                drawn = _Work(partial(draw, own, found if isinstance(model, list) else name, *inputs))
                for seconds in drawn.progress(SLOWER_SECONDS):
                    words = f"Computing with {', '.join(found)}, {seconds:.0f} s so far …"
                    yield progress_box(words, meanwhile=meanwhile), *unchanged
                yield "", *drawn.result()
            except Exception as error:
                yield explain(error, is_picked=is_picked), *unchanged

        return handler

    return decorate


def explain(error: Exception, *, is_picked: bool = True) -> str:
    """The message about an exception that is being handled: a mistake says what to do, a fault of ours is logged.

    Args:
        error: That exception.
        is_picked: Whether a mistake in a model is one in that of the tab's picker.
    """
    if not isinstance(error, ExplorerError):
        return error_box(fault_message())
    if isinstance(error, NoBlank):  # whoever put a word into the last one meant to
        return error_box(NOTHING_HIDDEN, is_idle=True)
    of_model, is_beside = is_picked and isinstance(error, OF_MODEL), isinstance(error, NothingFound)
    return error_box(str(error), of_model=of_model, is_beside=is_beside)


def fault_message() -> str:
    """Log the exception being handled, and return what to tell the visitor."""
    return (
        f"Something went wrong on our side (reference {log_fault()}). Your input is kept; try again, "
        "or tell the operator the reference."
    )


def loading_words(registry: Registry, name: str, purpose: Ability | None = None) -> Iterator[str]:
    """Load a model, and say from time to time how far it is; nothing is said of one that is ready or quick.

    Args:
        registry: That has the model.
        name: Of the model.
        purpose: What it is wanted for: where it cannot be had, the message names others that can do it.

    Raises:
        ExplorerError: The model cannot be had.
    """
    if _status(registry, name).state == "ready":
        return
    if purpose:
        check_can_be_had(registry.card(name), purpose)
    stopped = Event()
    load = _Work(partial(registry.load, name, lambda: not stopped.is_set()))
    try:
        for seconds in load.progress(SLOW_SECONDS):
            status = _status(registry, name)
            verb = "Downloading" if status.state == "downloading" else "Loading"
            share = status.progress
            words = f"{verb} {name}"
            if share and share < 1:
                words += f": {share:.0%}"
                if 0.02 < share < 0.99 and seconds > 2:
                    words += f", about {seconds * (1 - share) / share:.0f} s left"
            yield words + " …"
    finally:
        stopped.set()  # whoever pressed Stop closes this generator
    load.result()


class _Work:
    """Work in a thread of its own, so that the visitor hears of it, and can stop waiting for it."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self._answer: Future = Future()
        context = copy_context()  # Gradio keeps there that an event is being handled
        Thread(target=context.run, args=(self._run, work), daemon=True).start()

    def _run(self, work: Callable[[], Any]) -> None:
        try:
            self._answer.set_result(work())
        except BaseException as error:  # carried to the visitor's thread
            self._answer.set_exception(error)

    def progress(self, quiet_seconds: float) -> Iterator[float]:
        """Yield the seconds that have passed, from time to time, until it is done; nothing at first."""
        began = time.monotonic()
        wait([self._answer], timeout=quiet_seconds)
        while not self._answer.done():
            yield time.monotonic() - began
            wait([self._answer], timeout=POLL_SECONDS)

    def result(self) -> Any:
        """What the work returned, or raise what it raised; to be asked once."""
        answer, self._answer = self._answer, Future()
        try:
            return answer.result()
        finally:
            del answer  # else an error, its traceback and this frame would keep each other, and a model, in memory


def _status(registry: Registry, name: str):
    registry.card(name)  # raises UnknownModel with the nearest names
    return next(status for status in registry.status() if status.name == name)
