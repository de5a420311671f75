"""The finished example that the tab opens on: written ahead, so that it is there before torch is.

`python -m explorer.tabs.first_view` writes it anew; do so when the shipped model or the first example changes.
"""

import json
from dataclasses import dataclass
from functools import partial

from pydantic import TypeAdapter

from explorer import analysis
from explorer.analysis.branches import Tree, grow
from explorer.analysis.generation_results import PromptLength
from explorer.models.catalogue import CAUSAL_MODEL
from explorer.models.registry import Registry
from explorer.settings import ASSETS
from explorer.tabs.generate.controls import SLIDERS, acting, in_words
from explorer.tabs.generate.gallery import Start, read_gallery, values_of

FILE = ASSETS / "first_view" / "generate.json"
FIRST_LENGTH = 40


@dataclass(frozen=True)
class FirstText:
    """The example.

    Attributes:
        tree: What was written.
        length: Of its prompt.
    """

    tree: Tree
    length: PromptLength


def read_first_text() -> FirstText:
    """What the tab that writes opens on."""
    return TypeAdapter(FirstText).validate_python(json.loads(FILE.read_text(encoding="utf-8")))


def first_options() -> dict[str, object]:
    """What the example is written with, as continue_text takes it."""
    start = read_gallery()[0]
    options = {"prompt": start.text, "strategy": start.strategy, "max_new_tokens": FIRST_LENGTH}
    return options | acting(start.strategy, _settings_of(start))


def compute_first_text(registry: Registry) -> FirstText:
    """The same, from the model itself."""
    start = read_gallery()[0]
    tree, how = Tree(CAUSAL_MODEL, start.text), in_words(start.strategy, _settings_of(start), 0)
    for step in registry.stream(CAUSAL_MODEL, partial(analysis.continue_text, **first_options())):
        tree = grow(tree, step, how)
    return FirstText(tree, registry.run(CAUSAL_MODEL, partial(analysis.measure_prompt, text=start.text)))


def _settings_of(start: Start) -> dict[str, float]:
    return dict(zip(SLIDERS, values_of(start), strict=True))
