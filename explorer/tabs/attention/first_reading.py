"""The finished example that the tab opens on: read ahead, so that every head of it is there before torch is.

`python -m explorer.tabs.first_view` reads it anew; do so when the shipped model or the first example changes.
"""

import json
from base64 import b64decode
from dataclasses import asdict
from functools import partial

import numpy as np

from explorer.analysis.attention_packing import PackedReading, PackedStack, to_base64
from explorer.analysis.attention_results import AttentionToken
from explorer.models.registry import Registry
from explorer.settings import ASSETS
from explorer.tabs.attention.gallery import read_gallery
from explorer.tabs.attention.readings import Ask, read_packed

FILE = ASSETS / "first_view" / "attention.json"


def first_ask() -> Ask:
    """What the tab opens on."""
    start = read_gallery()[0]
    return Ask(start.model, start.text, start.second, start.new_tokens)


def read_first_reading() -> PackedReading:
    """Its attention."""
    stored = json.loads(FILE.read_text(encoding="utf-8"))
    return PackedReading(**stored | {"stacks": tuple(_unpack(stack) for stack in stored["stacks"])})


def compute_first_reading(registry: Registry) -> PackedReading:
    """The same, from the model itself."""
    return registry.run(first_ask().model, partial(read_packed, ask=first_ask()))


def store(reading: PackedReading) -> dict[str, object]:
    """A reading as what JSON knows."""
    stacks = [
        {"name": stack.name, "queries": [asdict(token) for token in stack.queries],
         "keys": [asdict(token) for token in stack.keys], "shape": stack.roots.shape, "roots": to_base64(stack.roots)}
        for stack in reading.stacks
    ]  # fmt: skip
    return {"model": reading.model, "text": reading.text, "second_text": reading.second_text,
            "written_by_model": reading.written_by_model, "stacks": stacks}  # fmt: skip


def _unpack(stack: dict) -> PackedStack:
    queries, keys = (tuple(AttentionToken(**token) for token in stack[side]) for side in ("queries", "keys"))
    roots = np.frombuffer(b64decode(stack["roots"]), dtype="<u2").reshape(stack["shape"])
    return PackedStack(stack["name"], queries, keys, roots, len(roots))
