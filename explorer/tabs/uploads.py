"""Buttons that take a visitor's own file."""

from collections.abc import Sequence

import gradio as gr

SENTENCE_FILES = (".txt", ".csv", ".tsv", ".gz", ".xz")  # as sentence_files.read_sentence_file reads them


def file_button(label: str, types: Sequence[str] | None, elem_id: str) -> gr.UploadButton:
    """A small button; types are the endings that a file may have, None = any."""
    return gr.UploadButton(label, file_types=types and list(types), size="sm", elem_id=elem_id, elem_classes="own-file")
