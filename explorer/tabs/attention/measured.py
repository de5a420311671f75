"""What was measured of the heads of models, shared by all visitors: another measure of the same needs no model."""

from __future__ import annotations

from collections import OrderedDict
from functools import partial
from threading import Lock

from explorer import analysis
from explorer.analysis.head_results import HeadMeasures, RelationMatches
from explorer.models.registry import Registry

MOST_HELD = 64  # of each kind; a result is some ten kilobytes


class Measured:
    """Recent results; the oldest leave."""

    def __init__(self) -> None:
        self._held: OrderedDict[tuple, HeadMeasures | RelationMatches] = OrderedDict()
        self._lock = Lock()

    def measures(self, registry: Registry, model: str, texts: tuple[str, ...]) -> HeadMeasures:
        """Of the heads of a model on some texts; none = the built-in set."""
        return self._get(registry, model, "measures", partial(analysis.measure_heads, texts=texts), texts)

    def relations(self, registry: Registry, model: str) -> RelationMatches:
        """Of the heads of a model on the built-in set."""
        return self._get(registry, model, "relations", analysis.match_relations, ())

    def _get(self, registry: Registry, model: str, kind: str, ask: object, texts: tuple[str, ...]) -> object:
        key = (registry.card(model), kind, texts)
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
