"""The finished examples that the page opens on: computed ahead, so that they are there before torch is.

`python -m explorer.tabs.first_view` computes them anew; do so when the shipped model or the first example changes.
"""

import json
from functools import partial

from pydantic import TypeAdapter

import explorer
from explorer import analysis
from explorer.analysis.exporting import to_json
from explorer.analysis.results import BlankFills
from explorer.models.catalogue import DEFAULT_MODEL
from explorer.models.registry import Registry
from explorer.settings import ASSETS
from explorer.tabs.fill_blanks.gallery import read_gallery

FILE = ASSETS / "first_view" / "fill_blanks.json"


def read_first_view() -> BlankFills:
    """The result that the page opens on."""
    return TypeAdapter(BlankFills).validate_python(json.loads(FILE.read_text(encoding="utf-8")))


def compute_first_view(registry: Registry) -> BlankFills:
    """The same, from the model itself."""
    return registry.run(DEFAULT_MODEL, partial(analysis.fill_blanks, text=read_gallery()[0].text))


if __name__ == "__main__":
    from explorer.tabs.anisotropy import first_measured  # which the page reads by itself, as all of these
    from explorer.tabs.attention import first_reading
    from explorer.tabs.fine_tune import first_tuned
    from explorer.tabs.generate import first_text
    from explorer.tabs.neighbours import first_neighbours

    registry = explorer.open_registry()
    for file, result in (
        (FILE, compute_first_view(registry)),
        (first_text.FILE, first_text.compute_first_text(registry)),
        (first_reading.FILE, first_reading.store(first_reading.compute_first_reading(registry))),
        (first_neighbours.FILE, first_neighbours.compute_first_neighbours(registry)),
        (first_tuned.FILE, first_tuned.store(first_tuned.compute_first_tuned(registry))),
        (first_measured.FILE, first_measured.store(first_measured.compute_first_measured(registry))),
    ):
        file.write_text(json.dumps(to_json(result), ensure_ascii=False) + "\n", encoding="utf-8")
