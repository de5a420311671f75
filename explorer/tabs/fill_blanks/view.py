"""What the views of the tab share: each is one question about the same sentence and model."""

from collections.abc import Callable
from dataclasses import dataclass

import gradio as gr


@dataclass(frozen=True)
class Sentence:
    """The components every view reads.

    Attributes:
        model: Name of the chosen model.
        text: The sentence with blanks.
        top_k: Choices per blank.
        count: Completions.
        strategy: A key of STRATEGIES.
        message: Where errors and progress are shown.
    """

    model: gr.Dropdown
    text: gr.Textbox
    top_k: gr.Slider
    count: gr.Slider
    strategy: gr.Radio
    message: gr.HTML


@dataclass(frozen=True)
class View:
    """One view, laid out and ready to be wired.

    Attributes:
        tab: Its sub-tab.
        draw: Event handler: message first, then the outputs; see messages.in_place.
        inputs: Of draw; the model first.
        outputs: Of draw, without the message.
        own: Components of its own whose change redraws the view.
    """

    tab: gr.Tab
    draw: Callable
    inputs: list[gr.components.Component]
    outputs: list[gr.components.Component]
    own: tuple[gr.components.Component, ...] = ()
