"""The finished example that the page opens on: computed ahead, so that it is there before torch is.

`python -m explorer.tabs.first_view` computes it anew; do so when the shipped model or the first example changes.
"""

import json
from functools import partial

from pydantic import TypeAdapter

import explorer
from explorer import analysis
from explorer.analysis.exporting import to_json
from explorer.analysis.results import BlankFills
from explorer.models.registry import Registry
from explorer.settings import ASSETS
from explorer.tabs.fill_blanks.gallery import read_gallery

FILE = ASSETS / "first_view" / "fill_blanks.json"
MODEL = "MiniLM (masked)"


def read_first_view() -> BlankFills:
    """The result that the page opens on."""
    return TypeAdapter(BlankFills).validate_python(json.loads(FILE.read_text(encoding="utf-8")))


def compute_first_view(registry: Registry) -> BlankFills:
    """The same, from the model itself."""
    return registry.run(MODEL, partial(analysis.fill_blanks, text=read_gallery()[0].text))


if __name__ == "__main__":
    written = to_json(compute_first_view(explorer.open_registry()))
    FILE.write_text(json.dumps(written, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
