"""The finished example that the tab opens on: found ahead, so that it is there before torch is.

`python -m explorer.tabs.first_view` finds it anew; do so when the shipped model, the sentences or the first example
change.
"""

import json
from dataclasses import astuple

from pydantic import TypeAdapter

from explorer.analysis.embedding_results import UseNeighbours
from explorer.models.registry import Registry
from explorer.settings import ASSETS
from explorer.tabs.neighbours.finding import Static, find_near
from explorer.tabs.neighbours.gallery import read_gallery
from explorer.tabs.neighbours.material import Vectors, read_uses
from explorer.tabs.neighbours.which_vector import Vector

FILE = ASSETS / "first_view" / "neighbours.json"
FIRST_LAYERS = 6  # of the model of the first example, without its input embeddings


def read_first_neighbours() -> UseNeighbours:
    """What the tab opens on."""
    return TypeAdapter(UseNeighbours).validate_python(json.loads(FILE.read_text(encoding="utf-8")))


def compute_first_neighbours(registry: Registry) -> UseNeighbours:
    """The same, from the model itself."""
    start = read_gallery()[0]
    values = Vector(start.layer)
    near = find_near(
        Vectors(0), registry, start.model, read_uses(start.word, ""), None, start.use, *astuple(values)
    )  # fmt: skip
    return Static().find(registry, start.model, start.word, None, (near,))
