"""The layers of a reading that is on its way, each there as soon as the model has passed it."""

from __future__ import annotations

from threading import Condition

from explorer.analysis.attention_packing import PackedReading


class Passing:
    """Filled by the thread that reads, awaited by others. A copy in another process stays empty."""

    def __init__(self) -> None:
        """No layer was passed yet."""
        self._layers: dict[int, PackedReading] = {}
        self._changed = Condition()
        self._is_over = False

    def put(self, layer: int, reading: PackedReading) -> None:
        """A layer, counted from 0, alone."""
        with self._changed:
            self._layers[layer] = reading
            self._changed.notify_all()

    def wait(self, layer: int) -> PackedReading | None:
        """A layer, once it was passed; None = the reading came to its end, whole or not, and it was not."""
        with self._changed:
            self._changed.wait_for(lambda: layer in self._layers or self._is_over)
            return self._layers.get(layer)

    def close(self) -> None:
        """Nothing more comes."""
        with self._changed:
            self._is_over = True
            self._changed.notify_all()

    def __reduce__(self) -> tuple:
        """For a model that lives elsewhere, whose layers come all at once."""
        return Passing, ()
