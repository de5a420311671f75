"""What was measured of the heads of models, shared by all visitors: another measure of the same needs no model."""

from __future__ import annotations

from collections import OrderedDict
from functools import partial
from threading import Lock

from explorer import analysis
from explorer.analysis.head_results import HeadMeasures, RelationMatches
from explorer.models.backend import LoadedModel
from explorer.models.registry import Registry
from explorer.tabs.attention.readings import Ask, beside

MOST_HELD = 64  # of each kind; a result is some ten kilobytes


class Measured:
    """Recent results; the oldest leave."""

    def __init__(self) -> None:
        self._held: OrderedDict[tuple, HeadMeasures | RelationMatches] = OrderedDict()
        self._lock = Lock()

    def measures(self, registry: Registry, model: str, asked: Ask | None, stack: str | None = None) -> HeadMeasures:
        """Of the heads of a model on what was asked, None = the built-in set; of its first stack, if none is named."""
        return self._get(registry, model, partial(measure_asked, ask=asked, stack=stack), ("measures", stack, asked))

    def relations(self, registry: Registry, model: str, stack: str | None = None) -> RelationMatches:
        """The same on the built-in set."""
        return self._get(registry, model, partial(analysis.match_relations, stack=stack), ("relations", stack))

    def _get(self, registry: Registry, model: str, ask: object, what: tuple) -> object:
        key = (registry.card(model), *what)
        with self._lock:
            if key in self._held:
                self._held.move_to_end(key)
                return self._held[key]
        result = registry.run(model, ask)
        with self._lock:
            self._held[key] = result
            while len(self._held) > 2 * MOST_HELD:
                self._held.popitem(last=False)
        return result


def measure_asked(model: LoadedModel, ask: Ask | None, stack: str | None) -> HeadMeasures:
    """The analysis, on the text and what is read beside it; None = on the built-in set."""
    if ask is None:
        return analysis.measure_heads(model, stack=stack)
    return analysis.measure_heads(model, [ask.text], stack=stack, **beside(model, ask))
