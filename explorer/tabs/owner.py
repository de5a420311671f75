"""Whose jobs these are: a random token that the visitor's browser keeps, and tells with what it asks."""

import gradio as gr

OWNER = "explorer.owner()"  # of assets/owner.js


def build_owner() -> gr.Textbox:
    """A hidden box for the token; ask_owner fills it."""
    return gr.Textbox("", visible="hidden")


def with_owner(inputs: int) -> str:
    """The script of an event whose first input is the token, whatever its component holds.

    Args:
        inputs: How many there are, the token included.
    """
    others = [f"value{index}" for index in range(1, inputs)]
    return f"({', '.join(['_', *others])}) => [{', '.join([OWNER, *others])}]"


def with_owner_listed() -> str:
    """The script of an event whose only input holds several values: the token is the only one."""
    return f"() => [[{OWNER}]]"
