"""What the views of the tab share: each is one question about the vectors that the same model gives the same corpus."""

from dataclasses import dataclass

import gradio as gr

from explorer.tabs.anisotropy.material import Measured


@dataclass(frozen=True)
class Desk:
    """The components every view may read, and the measurements all of them share.

    Attributes:
        model: Name of the chosen model.
        own: Sentences of the visitor's own, a line each, for material.read_corpus; "" = those that come with the
            explorer.
        unit: What has a vector: "tokens" or "words".
        specials: Whether the tokens that the tokenizer adds are counted; of words they are not, whatever it says.
        layer: Holds where the slider of layers stands; it may be more than the model has.
        slider: That slider.
        measured: Recent ones.
    """

    model: gr.Dropdown
    own: gr.Textbox
    unit: gr.Radio
    specials: gr.Checkbox
    layer: gr.Number
    slider: gr.Slider
    measured: Measured
