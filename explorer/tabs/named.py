"""How many models that are not on offer each visitor may use."""

import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock

from explorer.errors import ModelRefused
from explorer.models.callers import Caller
from explorer.models.card import HubRepository, ModelCard
from explorer.models.status import format_bytes

LATELY_SECONDS = 3600
TRIES = 60  # names that one visitor may type within an hour, whether or not there is such a model
MOST_VISITORS = 10_000  # who are remembered; those who named none for longest are forgotten


@dataclass
class _Model:
    card: ModelCard
    used_at: float

    @property
    def disk_bytes(self) -> int:
        return self.card.weights_bytes or 0 if isinstance(self.card.source, HubRepository) else 0


@dataclass
class _Visitor:
    models: dict[str, _Model] = field(default_factory=dict)  # by what was typed
    tries: deque[float] = field(default_factory=deque)  # when

    def by_name(self) -> dict[str, _Model]:
        """What was named lately, by its own name, however it was typed."""
        return {model.card.name: model for model in sorted(self.models.values(), key=lambda model: model.used_at)}

    def forget(self, before: float) -> None:
        """What was not used since then."""
        self.models = {typed: model for typed, model in self.models.items() if model.used_at > before}
        while self.tries and self.tries[0] <= before:
            self.tries.popleft()


class NamedModels:
    """Finds the models that visitors name, so many for each.

    The operator, in a shell or a notebook, is not bound.

    Args:
        find: Makes a card for a name.
        most: Models of one visitor within an hour.
        most_bytes: What these may fill of the disk.
        clock: The time, in seconds.
    """

    def __init__(
        self,
        find: Callable[[str], ModelCard],
        most: int,
        most_bytes: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._find = find
        self._most = most
        self._most_bytes = most_bytes
        self._clock = clock
        self._visitors: OrderedDict[str, _Visitor] = OrderedDict()
        self._lock = Lock()  # for all of these

    def card(self, caller: Caller, name: str) -> ModelCard:
        """The facts about a model that a visitor names.

        Args:
            caller: Who.
            name: As typed.

        Raises:
            ModelRefused: He has named so many that this one has to wait.
            ExplorerError: There is no such model, or it may not be had here.
        """
        if not caller.name:
            return self._find(name)
        with self._lock:
            visitor = self._visitor(caller)
            if name not in visitor.models:
                self._count_try(visitor)
        card = self._find(name)
        with self._lock:
            visitor = self._visitor(caller)
            if card.name not in visitor.by_name():
                self._check_quota(visitor, card)
            visitor.models[name] = _Model(card, self._clock())
        return card

    def _visitor(self, caller: Caller) -> _Visitor:
        visitor = self._visitors.setdefault(caller.name, _Visitor())
        self._visitors.move_to_end(caller.name)
        while len(self._visitors) > MOST_VISITORS:
            self._visitors.popitem(last=False)
        visitor.forget(self._clock() - LATELY_SECONDS)
        return visitor

    def _count_try(self, visitor: _Visitor) -> None:
        if len(visitor.tries) >= TRIES:
            raise ModelRefused(
                f"You have typed {TRIES} names of models within an hour, and each takes time to look up. Choose one "
                f"from the list, or {self._again(visitor.tries[0])}."
            )
        visitor.tries.append(self._clock())

    def _check_quota(self, visitor: _Visitor, card: ModelCard) -> None:
        named = visitor.by_name()
        disk_bytes = sum(model.disk_bytes for model in named.values()) + _Model(card, 0.0).disk_bytes
        if len(named) >= self._most:
            why = (
                f"You have used {len(named)} models that are not on offer here, and one visitor may use so many within "
                "an hour (EXPLORER_MOST_NAMED)."
            )
        elif disk_bytes > self._most_bytes:
            why = (
                f"With {card.name} the models that you named would take {format_bytes(disk_bytes)}, and those of one "
                f"visitor may take {format_bytes(self._most_bytes)} (half of EXPLORER_NAMED_ROOM_GIB)."
            )
        else:
            return
        what = "Go on with one on offer"
        if named:
            first = min(model.used_at for model in named.values())
            what += f", or with one of these: {', '.join(named)}; or {self._again(first)}"
        raise ModelRefused(f"{why} {what}.")

    def _again(self, since: float) -> str:
        """When what happened then is an hour ago."""
        minutes = max(1, round((since + LATELY_SECONDS - self._clock()) / 60))
        return f"try again in {minutes} minute{'s' if minutes > 1 else ''}"
