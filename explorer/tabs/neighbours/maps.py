"""Recent maps, shared by all visitors; those that take seconds are made in a thread of their own, one at a time."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from dataclasses import dataclass, field, replace
from threading import Lock, Thread, get_native_id

from explorer.analysis.embedding_results import Occurrences
from explorer.analysis.labelled_uses import LabelledUses
from explorer.analysis.projection_results import Projection
from explorer.analysis.projections import METHODS, project_occurrences, warm_up
from explorer.models.card import ModelCard
from explorer.tabs.kept import Kept
from explorer.tabs.neighbours.which_vector import Vector, ask_for

POLITENESS = 10  # of 19: others come first
POLL_SECONDS = 0.25
ROOM_MIB = 64
SENTENCE_BYTES = 400  # about what one takes beside its points


@dataclass(frozen=True)
class Ask:
    """What decides a map.

    Attributes:
        card: Of the model.
        uses: Of a word.
        vector: Which of each use; its layer plays no part, as all are drawn.
        method: "pca", "umap" or "tsne".
        dimensions: 2 or 3.
    """

    card: ModelCard
    uses: LabelledUses
    vector: Vector
    method: str
    dimensions: int

    @property
    def by_pca(self) -> Ask:
        """The same, at once."""
        return replace(self, method="pca")


@dataclass
class Coming:
    """A map that is being made.

    Attributes:
        answer: It, or why there is none.
        waiting: How many wait for it; when nobody does, it ends at the next layer.
        done: How many of its layers are drawn.
        of: How many it has.
    """

    answer: Future = field(default_factory=Future)
    waiting: int = 0
    done: int = 0
    of: int = 0


class Maps:
    """Recent maps, and those on their way."""

    def __init__(self, room_mib: float = ROOM_MIB) -> None:
        self._kept: Kept[Ask, Projection] = Kept(room_mib, _size_bytes)
        self._coming: dict[Ask, Coming] = {}
        self._lock = Lock()
        self._warming: Thread | None = None

    def lacks(self, ask: Ask) -> bool:
        """Whether a map is not here, and takes too long to be drawn at once."""
        return ask.method != "pca" and not self._kept.has(ask)

    def get(self, ask: Ask, occurrences: Occurrences) -> Projection:
        """The map, from here or drawn at once.

        Args:
            ask: What is wanted.
            occurrences: Its vectors.

        Raises:
            ExplorerError: The vectors do not suit.
        """
        return self._kept.get(ask, lambda: _draw(ask, occurrences))

    def make(self, wanted: dict[Ask, Occurrences]) -> Iterator[str]:
        """Have maps made that are lacking, beside each other; whoever closes this waits for them no longer.

        Args:
            wanted: What is wanted, and its vectors.

        Yields:
            How far they are, in words, from time to time until all are there.

        Raises:
            ExplorerError: One cannot be made.
        """
        began, coming = time.monotonic(), {}
        try:
            for ask, occurrences in wanted.items():
                coming[ask] = self._begin(ask, occurrences)
            for ask, one in coming.items():
                while not wait([one.answer], timeout=POLL_SECONDS).done:
                    yield self._describe(ask, one, time.monotonic() - began)
                one.answer.result()
        finally:
            with self._lock:
                for one in coming.values():
                    one.waiting -= 1

    def _describe(self, ask: Ask, coming: Coming, seconds: float) -> str:
        far = f"layer {coming.done + 1} of {coming.of}" if coming.of else "getting ready"
        if ask.method == "umap" and not self._is_warm():
            far = "getting ready, about half a minute once after a start"
        return f"PCA is shown until {METHODS[ask.method]} is drawn: {far}, {seconds:.0f} s so far …"

    def _is_warm(self) -> bool:
        return self._warming is not None and not self._warming.is_alive()

    def _begin(self, ask: Ask, occurrences: Occurrences) -> Coming:
        with self._lock:
            if ask.method == "umap" and self._warming is None:
                # not before: it would keep the first model waiting, whose import it would share the interpreter with
                self._warming = Thread(target=_warm_politely, daemon=True)
                self._warming.start()
            coming = self._coming.get(ask)
            if coming is None:
                coming = self._coming[ask] = Coming()
                Thread(target=self._make, args=(ask, occurrences, coming), daemon=True).start()
            coming.waiting += 1
        return coming

    def _make(self, ask: Ask, occurrences: Occurrences, coming: Coming) -> None:
        def on_layer(done: int, of: int) -> None:
            coming.done, coming.of = done, of
            with self._lock:
                is_wanted = coming.waiting > 0
                if not is_wanted:  # who asks now begins anew
                    self._coming.pop(ask, None)
            if not is_wanted:
                raise InterruptedError("nobody waits for this map")

        _let_others_first()
        try:
            if ask.method == "umap" and self._warming:
                self._warming.join()
            projection = _draw(ask, occurrences, on_layer)
        except BaseException as error:  # carried to those who wait
            coming.answer.set_exception(error)
        else:
            self._kept.put(ask, projection)
            coming.answer.set_result(projection)
        finally:
            with self._lock:
                if self._coming.get(ask) is coming:
                    del self._coming[ask]


def _draw(ask: Ask, occurrences: Occurrences, on_layer: Callable[[int, int], None] | None = None) -> Projection:
    return project_occurrences(
        occurrences,
        senses=ask.uses.senses,
        method=ask.method,
        dimensions=ask.dimensions,
        on_layer=on_layer,
        **ask_for(ask.vector, occurrences),
    )


def _warm_politely() -> None:
    _let_others_first()
    warm_up()


def _let_others_first() -> None:
    """Lower the priority of this thread; only Linux has one for each."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, get_native_id(), POLITENESS)


def _size_bytes(projection: Projection) -> int:
    return projection.maps.coordinates.nbytes + SENTENCE_BYTES * len(projection.sentences)
