"""Prompts to start from, each one click, with the settings that make its point."""

from dataclasses import dataclass, field

from explorer.analysis.decoding_strategies import CONTROLS
from explorer.tabs.gallery import read_examples
from explorer.tabs.generate.controls import SLIDERS


@dataclass(frozen=True)
class Start:
    """One example.

    Attributes:
        kind: What it shows, e.g. "too hot, too cold".
        label: On its button.
        text: The prompt.
        strategy: A key of STRATEGIES.
        settings: Of the controls that it moves; the others stand where they change nothing.
        note: What to know of it before.
        look_for: In the result.
    """

    kind: str
    label: str
    text: str
    strategy: str
    settings: dict[str, float] = field(default_factory=dict)
    note: str = ""
    look_for: str = ""


def read_gallery() -> tuple[Start, ...]:
    """The examples in page order; the first is the one the tab opens on."""
    return read_examples("generate", Start)


def values_of(start: Start) -> list[float]:
    """Where every slider stands, in the order of SLIDERS."""
    return [start.settings.get(name, CONTROLS[name].default) for name in SLIDERS]
