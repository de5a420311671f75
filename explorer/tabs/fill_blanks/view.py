"""What the views of the tab share: each is one question about the same sentence and model."""

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
