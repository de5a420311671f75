"""What the views of the tab share: each is one question about the same uses of a word and the same vectors of them."""

from dataclasses import dataclass

import gradio as gr

from explorer.tabs.neighbours.finding import Static
from explorer.tabs.neighbours.material import Vectors
from explorer.tabs.neighbours.which_vector import Which


@dataclass(frozen=True)
class Desk:
    """The components every view may read, and the vectors all of them share.

    Attributes:
        model: Name of the chosen model.
        word: One that has sentences here, or any other that the visitor's own sentences have.
        own: Sentences of the visitor's own, a line each; "" = those that come with the explorer.
        use: Which use is looked at: its place among material.read_uses(word, own); it may be higher than there are.
        file: Holds the path of a file of static vectors, or nothing.
        which: Which vector of each use.
        message: Where errors and progress are shown.
        vectors: Recent ones.
        static: Words near a word without context, and files of vectors that were read.
    """

    model: gr.Dropdown
    word: gr.Dropdown
    own: gr.Textbox
    use: gr.Number
    file: gr.State
    which: Which
    message: gr.HTML
    vectors: Vectors
    static: Static
