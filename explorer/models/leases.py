"""Which models are in memory, who uses them, and which must go when another needs their room."""

import time
import traceback
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Condition, Event
from weakref import ref

from explorer.errors import TooBusy
from explorer.models.backend import LoadedModel
from explorer.models.callers import OPERATOR, current_caller
from explorer.models.card import ModelCard
from explorer.models.memory import release_memory
from explorer.models.progress import Progress
from explorer.models.status import ModelStatus

LATELY_SECONDS = 60.0


@dataclass(eq=False)
class Slot:
    """A model in memory, or on its way there.

    Attributes:
        card: What it is.
        weights_bytes: Memory of its weights: 0 until they are read, then what is reserved for them, then measured.
        used_at_seconds: When it was last asked for or let go, on the clock of the leases.
        users: How many hold it.
        progress: The last report of its load.
        model: None until it is loaded, and again once it must go.
        error: Why it could not be loaded.
        settled: Set once it is loaded or has failed.
        visitors: Of each who waits for it, whether he still does.
        used_by: When each visitor asked for it or let it go, by his name; those who did lately.
    """

    card: ModelCard
    used_at_seconds: float
    weights_bytes: int = 0
    users: int = 0
    progress: Progress | None = None
    model: LoadedModel | None = None
    error: BaseException | None = None
    settled: Event = field(default_factory=Event)
    visitors: list[Callable[[], bool]] = field(default_factory=list)
    used_by: dict[str, float] = field(default_factory=dict)

    @property
    def is_idle(self) -> bool:
        """Whether it is loaded and nobody holds it."""
        return self.model is not None and self.users == 0

    @property
    def is_wanted(self) -> bool:
        """Whether anybody still waits for it."""
        return any(is_waiting() for is_waiting in list(self.visitors))

    def note_use(self, visitor: str, at_seconds: float) -> None:
        """Somebody asks for it, or lets it go."""
        self.used_at_seconds = at_seconds
        self.used_by[visitor] = at_seconds
        self.used_by = {name: at for name, at in self.used_by.items() if at_seconds - at < LATELY_SECONDS}


