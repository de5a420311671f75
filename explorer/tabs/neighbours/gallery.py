"""Uses to start from, each one click."""

from dataclasses import dataclass

from explorer.tabs.gallery import read_examples


@dataclass(frozen=True)
class Start:
    """One example.

    Attributes:
        kind: What it shows, e.g. "one word, two meanings".
        label: On its button.
        model: That shows it.
        word: One that has sentences here.
        use: Which of its uses is the query.
        layer: Whose vectors are compared.
        compare: What stands beside it: "nothing", "same" = another layer of the model, or the name of a model.
        other_layer: Of what stands beside it.
        shared: At least so many of the ten nearest uses have the sense of the query; the tests check it.
        other_shared: At most so many of those beside it.
        note: What to know of it before.
        look_for: In the result.
    """

    kind: str
    label: str
    model: str
    word: str
    use: int
    layer: int
    compare: str = "nothing"
    other_layer: int = 0
    shared: int = 0
    other_shared: int = 10
    note: str = ""
    look_for: str = ""


def read_gallery() -> tuple[Start, ...]:
    """The examples in page order; the first is the one the tab opens on."""
    return read_examples("neighbours", Start)
