"""Buttons that take a visitor's own file."""

import json
from collections.abc import Sequence

import gradio as gr

from explorer.tabs.messages import QUIET

SENTENCE_FILES = (".txt", ".csv", ".tsv", ".gz", ".xz")  # as sentence_files.read_sentence_file reads them


def file_button(label: str, types: Sequence[str] | None, elem_id: str) -> gr.UploadButton:
    """A small button; types are the endings that a file may have, None = any."""
    return gr.UploadButton(label, file_types=types and list(types), size="sm", elem_id=elem_id, elem_classes="own-file")


def said_of(text: str, said: str) -> str:
    """What is said of a file, marked by the text that it brought.

    Args:
        text: As it goes into its box.
        said: HTML.
    """
    length = len(text.encode("utf-16-le")) // 2  # as the page counts
    return f"<div data-of='{length}'>{said}</div>"


def forget_file(text: gr.Textbox, said: gr.HTML) -> None:
    """Let what is said of a file go once another text stands in its box, and what is said at first come back.

    Args:
        text: The box.
        said: Holds said_of, or why a file was refused.
    """
    first = json.dumps(said.value)
    js = f"(text, said) => said?.includes(`data-of='${{text?.length}}'`) ? said : {first}"
    text.change(None, [text, said], said, js=js, **QUIET)
