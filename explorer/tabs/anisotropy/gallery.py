"""Questions to start from, each one click."""

from dataclasses import dataclass

from explorer.tabs.gallery import read_examples


@dataclass(frozen=True)
class Start:
    """One example.

    Attributes:
        kind: What it shows.
        label: On its button.
        model: That shows it.
        show: The view that it is shown in: the id of its sub-tab.
        beside: Further models, in the view "Layers".
        metric: Likewise, a key of METRICS.
        unit: What has a vector: "tokens" or "words".
        specials: Whether special tokens are counted.
        layer: That is looked at.
        note: What to know of it before.
        look_for: In the result.
    """

    kind: str
    label: str
    model: str
    show: str = "layers"
    beside: tuple[str, ...] = ()
    metric: str = "mean_cosine"
    unit: str = "tokens"
    specials: bool = False
    layer: int = 6
    note: str = ""
    look_for: str = ""


def read_gallery() -> tuple[Start, ...]:
    """The examples in page order; the first is the one the tab opens on."""
    return read_examples("anisotropy", Start)
