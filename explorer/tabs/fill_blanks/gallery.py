"""Examples to start from, of the kinds that lectures use; each one click."""

import json
from dataclasses import dataclass
from itertools import groupby

import gradio as gr

from explorer.settings import ASSETS

FILE = ASSETS / "examples" / "fill_blanks.json"


@dataclass(frozen=True)
class Example:
    """One example.

    Attributes:
        kind: What it asks of the model, e.g. "agreement".
        label: On its button.
        text: With blanks.
        candidates: One line per blank, separated by commas.
        other: A second sentence to compare with.
    """

    kind: str
    label: str
    text: str
    candidates: str
    other: str


def read_gallery() -> tuple[Example, ...]:
    """The examples in page order; the first is the one the page opens on."""
    return tuple(Example(**entry) for entry in json.loads(FILE.read_text(encoding="utf-8")))


def build_gallery(examples: tuple[Example, ...]) -> list[tuple[gr.Button, Example]]:
    """Lay out a row of buttons per kind."""
    buttons = []
    with gr.Column(elem_classes="gallery"):
        gr.HTML("<p class='section'>Examples</p>", padding=False)
        for kind, group in groupby(examples, key=lambda example: example.kind):
            with gr.Row(elem_classes="gallery-row"):
                gr.HTML(f"<span class='kind'>{kind}</span>", padding=False, elem_classes="gallery-kind")
                for example in group:
                    buttons.append((gr.Button(example.label, size="sm", elem_classes="example"), example))
    return buttons