class Leases:
    """Keeps models while they are used, and after that as long as all weights fit the limit.

    A model is known by its whole card, so that no visitor's card can stand in for another's.

    Args:
        device: Where the models are.
        limit_bytes: The most that weights may take.
        wait_seconds: How long to wait for others to free room.
        clock: Seconds since any fixed moment, to tell how long models are idle.
    """

    def __init__(self, device: str, limit_bytes: int, wait_seconds: float, clock: Callable[[], float]) -> None:
        self._device = device
        self._limit_bytes = limit_bytes
        self._wait_seconds = wait_seconds
        self._clock = clock
        self._slots: OrderedDict[ModelCard, Slot] = OrderedDict()  # least recently used first
        self._changed = Condition()  # guards the slots
        self._dropped: list[ref] = []  # networks that were let go, and whose memory is not yet given back

    @contextmanager
    def hold(
        self,
        card: ModelCard,
        load: Callable[[Slot], LoadedModel],
        is_waiting: Callable[[], bool] = lambda: True,
    ) -> Iterator[Slot]:
        """Hold a model, loaded first if it is not here; whoever asks for it meanwhile waits for that load.

        Args:
            card: What is wanted.
            load: Called without the lock; reserves the memory once it is about to read the weights, so that no other
                model leaves for one that cannot be had. What it raises, all who wait for this load get; the next to ask
                tries again.
            is_waiting: Whether the caller still wants the model; a load that nobody waits for may end itself.

        Returns:
            Its slot, and not the model itself, so that no frame keeps weights that were let go.
        """
        visitor = current_caller().name
        slot, is_new = self._enter(card, is_waiting, visitor)
        try:
            if is_new:
                self._fill(slot, load)
            slot.settled.wait()
            if slot.error is not None:
                raise slot.error
            yield slot
        finally:
            self._leave(slot, is_waiting, visitor)

    def reserve(self, slot: Slot, weights_bytes: int) -> None:
        """Make room for the weights of a model on its way, whose files are here; wait until others let go if need be.

        Args:
            slot: The model.
            weights_bytes: What its weights will take; 0 = unknown.

        Raises:
            TooBusy: Others hold models that leave no room, and did not let go in time.
        """
        deadline = time.monotonic() + self._wait_seconds
        with self._changed:
            slot.weights_bytes = 0
            while not self._make_room(weights_bytes):
                if not self._changed.wait(deadline - time.monotonic()):
                    name = slot.card.name
                    raise TooBusy(f"There is no room for {name} while other models are in use; try again soon.")
            slot.weights_bytes = weights_bytes
        self._give_back()

    def drop(self, card: ModelCard) -> None:
        """Let a model go, if it is here.

        Args:
            card: Which.

        Raises:
            TooBusy: It is in use, or on its way, or another visitor than the one who asks used it lately.
        """
        with self._changed:
            slot = self._slots.get(card)
            if slot is not None:
                self._check_idle(slot)
                self._drop(slot)
        self._give_back()

    def drop_idle(self, idle_seconds: float = 0.0) -> None:
        """Let go of every model that nobody holds.

        Args:
            idle_seconds: Only of those that nobody has held for this long.
        """
        with self._changed:
            now = self._clock()
            for slot in list(self._slots.values()):
                if slot.is_idle and now - slot.used_at_seconds >= idle_seconds:
                    self._drop(slot)
        self._give_back()

    def status(self) -> dict[ModelCard, ModelStatus]:
        """How the models stand that are here or on their way, least recently used first."""
        with self._changed:
            return {card: self._status_of(slot) for card, slot in self._slots.items()}

    def used_bytes(self) -> int:
        """What the models that are here or on their way take."""
        with self._changed:
            return sum(slot.weights_bytes for slot in self._slots.values())

    def _status_of(self, slot: Slot) -> ModelStatus:
        progress = slot.progress
        is_ready = slot.model is not None
        is_downloading = progress is not None and progress.what == "downloading"
        share = min(1.0, progress.done_bytes / progress.total_bytes) if progress and progress.total_bytes else None
        return ModelStatus(
            name=slot.card.name,
            state="ready" if is_ready else "downloading" if is_downloading else "loading",
            device=self._device,
            weights_bytes=slot.weights_bytes,
            progress=None if is_ready else share,
            users=slot.users,
            idle_seconds=self._clock() - slot.used_at_seconds if slot.is_idle else 0.0,
        )

    def _check_idle(self, slot: Slot) -> None:
        """Refuse to drop what somebody uses; who asks a question now and then uses a model between them, too."""
        stays = f"{slot.card.name} stays in memory because"
        if not slot.is_idle:
            users = "1 analysis is" if slot.users == 1 else f"{slot.users} analyses are"
            why = f"{users} using it" if slot.model else "it is being loaded"
            raise TooBusy(f"{stays} {why}; try again when that is done.")
        visitor, now = current_caller().name, self._clock()
        others = [now - at for name, at in slot.used_by.items() if name not in (OPERATOR.name, visitor)]
        if visitor != OPERATOR.name and min(others, default=LATELY_SECONDS) < LATELY_SECONDS:
            raise TooBusy(
                f"{stays} another visitor used it {min(others):.0f} s ago (a page that was closed counts "
                f"as one); it can leave when no other has used it for {LATELY_SECONDS:.0f} s."
            )

    def _enter(self, card: ModelCard, is_waiting: Callable[[], bool], visitor: str) -> tuple[Slot, bool]:
        """Count one more user of a slot; True = it is new and must be filled."""
        with self._changed:
            is_new = card not in self._slots
            slot = self._slots.setdefault(card, Slot(card, self._clock()))
            slot.users += 1
            slot.note_use(visitor, self._clock())
            slot.visitors.append(is_waiting)
            self._slots.move_to_end(card)
            return slot, is_new

    def _leave(self, slot: Slot, is_waiting: Callable[[], bool], visitor: str) -> None:
        with self._changed:
            slot.users -= 1
            slot.visitors.remove(is_waiting)
            slot.note_use(visitor, self._clock())
            if slot.users == 0:
                slot.error = None  # its traceback leads to this slot and to a half-loaded network: break the cycle
            self._make_room(0)  # a model larger than expected may have overdrawn the limit while none could go
            self._changed.notify_all()
        self._give_back()

    def _fill(self, slot: Slot, load: Callable[[Slot], LoadedModel]) -> None:
        """Load the model of a new slot; if that fails the slot is gone."""
        try:
            model = load(slot)
        except BaseException as error:
            _let_go(error)
            release_memory(self._device, collect_garbage=False)
            with self._changed:
                slot.error = error
                del self._slots[slot.card]
                self._changed.notify_all()
            slot.settled.set()
            raise
        with self._changed:
            slot.model, slot.weights_bytes = model, model.weights_bytes
            self._make_room(0)
            self._changed.notify_all()
        slot.settled.set()

    def _make_room(self, wanted_bytes: int) -> bool:
        """Drop the least recently used idle models until the bytes fit; drop none if that would not do."""
        spare = self._limit_bytes - wanted_bytes - sum(slot.weights_bytes for slot in self._slots.values())
        idle = [slot for slot in self._slots.values() if slot.is_idle]
        if spare + sum(slot.weights_bytes for slot in idle) < 0:
            return False
        for slot in idle:
            if spare >= 0:
                break
            spare += slot.weights_bytes
            self._drop(slot)
        return True

    def _drop(self, slot: Slot) -> None:
        self._dropped.append(ref(slot.model.network))
        slot.model = None
        del self._slots[slot.card]
        self._changed.notify_all()

    def _give_back(self) -> None:
        """Never under the lock: it can take a second."""
        with self._changed:
            dropped, self._dropped = self._dropped, []
        if dropped:
            release_memory(self._device, collect_garbage=any(network() is not None for network in dropped))


def _let_go(error: BaseException | None) -> None:
    """Empty the frames that an error came through: they hold a half-loaded network, and whoever is told holds them."""
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__
