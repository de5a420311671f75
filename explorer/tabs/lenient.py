"""Choices whose offer changes while the page is at work.

Gradio refuses a value that is not among the choices of this moment before any handler sees it, with an error of its own
on the page. Two events under way at once suffice for that: the first changes the choices, the second was sent with a
value of those before. These take what is sent as it is; whoever reads it looks whether it still suits.
"""

from typing import Any

import gradio as gr

from explorer.tabs.lean_gradio import without_stubs


def take(self: gr.components.Component, payload: Any) -> Any:
    """The value as it was sent."""
    return payload


with without_stubs():

    class Dropdown(gr.Dropdown):
        """One value, or None."""

        is_template, preprocess = True, take  # a template is drawn as its base

    class Radio(gr.Radio):
        """One value, or None.

        Attributes:
            linked: Values that a link may name, though they are not on offer yet.
        """

        is_template, preprocess = True, take
        linked: tuple[str, ...] = ()

    class CheckboxGroup(gr.CheckboxGroup):
        """Any number of values."""

        is_template, preprocess = True, take
