"""What the views of the tab share: each is one question about the same model and prompt."""

from dataclasses import dataclass

import gradio as gr


@dataclass(frozen=True)
class Prompt:
    """The components every view may read.

    Attributes:
        model: Name of the chosen model.
        text: What the model is to go on from.
        strategy: A key of STRATEGIES in analysis.decoding_strategies.
        controls: Of the strategy, by the keyword of continue_text that each sets, e.g. "temperature".
        length: Most new tokens.
        seed: Of the draw.
        message: Where errors and progress are shown.
    """

    model: gr.Dropdown
    text: gr.Textbox
    strategy: gr.Dropdown
    controls: dict[str, gr.Slider]
    length: gr.Slider
    seed: gr.Number
    message: gr.HTML
