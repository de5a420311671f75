"""Models in this process: leases under a byte budget, turns on the device, a second chance when memory runs out."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from threading import Event, Thread
from typing import Any
from weakref import finalize, ref

import torch

from explorer.errors import ModelUnavailable, OutOfMemory, UnsuitableModel
from explorer.models.backend import LoadedModel, Result
from explorer.models.callers import current_caller
from explorer.models.card import HubRepository, ModelCard
from explorer.models.leases import Leases, Slot
from explorer.models.loading import load_model
from explorer.models.memory import (
    choose_device,
    choose_dtype,
    device_memory_bytes,
    expected_weights_bytes,
    is_out_of_memory,
    prepare_device,
    release_memory,
)
from explorer.models.named_room import note_use
from explorer.models.progress import Progress
from explorer.models.status import Budget, ModelStatus, format_bytes
from explorer.models.turns import Turns, needs_turn
from explorer.models.unreadable import is_tokenizer_fault
from explorer.settings import GIB, Settings
from explorer.settings import settings as read_settings

END = object()
MOST_SECONDS_BETWEEN_LOOKS = 30.0


class LocalBackend:
    """Keeps models in memory, on one device, as long as their weights fit a budget.

    The least recently used models leave when another needs their room, never one in use; those unused for long leave
    too. Models load side by side with each other and with analyses. Only so many analyses are at work at once: the
    page's own limit is no bound, for a handler that was stopped runs on.

    Args:
        load: Turns a card into a loaded model on a device, and reports progress.
        settings: Device, budget and limits; None = those of the environment.
        clock: Seconds since any fixed moment, to tell how long models are idle.
        cards: The models on offer, to name a smaller one when memory runs out.
    """

    def __init__(
        self,
        load: Callable[..., LoadedModel] = load_model,
        *,
        settings: Settings | None = None,
        clock: Callable[[], float] = time.monotonic,
        cards: Sequence[ModelCard] = (),
    ) -> None:
        settings = settings or read_settings()
        self.device = choose_device(settings.device)
        prepare_device(self.device)
        self._device_bytes = device_memory_bytes(self.device)
        self._limit_bytes = int(settings.memory_budget_gib * GIB) or self._device_bytes // 2
        self._idle_seconds = settings.idle_minutes * 60
        self._leases = Leases(self.device, self._limit_bytes, settings.longest_wait_seconds, clock)
        self._turns = Turns(settings.analyses_at_once, settings.analyses_of_one_visitor, settings.longest_wait_seconds)
        self._load = load
        self._cards = cards
        if self._idle_seconds:
            stop = Event()
            finalize(self, stop.set)
            Thread(target=_watch, args=(ref(self), stop, self._idle_seconds / 4), daemon=True).start()

    def run(self, card: ModelCard, analysis: Callable[[LoadedModel], Result]) -> Result:
        """Load the model if needed, apply the analysis to it, and return the result.

        Raises:
            OutOfMemory: The model or the analysis does not fit, even after others were unloaded.
            UnsuitableModel: Its tokenizer breaks down at the text.
            TooBusy: There was no room, or no turn, in time.
            NobodyWaits: Whoever asked has left.
            TakesTooLong: It has computed for as long as one question may.
        """
        with self._hold(card) as slot, self._turn(analysis):
            return self._attempt(card, lambda: analysis(slot.model))

    def stream(self, card: ModelCard, analysis: Callable[[LoadedModel], Iterator[Result]]) -> Iterator[Result]:
        """As run; the model is held until the stream ends or is closed, a turn only while a step is computed."""
        with self._hold(card) as slot:
            steps = iter(())
            try:
                with self._turn(analysis):
                    steps, step = self._attempt(card, lambda: _begin(analysis, slot.model))
                while step is not END:
                    yield step
                    with self._turn(analysis):  # what has been seen cannot be taken back, so no second attempt
                        step = self._attempt(card, partial(next, steps, END), attempts=1)
            finally:
                if hasattr(steps, "close"):
                    steps.close()

    def load(self, card: ModelCard, is_waiting: Callable[[], bool] = lambda: True) -> None:
        """Bring a model into memory without analysing anything; return when it is there. Raises as run does.

        Args:
            card: The model.
            is_waiting: Whether the caller still wants it; a download that nobody waits for ends, and goes on from there
                when somebody asks again.

        Raises:
            ModelUnavailable: The download was ended, for nobody waited any more.
        """
        with self._hold(card, is_waiting):
            pass

    def unload(self, card: ModelCard) -> None:
        """Let a model go, if it is here.

        Raises:
            TooBusy: It is in use, or on its way, or another visitor than the one who asks used it lately.
        """
        self._leases.drop(card)

    def unload_idle(self) -> None:
        """Let go of every model that nobody has used for the time the settings allow."""
        self._leases.drop_idle(self._idle_seconds)

    def status(self) -> dict[ModelCard, ModelStatus]:
        """How the models stand that are here or on their way, least recently used first."""
        return self._leases.status()

    def budget(self) -> Budget:
        """What weights may take, and take, on the device."""
        return Budget(self.device, self._limit_bytes, self._leases.used_bytes(), self._device_bytes)

    def _hold(self, card: ModelCard, is_waiting: Callable[[], bool] | None = None) -> AbstractContextManager[Slot]:
        if isinstance(card.source, HubRepository):
            note_use(card.source)
        return self._leases.hold(card, self._load_into, is_waiting or current_caller().is_waiting)

    def _load_into(self, slot: Slot) -> LoadedModel:
        """Load it; one that can never fit is refused before anything is fetched, and others leave once all is here."""
        card = slot.card
        known_bytes = expected_weights_bytes(card, self.device) or 0
        self._refuse_if_too_large(card, known_bytes)

        def report(progress: Progress) -> None:
            slot.progress = progress
            if progress.what == "downloading" and not slot.is_wanted:
                raise ModelUnavailable(
                    f"The download of {card.name} was stopped. Ask again, and it goes on from there."
                )
            if progress.what == "loading" and card.parameters is None:  # what the files say, now that they are here
                expected = progress.total_bytes
            else:
                expected = known_bytes or progress.total_bytes * choose_dtype(card, self.device).itemsize // 4
            self._refuse_if_too_large(card, expected)
            if progress.what == "loading" and not slot.weights_bytes:
                self._leases.reserve(slot, expected)

        model = self._attempt(card, lambda: self._load(card, device=self.device, progress=report))
        if (weights_bytes := model.weights_bytes) > self._limit_bytes:
            del model  # or the traceback of the refusal keeps it
            release_memory(self.device)
            self._refuse_if_too_large(card, weights_bytes)
        return model

    @contextmanager
    def _turn(self, analysis: Callable) -> Iterator[None]:
        """One of the analyses at work on the device, unless it needs none."""
        turn = self._turns.take(current_caller()) if needs_turn(analysis) else nullcontext()
        with turn, torch.inference_mode():  # it holds for this thread only
            yield

    def _attempt(self, card: ModelCard, work: Callable[[], Any], attempts: int = 2) -> Any:
        """Do the work; when memory runs out, unload all that nobody uses, and do it once more."""
        for _ in range(attempts):
            try:
                return work()
            except BaseException as error:
                if is_tokenizer_fault(error):
                    raise UnsuitableModel(
                        f"The tokenizer of {card.name} breaks down at this text. Change it, or choose another model."
                    ) from error
                if not is_out_of_memory(error):
                    raise
            self._leases.drop_idle()  # after the except block: the traceback held the very tensors to be freed
            release_memory(self.device)
        raise OutOfMemory(
            f"The memory of {self.device} is too small for {card.name} and this text, even after other models were"
            f" unloaded. Shorten the text, or {self._advice(card)}."
        )

    def _refuse_if_too_large(self, card: ModelCard, weights_bytes: int) -> None:
        if weights_bytes > self._limit_bytes:
            raise OutOfMemory(
                f"{card.name} takes {format_bytes(weights_bytes)}, and models on {self.device} may take"
                f" {format_bytes(self._limit_bytes)} (EXPLORER_MEMORY_BUDGET_GIB): {self._advice(card)}."
            )

    def _advice(self, card: ModelCard) -> str:
        """Name a smaller model: of those that can do most of the same, the largest that fits."""
        own_bytes = expected_weights_bytes(card, self.device) or self._limit_bytes
        sizes = {other: expected_weights_bytes(other, self.device) or 0 for other in self._cards}
        smaller = [other for other in self._cards if 0 < sizes[other] < min(own_bytes, self._limit_bytes)]
        best = max(smaller, key=lambda other: (len(other.abilities & card.abilities), sizes[other]), default=None)
        if best is None or not best.abilities & card.abilities:
            return "choose a smaller model"
        return f"choose a smaller model, e.g. {best.name} ({format_bytes(sizes[best])})"


def _begin(analysis: Callable[[LoadedModel], Iterator[Result]], model: LoadedModel) -> tuple[Iterator[Result], Any]:
    steps = iter(analysis(model))
    return steps, next(steps, END)


def _watch(backend: ref[LocalBackend], stop: Event, every_seconds: float) -> None:
    """Unload idle models now and then, until the backend is gone."""
    while not stop.wait(min(every_seconds, MOST_SECONDS_BETWEEN_LOOKS)):
        if (here := backend()) is not None:
            here.unload_idle()
        del here
