"""What the views of the tab share: each is one question about the same model, text and head."""

from dataclasses import dataclass

import gradio as gr


@dataclass(frozen=True)
class Prompt:
    """The components every view may read.

    Attributes:
        model: Name of the chosen model.
        text: What the model reads; the encoder where there are two.
        second: The second text of a pair, what was written behind the text, or what the decoder reads; "" = none, or
            what the model writes itself.
        new_tokens: How many tokens a causal model writes first, greedily.
        which: The head in sight, as tabs.attention.which spells it; a view that sets it moves the view "Head" there.
        look: How the view "Head" draws it, as assets/attention.js spells it.
        message: Where errors and progress are shown.
    """

    model: gr.Dropdown
    text: gr.Textbox
    second: gr.Textbox
    new_tokens: gr.Slider
    which: gr.Textbox
    look: gr.Textbox
    message: gr.HTML

    @property
    def inputs(self) -> list[gr.components.Component]:
        """What decides the weights, in the order of readings.Ask; the model first."""
        return [self.model, self.text, self.second, self.new_tokens]
