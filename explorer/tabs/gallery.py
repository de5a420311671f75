"""Rows of examples, each one click."""

import json
from collections.abc import Iterable, Sequence
from html import escape
from itertools import groupby
from typing import Protocol, TypeVar

import gradio as gr

from explorer.settings import ASSETS


class Explained(Protocol):
    """What every example says of itself.

    Attributes:
        kind: The row it stands in.
        label: On its button.
        note: What to know before pressing it, or to look at after; may be empty.
    """

    @property
    def kind(self) -> str: ...  # noqa: D102
    @property
    def label(self) -> str: ...  # noqa: D102
    @property
    def note(self) -> str: ...  # noqa: D102


Example = TypeVar("Example", bound=Explained)


def read_examples(name: str, kind: type[Example]) -> tuple[Example, ...]:
    """The examples of a tab in page order; the first is the one that it opens on.

    Args:
        name: Of their file in assets/examples, without its end.
        kind: Of one example: a dataclass with the fields of the file's entries.
    """
    entries = json.loads((ASSETS / "examples" / f"{name}.json").read_text(encoding="utf-8"))
    return tuple(kind(**entry) for entry in entries)


def look_line(look: str) -> str:
    """What to look for in the result of an example, to stand above it; "" = nothing is said of it."""
    return f"<p><b>Look for:</b> {escape(look)}</p>" if look else ""


def seen_in(view: str, look: str, tabs: Iterable[gr.Tab]) -> tuple[str, ...]:
    """The views in which the line of an example stands: that which the example opens, and those that the line names.

    Args:
        view: That which it opens, by its name in the address.
        look: What to look for.
        tabs: Of all views.
    """
    return (view, *(tab.id for tab in tabs if tab.label in look))


def build_look(first: str) -> gr.HTML:
    """Lay out the line above a result; once a field is touched it is of no example, and page.js takes it away.

    Args:
        first: What to look for in the example that the tab opens on; "" = it opens on none.
    """
    return gr.HTML(look_line(first), padding=False, elem_classes=["look", "until-touched"])


def build_gallery(examples: Sequence[Example], title: str = "Examples") -> list[tuple[gr.Button, Example]]:
    """Lay out a row of buttons per kind; returns each with its example.

    Args:
        examples: Those of a kind beside each other.
        title: What stands above the rows.
    """
    buttons = []
    with gr.Column(elem_classes="gallery"):
        gr.HTML(f"<p class='section'>{escape(title)}</p>", padding=False)
        for kind, group in groupby(examples, key=lambda example: example.kind):
            with gr.Row(elem_classes="gallery-row"):
                gr.HTML(f"<span class='kind'>{escape(kind)}</span>", padding=False, elem_classes="gallery-kind")
                notes = []
                for example in group:
                    buttons.append((gr.Button(example.label, size="sm", elem_classes="example"), example))
                    notes += [example.note] if example.note else []
                if notes:
                    gr.HTML(f"<span class='note'>{escape(' '.join(notes))}</span>", padding=False)
    return buttons
