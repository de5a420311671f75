"""What runs in a replica of a Ray Serve application: a local backend, asked by pages in other processes."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from threading import Event
from typing import Any, Literal

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # read when ray is imported

from ray import serve  # noqa: E402

from explorer.errors import ExplorerError  # noqa: E402
from explorer.models.backend import LoadedModel, Result  # noqa: E402
from explorer.models.callers import Caller, calling  # noqa: E402
from explorer.models.card import ModelCard  # noqa: E402
from explorer.models.catalogue import CATALOGUE  # noqa: E402
from explorer.models.loading import load_model  # noqa: E402
from explorer.models.local import LocalBackend  # noqa: E402
from explorer.models.status import Budget, ModelStatus  # noqa: E402
from explorer.settings import Settings, settings  # noqa: E402

MOST_AT_ONCE = 128  # requests a replica accepts; most of them wait there for their turn on the device


class Mark(Enum):
    """What is told of an answer beside its steps."""

    BEGUN = "a replica has taken the question"
    END = "there are no more steps"


@dataclass(frozen=True)
class Asker:
    """What a replica is told of a caller.

    Attributes:
        question: A name of the question that no other has.
        name: By which turns are shared out.
        longest_seconds: How long one turn on the device may take.
    """

    question: str
    name: str
    longest_seconds: float


@serve.deployment(max_ongoing_requests=MOST_AT_ONCE, max_queued_requests=settings().most_waiting)
class ModelHost:
    """A replica: what it is sent, it does on its own local backend, under its own budget.

    An error for the visitor is returned and not raised: raised, it would come back wrapped, and fill the cluster's log.

    Args:
        load: Turns a card into a loaded model.
        limits: Device, budget and limits; None = those of the replica's environment.
    """

    def __init__(self, load: Callable[..., LoadedModel] = load_model, limits: Settings | None = None) -> None:
        self._backend = LocalBackend(load, settings=limits, cards=CATALOGUE)
        self._threads = ThreadPoolExecutor(MOST_AT_ONCE)  # the event loop stays free for streams and health checks
        self._beside = ThreadPoolExecutor()  # for what must not wait for those
        self._left: dict[str, Event] = {}  # by question: set once nobody waits for its answer

    async def answer(
        self,
        asker: Asker,
        method: Literal["run", "stream"],
        card: ModelCard,
        analysis: Callable[[LoadedModel], Result | Iterator[Result]],
    ) -> AsyncIterator[Mark | Result | ExplorerError]:
        """That it has begun, then the result, or the steps, of a method of the local backend, or its error.

        The work ends, and the model is let go, when the reader leaves.
        """
        with self._asked_by(asker) as caller:
            yield Mark.BEGUN
            if method == "run":
                yield await asyncio.wrap_future(self._begin(caller, self._backend.run, card, analysis))
                return
            steps = self._backend.stream(card, analysis)
            step = None
            try:
                while True:
                    step = self._begin(caller, next, steps, Mark.END)
                    answer = await asyncio.wrap_future(step)
                    if answer is Mark.END:
                        return
                    yield answer
                    if isinstance(answer, ExplorerError):
                        return
            finally:  # a reader may leave while a step is computed; a generator can be closed only after that
                if step is not None:
                    step.add_done_callback(lambda _: self._threads.submit(steps.close))

    async def load(self, asker: Asker, card: ModelCard) -> ExplorerError | None:
        """As LocalBackend.load; nobody waits for it any more once `leave` was called."""
        with self._asked_by(asker) as caller:
            return await asyncio.wrap_future(self._begin(caller, self._backend.load, card, caller.is_waiting))

    async def leave(self, question: str) -> None:
        """Nobody waits for the answer to this question any more."""
        if question in self._left:
            self._left[question].set()

    async def unload(self, asker: Asker, card: ModelCard) -> ExplorerError | None:
        """As LocalBackend.unload."""
        with self._asked_by(asker) as caller:
            return await asyncio.wrap_future(self._beside.submit(_ask, caller, self._backend.unload, card))

    async def look(self) -> tuple[dict[ModelCard, ModelStatus], Budget]:
        """How the models stand, and what weights may take, and take."""
        return await asyncio.wrap_future(self._beside.submit(lambda: (self._backend.status(), self._backend.budget())))

    def _begin(self, caller: Caller, function: Callable[..., Any], *arguments: Any) -> Future:
        return self._threads.submit(_ask, caller, function, *arguments)

    @contextmanager
    def _asked_by(self, asker: Asker) -> Iterator[Caller]:
        """The caller, who waits until the inside is left, in whatever way."""
        left = self._left[asker.question] = Event()
        try:
            yield Caller(asker.name, lambda: not left.is_set(), asker.longest_seconds)
        finally:
            left.set()
            del self._left[asker.question]


def _ask(caller: Caller, function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function returns when this caller asks, or its error for the visitor."""
    try:
        with calling(caller):
            return function(*arguments)
    except ExplorerError as error:
        return error
